// The data space: points, the current line with its two sides, the row just corrected, and what forbids a line.
import { drawBoundary } from "./boundary.js";
import { fill, plotOf, svg } from "./dom.js";
import { editByKeys, editByPointer } from "./editing.js";
import { boxOf, snap, snapStep } from "./geometry.js";
import { drawGrid } from "./marks.js";
import { drawObstruction } from "./obstruction-view.js";
import { pointMarks } from "./point-marks.js";
import { drawRowNumbers } from "./row-numbers.js";

const LAYERS = ["sides", "grid", "band", "hulls", "lines", "arrows", "points", "proof", "numbers", "cursor"];
const ABOUT = {
  class: "plot data-space",
  tabindex: 0,
  role: "application",
  "aria-label": "Data space. Arrow keys move the cursor, Enter adds a point, Tab goes to the points.",
};

export function dataView(app) {
  let cursor = null;
  const plot = plotOf(app, ABOUT, LAYERS, draw);
  const { node, layers } = plot;
  const points = pointMarks(plot);

  function draw() {
    if (plot.size[0] < 2 || app.isWide) return;
    plot.box = boxOf(app.state.view, ...plot.size);
    drawGrid(layers.grid, plot.box, plot.at, plot.size);
    const named = drawBoundary(plot);
    points.draw();
    drawRowNumbers(plot, [...named, ...drawObstruction(layers, app, plot.at)]);
    drawCursor();
  }

  function drawCursor() {
    if (!cursor || document.activeElement !== node) return fill(layers.cursor);
    const [x, y] = plot.at(cursor);
    return fill(layers.cursor, svg("path", { d: `M${x - 12} ${y}h24M${x} ${y - 12}v24` }));
  }

  app.pointAt = (row) => points.marks[row]?.focus();
  const snapped = (p) => p.map((x) => snap(x, snapStep(app.state.view)));
  editByPointer(app, node, (x, y) => snapped(plot.from(x, y)), points.nearest);
  editByKeys(app, node, points.marks, {
    get: () => cursor,
    move: (place) => {
      cursor = place;
    },
  });
  node.addEventListener("focusin", (event) => {
    points.tell(event.target.closest(".point"));
    app.redraw();
  });
  node.addEventListener("focusout", () => app.redraw());
  app.views.push(draw);
  return node;
}
