// Four ways to keep what a run saw: the last weights, their average, their vote, the best. Side by side.

import { fill, html, svg } from "./dom.js";
import { keeps } from "./engine/keep.js";
import { across, boxOf, corners, cut, path } from "./geometry.js";
import { markShape } from "./marks.js";

const SIDE = 220;
const QUIET_BEFORE_KEEPING = 120; // milliseconds
const WORDS = { last: "the last weights", average: "their average", vote: "their vote", best: "the best seen" };

export function keepView(app) {
  const pictures = html("div", { class: "keeps" });
  const words = html("p", { class: "words" });
  let [drawn, waiting] = ["", 0];

  // Thousands of votes for each of thousands of cells: when the page has been still for a moment.
  function draw() {
    const { cx, cy, half } = app.state.view;
    const key = `${app.settled} ${[cx, cy, half]}`;
    if (!app.state.keep || !app.answer || key === drawn) return;
    drawn = key;
    clearTimeout(waiting);
    waiting = setTimeout(show, QUIET_BEFORE_KEEPING);
  }

  function show() {
    const { points, labels, order, view } = app.state;
    const box = boxOf(view, SIDE, SIDE);
    const found = keeps(app.state, [box.left, box.right, box.bottom, box.top]);
    const note =
      order === found.order ? "" : ` The order “${order}” has no such estimator: these walk in ${found.order} order.`;
    const straight = app.isLifted ? " Straight lines, without features or kernel." : "";
    fill(words, `After at most ${found.passes} passes over the rows.${note}${straight}`);
    fill(pictures, ...found.ways.map((way) => picture(way, box, points, labels)));
  }

  app.views.push(draw);
  return html("div", {}, pictures, words);
}

function picture(way, box, points, labels) {
  const at = (p) => [(p[0] - box.left) / box.unit, (box.top - p[1]) / box.unit];
  const side = (sign, name) => {
    const polygon = cut(
      corners(box),
      way.w.map((x) => x * sign),
      way.b * sign,
    );
    return polygon.length > 2 ? svg("path", { class: `side ${name}`, d: path(polygon.map(at), true) }) : null;
  };
  const line = across(box, way.w, way.b);
  const regions = way.grid
    ? cellsOf(way.grid)
    : [side(1, "plus"), side(-1, "minus"), line && svg("path", { class: "line", d: path(line.map(at)) })];
  const dots = points.map((p, i) =>
    svg("path", { class: `dot ${labels[i] > 0 ? "plus" : "minus"}`, d: markShape(labels[i], 3.6, at(p)) }),
  );
  return html(
    "figure",
    { "data-keep": way.keep },
    svg(
      "svg",
      { class: "plot mini", viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", "aria-label": WORDS[way.keep] },
      ...regions.filter(Boolean),
      ...dots,
    ),
    html(
      "figcaption",
      {},
      html("strong", {}, way.keep),
      ` ${WORDS[way.keep]}: `,
      html("output", { "data-wrong": String(way.wrong) }, `${way.wrong} of ${points.length} wrong`),
    ),
  );
}

// The grid of a vote, as runs of equal cells.
function cellsOf(grid) {
  const cells = Math.round(Math.sqrt(grid.length));
  const unit = SIDE / cells;
  const found = [];
  for (let y = 0; y < cells; y += 1) {
    for (let x = 0, start = 0; x < cells; x += 1) {
      const sign = grid[y * cells + x];
      if (x + 1 === cells || grid[y * cells + x + 1] !== sign) {
        found.push(
          svg("rect", {
            class: `side ${sign === "+" ? "plus" : "minus"}`,
            x: start * unit,
            y: SIDE - (y + 1) * unit,
            width: (x + 1 - start) * unit,
            height: unit,
            "shape-rendering": "crispEdges",
          }),
        );
        start = x + 1;
      }
    }
  }
  return found;
}
