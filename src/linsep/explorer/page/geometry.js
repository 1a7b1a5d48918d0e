// The plane: boxes, half-planes cut out of them, hulls, and scales between data and pixels.

export function boxOf(view, width, height) {
  const unit = (2 * view.half) / Math.min(width, height);
  const [dx, dy] = [(unit * width) / 2, (unit * height) / 2];
  return { left: view.cx - dx, right: view.cx + dx, bottom: view.cy - dy, top: view.cy + dy, unit };
}

// What shows all points; for lines through the origin also their mirror images, which stand in the proofs.
export function viewOf(points, isCentred) {
  const all = isCentred || !points.length ? [...points, ...points.map(([x, y]) => [-x, -y]), [0, 0]] : points;
  const xs = all.map((p) => p[0]);
  const ys = all.map((p) => p[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const half = Math.max(right - left, top - bottom) / 2 || 1;
  return { cx: (left + right) / 2, cy: (bottom + top) / 2, half: half * 1.3 };
}

export function corners(box) {
  return [
    [box.left, box.bottom],
    [box.right, box.bottom],
    [box.right, box.top],
    [box.left, box.top],
  ];
}

// The part of a convex polygon with w·x + b >= 0.
export function cut(polygon, w, b) {
  const score = (p) => w[0] * p[0] + w[1] * p[1] + b;
  const kept = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [sp, sq] = [score(p), score(q)];
    if (sp >= 0) kept.push(p);
    if (sp * sq < 0) kept.push([p[0] + ((q[0] - p[0]) * sp) / (sp - sq), p[1] + ((q[1] - p[1]) * sp) / (sp - sq)]);
  });
  return kept;
}

// Where the line w·x + b = 0 crosses the box: two points, or null.
export function across(box, w, b) {
  if (!w[0] && !w[1]) return null;
  const length = Math.hypot(...w);
  const n = [w[0] / length, w[1] / length];
  const middle = [(box.left + box.right) / 2, (box.bottom + box.top) / 2];
  const off = n[0] * middle[0] + n[1] * middle[1] + b / length;
  const reach = Math.hypot(box.right - box.left, box.top - box.bottom);
  if (Math.abs(off) > reach / 2) return null;
  const foot = [middle[0] - off * n[0], middle[1] - off * n[1]];
  return [
    [foot[0] - n[1] * reach, foot[1] + n[0] * reach],
    [foot[0] + n[1] * reach, foot[1] - n[0] * reach],
  ];
}

// The convex hull, by Andrew's monotone chain.
export function hull(points) {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  if (sorted.length < 3) return sorted;
  const turn = (o, p, q) => (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
  const chain = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

// Points set by hand lie on multiples of a power of two, so that exact weights stay short.
export function snapStep(view) {
  return 2 ** Math.floor(Math.log2(view.half / 48));
}

export function snap(value, step) {
  return Math.round(value / step) * step;
}

export function path(points, closed = false) {
  return (
    points.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(2)} ${p[1].toFixed(2)}`).join("") +
    (closed && points.length ? "Z" : "")
  );
}
