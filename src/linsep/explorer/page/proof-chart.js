// The chart of the proof: floor and ceiling, the lens between them, the wall, and the run.
import { fill, fillOnce, svg } from "./dom.js";
import { path, ticks } from "./geometry.js";
import { show, showBound } from "./numbers.js";

// The four quantities after the current update; null where there is none.
export function proofNumbers(app) {
  const k = app.state.k;
  const bound = app.told?.bound;
  return {
    floor: bound ? k * bound.gamma : null,
    along: !bound ? null : k === 0 ? 0 : (app.steps.along?.[k - 1] ?? null),
    norm: k === 0 ? 0 : (app.steps.norm[k - 1] ?? 0),
    ceiling: Math.sqrt(k) * (app.answer?.radius ?? 0),
  };
}

// How far the axis of updates reaches: to the wall, or to the end of this run.
export function axisReach(app) {
  const { axes } = app.state;
  const bound = app.told?.bound;
  if (!bound || bound.bound === null) return "run";
  return axes === "auto" ? (bound.bound > 30 * Math.max(app.total, 1) ? "run" : "wall") : axes;
}

// Room around the chart: on the left for the longest number beside the axis.
function roomFor(tallest) {
  const longest = Math.max(...ticks(0, tallest, 4).map((v) => show(v).length));
  return { left: Math.max(38, 10 + 7 * longest), right: 12, top: 10, bottom: 24 };
}

export function drawChart({ app, layers, size }) {
  const { base, moving } = layers;
  const [width, height] = size;
  const [bound, { radius }] = [app.told?.bound, app.answer];
  const far = axisReach(app) === "wall" ? bound.bound * 1.08 : Math.max(app.reach, 1) * 1.08;
  const tallest = Math.sqrt(far) * radius * 1.06 || 1; // all rows may be 0
  const pad = roomFor(tallest);
  const x = (k) => pad.left + (k / far) * (width - pad.left - pad.right);
  const y = (v) => height - pad.bottom - (Math.max(v, 0) / tallest) * (height - pad.top - pad.bottom);
  const curve = (f, until) => Array.from({ length: 97 }, (_, i) => (until * i) / 96).map((k) => [x(k), y(f(k))]);
  const ceiling = (k) => Math.sqrt(k) * radius;
  const wall = bound && bound.bound !== null && bound.bound <= far ? bound.bound : null;
  const floorEnd = bound ? Math.min(far, wall ? wall * 1.06 : far) : 0;
  const lens = bound ? [...curve(ceiling, wall ?? far), ...curve((k) => k * bound.gamma, wall ?? far).reverse()] : [];
  const run = (values) => [[x(0), y(0)], ...values.map((v, i) => [x(i + 1), y(v)])];
  const toCome = (name, values) =>
    values && app.told ? svg("path", { class: `${name} to-come`, d: path(run(values)) }) : null;
  const been = (name, values) =>
    values && (bound || name === "norm")
      ? svg("path", { class: `${name} been`, d: path(run(values.slice(0, app.state.k))) })
      : null;
  const here = proofNumbers(app);
  const dot = (name) =>
    here[name] === null ? null : svg("circle", { class: `${name} dot`, cx: x(app.state.k), cy: y(here[name]), r: 3.6 });
  // What only the answer and the size decide; then what moves with the run.
  fillOnce(base, `${app.settled} ${Boolean(app.told)} ${axisReach(app)} ${app.reach} ${size}`, () => [
    ...ticks(0, far, Math.round(width / 90)).map((k) =>
      svg("text", { class: "tick", x: x(k), y: height - 7 }, show(k)),
    ),
    ...ticks(0, tallest, 4)
      .slice(1)
      .flatMap((v) => [
        svg("path", { class: "grid", d: `M${pad.left} ${y(v)}H${width - pad.right}` }),
        svg("text", { class: "tick right", x: pad.left - 6, y: y(v) + 4 }, show(v)),
      ]),
    svg("path", { class: "axis", d: `M${pad.left} ${y(0)}H${width - pad.right}` }),
    bound ? svg("path", { class: "lens", d: path(lens, true) }) : null,
    svg("path", { class: "ceiling curve", d: path(curve(ceiling, far)) }),
    bound ? svg("path", { class: "floor curve", d: path(curve((k) => k * bound.gamma, floorEnd)) }) : null,
    wall ? svg("path", { class: "wall", d: `M${x(wall)} ${pad.top}V${y(0)}` }) : null,
    wall ? svg("text", { class: "wall-name", x: x(wall) - 7, y: y(0) - 8 }, `(R/γ)² = ${show(wall)}`) : null,
    bound && !wall
      ? svg(
          "text",
          { class: "wall-name far", x: pad.left + 8, y: pad.top + 12 },
          `the wall stands at ${showBound(bound.bound)} →`,
        )
      : null,
    toCome("norm", app.steps.norm),
    toCome("along", app.steps.along),
  ]);
  fill(
    moving,
    svg("path", { class: "now", d: `M${x(app.state.k)} ${pad.top}V${y(0)}` }),
    been("norm", app.steps.norm),
    been("along", app.steps.along),
    dot("norm"),
    dot("along"),
  );
}
