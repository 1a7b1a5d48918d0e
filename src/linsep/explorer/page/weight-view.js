// The weight space, for lines through the origin: a row allows one half of it, all rows together a cone.

import { fill, plotOf, svg } from "./dom.js";
import { boxOf, corners, cut, path } from "./geometry.js";
import { arrow, drawGrid } from "./marks.js";

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
    const half = 1.25 * Math.max(...visited.flat().map(Math.abs), 1e-9);
    plot.box = boxOf({ cx: 0, cy: 0, half }, ...plot.size);
    const signed = app.state.points.map((p, i) => [p[0] * app.state.labels[i], p[1] * app.state.labels[i]]);
    drawGrid(plot.layers.grid, plot.box, plot.at, plot.size);
    drawCone(plot, signed);
    (signed.length > SINGLY ? drawManyRows : drawRows)(plot, signed);
    drawPath(plot, visited.map(plot.at));
  }

  app.views.push(draw);
  return plot.node;
}

function drawCone({ app, layers, size, box, at }, signed) {
  const isCone = app.told?.verdict.kind === "separable";
  const cone = isCone ? signed.reduce((polygon, z) => cut(polygon, z, 0), corners(box)).map(at) : [];
  if (cone.length < 3) {
    const none =
      isCone || !app.told ? null : svg("text", { class: "cone-name none", x: 82, y: 20 }, "no w is right for all rows");
    return fill(layers.cone, none);
  }
  const [x, y] = [0, 1].map((j) => cone.reduce((sum, p) => sum + p[j], 0) / cone.length);
  return fill(
    layers.cone,
    svg("path", { class: "feasible", d: path(cone, true) }),
    svg("text", { class: "cone-name", x: Math.min(x, size[0] - 52), y }, "right for all"),
  );
}

// Rows with the same line and the same side are one mark with all their numbers.
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
  fill(
    layers.rows,
    forbidden(plot, signed[now]),
    ...[...groups.values()].map((rows) => rowLine(plot, rows, isNumbered)),
  );
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
}

// The half that the row just corrected forbids.
function forbidden({ box, at }, z) {
  if (!z) return null;
  const half = cut(corners(box), [-z[0], -z[1]], 0);
  return svg("path", { class: "forbidden", d: path(half.map(at), true) });
}

function rowLine({ app, size, at }, rows, isNumbered) {
  const now = app.corrected();
  const [nx, ny] = rows[0].normal;
  const side = app.state.labels[rows[0].i] > 0 ? "plus" : "minus";
  const isNow = rows.some(({ i }) => i === now);
  const [cx, cy] = at([0, 0]);
  const far = Math.min(size[0] / 2 / Math.max(Math.abs(ny), 1e-9), size[1] / 2 / Math.max(Math.abs(nx), 1e-9));
  // Along the line on the screen, where y points down: (-ny, -nx). Its allowed side: (nx, -ny).
  const on = (t, off = 0) => [cx - ny * t + nx * off, cy - nx * t - ny * off];
  const teeth = [-0.93, -0.8, -0.67, 0.67, 0.8, 0.93]
    .map((part) => path([on(part * far), on(part * far, TOOTH)]))
    .join("");
  const [x, y] = on(far - 22, 15);
  const numbers = rows.map(({ i }) => i).join(", ");
  return svg(
    "g",
    { "data-rows": numbers },
    svg("path", {
      class: `constraint ${side}${isNow ? " current" : ""}`,
      d: path([on(-2 * far), on(2 * far)]),
    }),
    svg("path", { class: `tooth ${side}`, d: teeth }),
    isNumbered ? svg("text", { class: "allows", x, y }, numbers) : null,
  );
}

function drawPath({ app, layers }, visited) {
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
    svg("text", { class: "weights-name", x: cx + 12, y: cy - 8 }, "w"),
  );
}
