// The story's pictures of the proof: R, gamma and u* in the plane; floor, ceiling and wall in a chart.
import { fill, surface, svg } from "../dom.js";
import { across, corners, cut, path, ticks } from "../geometry.js";
import { arrow, nameAt } from "../marks.js";
import { show } from "../numbers.js";

// The circle of R, the band of gamma and u*, for lines through the origin, where both are what they look like.
export function taleMeasures(at, box, { radius, gamma, direction: u }) {
  const [cx, cy] = at([0, 0]);
  const strip = cut(
    cut(corners(box), u, gamma),
    u.map((x) => -x),
    gamma,
  );
  const tip = at(u);
  const foot = [1.9 * u[1], -1.9 * u[0]]; // on the line, where no point is in the way
  const edge = [foot[0] + gamma * u[0], foot[1] + gamma * u[1]];
  const best = across(box, u, 0);
  const far = at([-radius * Math.SQRT1_2, -radius * Math.SQRT1_2]);
  return [
    svg("path", { class: "strip", d: path(strip.map(at), true) }),
    best && svg("path", { class: "best", d: path(best.map(at)) }),
    svg("circle", { class: "tale-reach", cx, cy, r: radius / box.unit }),
    arrow("tale-best", [cx, cy], tip),
    nameAt("tale-name good", tip, [cx, cy], "u*"),
    svg("path", { class: "tale-gamma", d: path([at(foot), at(edge)]) }),
    nameAt("tale-name good", at(edge), at(foot), "γ"),
    svg("text", { class: "tale-name", x: far[0] - 10, y: far[1] + 12 }, "R"),
  ];
}

// W as an arrow from the origin, shortened to fit.
export function taleWeights(at, w, reach) {
  const length = Math.hypot(...w);
  if (!length) return [];
  const scale = Math.min(1, reach / length);
  const tip = at(w.map((x) => x * scale));
  return [arrow("weights", at([0, 0]), tip), nameAt("weights-name", tip, at([0, 0]), "W")];
}

// `seen()` gives { bound, steps, k, floor, ceiling, wall }: which of the curves are drawn, and how far the run has come.
export function taleChart(seen) {
  let [width, height] = [0, 0];
  const node = surface({ class: "plot tale-chart", role: "img", "aria-label": "The proof as a chart" }, (...size) => {
    [width, height] = size;
    redraw();
  });
  function redraw() {
    if (width > 2) fill(node, ...chartParts(seen(), width, height));
  }
  return { node, redraw };
}

function chartParts({ bound, steps, k, floor, ceiling, wall }, width, height) {
  const pad = { left: 30, right: 12, top: 12, bottom: 24 };
  const most = wall ? bound.bound * 1.12 : steps.row.length + 4;
  const top = ceiling ? bound.radius * Math.sqrt(most) * 1.04 : bound.gamma * most * 1.4;
  const x = (value) => pad.left + ((width - pad.left - pad.right) * value) / most;
  const y = (value) => height - pad.bottom - ((height - pad.top - pad.bottom) * value) / top;
  const curve = (name, value) => {
    const spots = Array.from({ length: 61 }, (_, j) => [x((most * j) / 60), y(value((most * j) / 60))]);
    return svg("path", { class: `curve ${name}`, d: path(spots) });
  };
  const run = (name, values, words, dy) => {
    const spots = [0, ...values.slice(0, k)].map((value, j) => [x(j), y(value)]);
    const dots = spots.map(([cx, cy]) => svg("circle", { class: `${name} dot`, cx, cy, r: 3.5 }));
    const [ex, ey] = spots.at(-1);
    const named = svg("text", { class: `tale-name at-end ${name}`, x: ex + 9, y: ey + dy }, words);
    return [svg("path", { class: `${name} been`, d: path(spots) }), ...dots, k ? named : null];
  };
  const name = (words, value, part, dy) =>
    svg("text", { class: "tale-name of-curve", x: x(most * part), y: y(value(most * part)) + dy }, words);
  const [low, high] = [(n) => n * bound.gamma, (n) => Math.sqrt(n) * bound.radius];
  return [
    svg("path", { class: "tale-axes", d: `M${pad.left} ${pad.top}V${y(0)}H${width - pad.right}` }),
    svg("text", { class: "tick", x: width - 40, y: height - 7 }, "updates k"),
    ...ticks(0, most, width / 70)
      .filter((n) => x(n) < width - 85)
      .map((n) => svg("text", { class: "tick", x: x(n), y: height - 7 }, show(n))),
    ...ticks(0, top, 4)
      .slice(1)
      .map((n) => svg("text", { class: "tick right", x: pad.left - 5, y: y(n) + 4 }, show(n))),
    ...(ceiling ? [curve("high", high), name("√k·R", high, 0.62, -10), ...run("norm", steps.norm, "|W|", -5)] : []),
    ...(floor
      ? [
          curve("low", low),
          name("k·γ", low, wall ? 0.62 : 0.94, 20),
          ...run("along", steps.along, "W·u*", ceiling ? 13 : -6),
        ]
      : []),
    ...(wall ? wallParts(x(bound.bound), pad.top, y(0), bound.bound) : []),
  ].filter(Boolean);
}

function wallParts(x, top, bottom, bound) {
  const words = `(R/γ)² = ${Number(bound.toPrecision(4))}`;
  return [
    svg("path", { class: "wall", d: `M${x} ${top}V${bottom}` }),
    svg("text", { class: "wall-name", x: x - 7, y: bottom - 8 }, words),
  ];
}
