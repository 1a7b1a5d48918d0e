// The lifted set: x1 and x2 on the floor, the feature as the height, and the plane that the weights are.
import { fill, plotOf, svg } from "./dom.js";
import { FEATURE_NAMES } from "./engine/features.js";
import { hull, path } from "./geometry.js";
import { markShape } from "./marks.js";

const TILT = 0.42; // how far one looks from above
const CUBE = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => [n & 1 ? 1 : -1, n & 2 ? 1 : -1, n & 4 ? 1 : -1]);
const CUBE_EDGES = [
  [0, 1],
  [2, 3],
  [4, 5],
  [6, 7],
  [0, 2],
  [1, 3],
  [4, 6],
  [5, 7],
  [0, 4],
  [1, 5],
  [2, 6],
  [3, 7],
];

const LIFTED_SPACE = {
  class: "plot lifted-space",
  role: "img",
  "aria-label": "The lifted set, and the plane of the weights",
};

export function liftedView(app) {
  let turn = 0.6;
  const plot = plotOf(app, LIFTED_SPACE, ["cube", "lifted"], draw);
  const { cube, lifted: things } = plot.layers;

  // Each axis scaled to -1..1, turned about the upright one, seen from a little above.
  function draw() {
    const { size } = plot;
    if (size[0] < 2 || !app.isLiftedOnce) return fill(things);
    const rows = app.state.points.map(app.lift);
    const ranges = [0, 1, 2].map((j) => [
      Math.min(...rows.map((row) => row[j])),
      Math.max(...rows.map((row) => row[j])),
    ]);
    const scaled = (row) => row.map((x, j) => ((x - ranges[j][0]) / (ranges[j][1] - ranges[j][0] || 1)) * 2 - 1);
    const unit = Math.min(...size) * 0.3;
    /** @type {(place: number[]) => number[]} */
    const at = ([x, y, z]) => {
      const [a, b] = [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)];
      return [size[0] / 2 + a * unit, size[1] / 2 - z * unit * 0.85 - b * unit * TILT];
    };
    const name = (words, place) => svg("text", { class: "tick", x: at(place)[0], y: at(place)[1] + 14 }, words);
    fill(
      cube,
      ...CUBE_EDGES.map(([p, q]) => svg("path", { class: "grid", d: path([at(CUBE[p]), at(CUBE[q])]) })),
      name("x₁", [0, -1, -1]),
      name("x₂", [1, 0, -1]),
      name(FEATURE_NAMES[app.state.features[0]], [-1, -1, 1.6]),
    );
    const plane = cutCube((corner) =>
      app.heightOf(corner.map((x, j) => ((x + 1) / 2) * (ranges[j][1] - ranges[j][0] || 1) + ranges[j][0])),
    );
    const marks = rows.map((row, i) => [at(scaled(row)), at([...scaled(row).slice(0, 2), -1]), app.state.labels[i]]);
    return fill(
      things,
      plane.length > 2 ? svg("path", { class: "plane", d: path(hull(plane.map(at)), true) }) : null,
      ...marks.map(([place, foot]) => svg("path", { class: "grid", d: path([place, foot]) })),
      ...marks.map(([place, , label]) =>
        svg("path", { class: `dot ${label > 0 ? "plus" : "minus"}`, d: markShape(label, 5, place) }),
      ),
    );
  }

  turnByPointer(plot.node, {
    get: () => turn,
    set(angle) {
      turn = angle;
      draw();
    },
  });
  app.views.push(draw);
  return plot.node;
}

function turnByPointer(node, turn) {
  let drag = null;
  node.addEventListener("pointerdown", (event) => {
    drag = [event.clientX, turn.get()];
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (drag) turn.set(drag[1] + (event.clientX - drag[0]) / 120);
  });
  node.addEventListener("pointerup", () => {
    drag = null;
  });
}

// Where a plane cuts the edges of the cube.
function cutCube(height) {
  const heights = CUBE.map(height);
  return CUBE_EDGES.filter(([p, q]) => heights[p] > 0 !== heights[q] > 0).map(([p, q]) => {
    const part = heights[p] / (heights[p] - heights[q]);
    return CUBE[p].map((x, j) => x + (CUBE[q][j] - x) * part);
  });
}
