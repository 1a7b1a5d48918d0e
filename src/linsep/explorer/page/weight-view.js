// The weight space, for lines through the origin: a row allows one half of it, all rows together a cone.

import { fill, plotOf, svg } from "./dom.js";
import { boxOf, corners, cut, path } from "./geometry.js";
import { overlap, textBox } from "./label-places.js";
import { arrow, drawGrid } from "./marks.js";

const CONE_NAME = "right for all";
const CONE_PLACES = [1, 0.75, 1.2, 0.5]; // from the origin to the middle of the cone
const LETTER = 7; // pixels: of a row's number
const W_PLACES = [
  [12, -8],
  [12, 18],
  [-12, -8],
  [-12, 18],
  [0, -20],
]; // the name of w, from its dot
const NUMBERED = 14; // rows: more have no room for their numbers
const SINGLY = 60; // rows: more are drawn without teeth, all at once
const TOOTH = 6; // pixels: the teeth of a line point to the side that its row allows
const WEIGHT_SPACE = {
  class: "plot weight-space",
  role: "img",
  "aria-label": "Weight space: each row allows one half-plane, the path of w enters the cone they share.",
};

export function weightView(app) {
  const plot = plotOf(app, WEIGHT_SPACE, ["cone", "grid", "rows", "path", "now"], draw);

  function draw() {
    if (plot.size[0] < 2 || app.state.bias || !app.answer || app.isWide || app.isLifted) return;
    const visited = [[0, 0], ...app.steps.w.slice(0, app.reach)];
    const half = 1.25 * Math.max(...visited.flat().map(Math.abs)) || 1; // w may stay 0
    plot.box = boxOf({ cx: 0, cy: 0, half }, ...plot.size);
    const signed = app.state.points.map((p, i) => [p[0] * app.state.labels[i], p[1] * app.state.labels[i]]);
    drawGrid(plot.layers.grid, plot.box, plot.at, plot.size);
    const numbers = (signed.length > SINGLY ? drawManyRows : drawRows)(plot, signed);
    drawCone(plot, signed, numbers);
    drawPath(plot, visited.map(plot.at), numbers);
  }

  app.views.push(draw);
  return plot.node;
}

function drawCone({ app, layers, size, box, at }, signed, numbers) {
  const isCone = app.told?.verdict.kind === "separable";
  const cone = isCone ? signed.reduce((polygon, z) => cut(polygon, z, 0), corners(box)).map(at) : [];
  if (cone.length < 3) return fill(layers.cone);
  const [x, y] = [0, 1].map((j) => cone.reduce((sum, p) => sum + p[j], 0) / cone.length);
  const [ox, oy] = at([0, 0]);
  const places = CONE_PLACES.map((part) => ({
    x: Math.min(ox + part * (x - ox), size[0] - 52),
    y: oy + part * (y - oy),
  }));
  const isFree = (place) => !numbers.some((number) => overlap(number, textBox(place, CONE_NAME, LETTER)));
  return fill(
    layers.cone,
    svg("path", { class: "feasible", d: path(cone, true) }),
    svg("text", { class: "cone-name", ...(places.find(isFree) ?? places[0]) }, CONE_NAME),
  );
}

// Rows with the same line and the same side are one mark with all their numbers. The boxes of these are returned.
function drawRows(plot, signed) {
  const { app, layers } = plot;
  const now = app.corrected();
  const groups = new Map();
  signed.forEach((z, i) => {
    const length = Math.hypot(...z);
    if (!length) return;
    const normal = [z[0] / length, z[1] / length];
    const key = normal.map((x) => x.toFixed(9)).join(" ");
    groups.set(key, [...(groups.get(key) ?? []), { i, normal }]);
  });
  const isNumbered = signed.length <= NUMBERED;
  const all = [...groups.values()];
  fill(layers.rows, forbidden(plot, signed[now]), ...all.map((rows) => rowLine(plot, rows, isNumbered)));
  return isNumbered ? all.map((rows) => textBox(numbersOf(plot, rows), numbersOf(plot, rows).words, LETTER)) : [];
}

// Of many rows the lines alone, as one mark for each class.
function drawManyRows(plot, signed) {
  const { app, layers, size, at } = plot;
  const now = app.corrected();
  const far = Math.hypot(...size);
  const [cx, cy] = at([0, 0]);
  const lines = (label) =>
    signed
      .filter(([x, y], i) => app.state.labels[i] === label && (x || y))
      .map(([x, y]) => [x / Math.hypot(x, y), y / Math.hypot(x, y)])
      .map(
        ([x, y]) =>
          `M${(cx - y * far).toFixed(1)} ${(cy - x * far).toFixed(1)}L${(cx + y * far).toFixed(1)} ${(cy + x * far).toFixed(1)}`,
      );
  fill(
    layers.rows,
    forbidden(plot, signed[now]),
    svg("path", { class: "constraint many plus", d: lines(1).join("") }),
    svg("path", { class: "constraint many minus", d: lines(-1).join("") }),
  );
  return [];
}

// The half that the row just corrected forbids.
function forbidden({ box, at }, z) {
  if (!z) return null;
  const half = cut(corners(box), [-z[0], -z[1]], 0);
  return svg("path", { class: "forbidden", d: path(half.map(at), true) });
}

// How far a row's line reaches in the plot, and what is at a place of it. Along the line on the screen, where y points
// down: (-ny, -nx). Its allowed side: (nx, -ny).
function along({ size, at }, [nx, ny]) {
  const [cx, cy] = at([0, 0]);
  const far = Math.min(size[0] / 2 / Math.max(Math.abs(ny), 1e-9), size[1] / 2 / Math.max(Math.abs(nx), 1e-9));
  return { far, on: (t, off = 0) => [cx - ny * t + nx * off, cy - nx * t - ny * off] };
}

// The numbers of rows, and where they stand: within the plot.
function numbersOf(plot, rows) {
  const { far, on } = along(plot, rows[0].normal);
  const words = rows.map(({ i }) => i).join(", ");
  const [x, y] = on(far - 22, 15);
  const [width, height] = plot.size;
  const half = (LETTER * words.length) / 2 + 4;
  return { words, x: Math.max(half, Math.min(x, width - half)), y: Math.max(12, Math.min(y, height - 12)) };
}

function rowLine(plot, rows, isNumbered) {
  const { app } = plot;
  const now = app.corrected();
  const side = app.state.labels[rows[0].i] > 0 ? "plus" : "minus";
  const isNow = rows.some(({ i }) => i === now);
  const { far, on } = along(plot, rows[0].normal);
  const teeth = [-0.93, -0.8, -0.67, 0.67, 0.8, 0.93]
    .map((part) => path([on(part * far), on(part * far, TOOTH)]))
    .join("");
  const { words, x, y } = numbersOf(plot, rows);
  return svg(
    "g",
    { "data-rows": words },
    svg("path", {
      class: `constraint ${side}${isNow ? " current" : ""}`,
      d: path([on(-2 * far), on(2 * far)]),
    }),
    svg("path", { class: `tooth ${side}`, d: teeth }),
    isNumbered ? svg("text", { class: "allows", x, y }, words) : null,
  );
}

function drawPath({ app, layers }, visited, numbers) {
  const upTo = visited.slice(0, app.state.k + 1);
  fill(
    layers.path,
    app.told ? svg("path", { class: "to-come", d: path(visited) }) : null,
    svg("path", { class: "been", d: path(upTo) }),
    ...(upTo.length <= 80 ? upTo.map(([cx, cy]) => svg("circle", { class: "stop", cx, cy, r: 2.6 })) : []),
  );
  const now = app.corrected();
  const [cx, cy] = upTo.at(-1);
  const name = now !== null && app.state.labels[now] > 0 ? "plus" : "minus";
  fill(
    layers.now,
    now === null ? null : arrow(`update ${name}`, upTo.at(-2), [cx, cy]),
    svg("circle", { class: "here", cx, cy, r: 5.5 }),
    svg("text", { class: "weights-name", ...besideW([cx, cy], numbers) }, "w"),
  );
}

// Where the name of w stands: on no row's number.
function besideW([cx, cy], numbers) {
  const places = W_PLACES.map(([dx, dy]) => ({ x: cx + dx, y: cy + dy }));
  return places.find((place) => !numbers.some((box) => overlap(box, textBox(place, "w", 12)))) ?? places[0];
}
