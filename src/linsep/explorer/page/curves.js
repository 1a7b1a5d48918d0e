// The sides of a curve f = 0 in a box: of the fields that features and kernels make of the plane.

// f at the corners of a grid of square cells, `wanted` of them along the longer side.
function sampled(field, box, wanted) {
  const [width, height] = [box.right - box.left, box.top - box.bottom];
  const unit = Math.max(width, height) / wanted;
  const [columns, rows] = [Math.ceil(width / unit), Math.ceil(height / unit)];
  const at = (i, j) => [box.left + i * unit, box.bottom + j * unit];
  const values = Array.from({ length: rows + 1 }, (_, j) =>
    Float64Array.from({ length: columns + 1 }, (__, i) => field(at(i, j))),
  );
  return { columns, rows, at, values };
}

// Where f changes its sign between two corners.
function zeroBetween([p, fp], [q, fq]) {
  const part = fp === fq ? 0.5 : fp / (fp - fq);
  return [p[0] + (q[0] - p[0]) * part, p[1] + (q[1] - p[1]) * part];
}

/**
 * @typedef {[number[], number]} Corner  a place, and f there
 */

// The part of a cell where sign·f >= 0, and where the curve crosses it.
function clipped(corners, sign) {
  const [kept, crossings] = [[], []];
  for (const [k, corner] of corners.entries()) {
    const next = corners[(k + 1) % corners.length];
    if (sign * corner[1] >= 0) kept.push(corner[0]);
    if (corner[1] < 0 !== next[1] < 0) {
      const place = zeroBetween(corner, next);
      kept.push(place);
      crossings.push(place);
    }
  }
  return { kept, crossings };
}

// Polygons of both sides and pieces of the curve; cells of one sign are joined along their line.
export function sidesOf(field, box, wanted) {
  const { columns, rows, at, values } = sampled(field, box, wanted);
  const found = { plus: [], minus: [], curve: [] };
  const add = (j, from, to, isPlus) =>
    found[isPlus ? "plus" : "minus"].push([at(from, j), at(to, j), at(to, j + 1), at(from, j + 1)]);
  for (let j = 0; j < rows; j += 1) {
    let [from, kind] = [0, null];
    for (let i = 0; i <= columns; i += 1) {
      const places = [
        [i, j],
        [i + 1, j],
        [i + 1, j + 1],
        [i, j + 1],
      ];
      /** @type {Corner[]} */
      const corners = i < columns ? places.map(([a, b]) => [at(a, b), values[b][a]]) : [];
      const pluses = corners.filter((corner) => corner[1] >= 0).length;
      const now = i === columns ? "end" : pluses === 4 ? "plus" : pluses === 0 ? "minus" : `mixed ${i}`;
      if (now === kind) continue;
      if (kind === "plus" || kind === "minus") add(j, from, i, kind === "plus");
      [from, kind] = [i, now];
      if (now.startsWith("mixed")) {
        const { kept, crossings } = clipped(corners, 1);
        found.plus.push(kept);
        found.minus.push(clipped(corners, -1).kept);
        for (let k = 0; k + 1 < crossings.length; k += 2) found.curve.push([crossings[k], crossings[k + 1]]);
      }
    }
  }
  return found;
}
