// The picture of wide rows: their marks, the hyperplane seen from its side, and rings around the rows that matter.
import { fill, fillOnce, svg } from "./dom.js";
import { drawGrid, markShape } from "./marks.js";
import { plural } from "./numbers.js";

const UNSEEN = 2; // pixels from the line to the middle of a mark

// Draws what was seen. `rows` are the marks: which of them is shown, and what tells of one.
export function drawTable(plot, seen, pictures, rows) {
  const { layers, size } = plot;
  const box = boxAround(seen, size);
  const at = ([x, y]) => [
    ((x - box.left) / (box.right - box.left)) * size[0],
    ((box.top - y) / (box.top - box.bottom)) * size[1],
  ];
  Object.assign(plot, { box, at, seen });
  drawGrid(layers.grid, box, at, size);
  drawSplit(plot);
  const focused = layers.rows.contains(document.activeElement) ? rows.shown : null;
  fillOnce(layers.rows, `${pictures} ${size}`, () => seen.rows.map((_, i) => markOfRow(plot, i, rows)));
  if (focused !== null && !layers.rows.contains(document.activeElement)) rows.markOf(focused)?.focus();
  drawRings(plot);
}

function drawRings({ app, layers, at, seen }) {
  const place = new Map(seen.rows.map((row, i) => [row, i]));
  const ring = (name) => (row) => {
    const [cx, cy] = at([seen.x[place.get(row)], seen.y[place.get(row)]]);
    return svg("circle", { class: name, cx, cy, r: 11, "data-row": row });
  };
  const current = app.corrected();
  fill(
    layers.named,
    ...seen.support.map(ring("support")),
    ...seen.obstruction.map(ring("obstructing")),
    place.has(current) ? ring("halo current")(current) : null,
    place.has(app.litRow) ? ring("pointed-out")(app.litRow) : null,
  );
}

// What is seen, in words.
export function wordsAbout(plot) {
  const { app, seen } = plot;
  const left = seen.left_out
    ? ` ${plural(seen.left_out, "row")} of ${app.own.rows.toLocaleString("en-US")} are not drawn.`
    : "";
  const rings = seen.obstruction.length
    ? "Rings: the rows of the obstruction."
    : seen.support.length
      ? "Rings: the rows nearest to the hyperplane."
      : "";
  const dashed = seen.rows.includes(app.corrected()) ? " Dashed ring: the row just corrected." : "";
  const mistakes = seen.side.mistakes ? `${seen.side.mistakes} ` : "";
  return `${seen.columns ? "" : `Looking across ${seen.side.what}. ${mistakes}${nearWords(plot)}`}${rings}${dashed}${left}`;
}

// Of rows whose marks lie on the line.
function nearWords({ at, seen }) {
  const across = (x) => at([x, 0])[0];
  const count = seen.x.filter((x) => Math.abs(across(x) - across(0)) < UNSEEN).length;
  if (!count || count === seen.x.length) return "";
  return `${plural(count, "row")} ${count === 1 ? "is" : "are"} too near to it for the picture to show the side. `;
}

// The hyperplane seen from its side: a line at 0, its two halves, and the band of its margin.
function drawSplit({ layers, size, box, at, seen }) {
  if (seen.columns) return fill(layers.band);
  const edge = (x) => Math.max(0, Math.min(size[0], at([x, 0])[0]));
  const slab = (name, from, to) =>
    svg("rect", { class: name, x: edge(from), width: Math.max(0, edge(to) - edge(from)), y: 0, height: size[1] });
  const { margin } = seen.side;
  return fill(
    layers.band,
    slab("side minus", box.left, 0),
    slab("side plus", 0, box.right),
    margin ? slab("strip", -margin, margin) : null,
    svg("path", { class: "line", d: `M${edge(0)} 0V${size[1]}` }),
  );
}

function markOfRow({ app, at, seen }, i, { shown, tell }) {
  const row = seen.rows[i];
  const [x, y] = at([seen.x[i], seen.y[i]]);
  const plus = seen.signs[i] > 0;
  const r = seen.rows.length <= 200 ? 5 : 3;
  const shape = svg("path", { class: `dot ${plus ? "plus" : "minus"}`, d: markShape(seen.signs[i], r, [x, y]) });
  return svg(
    "g",
    {
      class: "own-row",
      "data-row": row,
      tabindex: row === (shown ?? seen.rows[0]) ? 0 : -1,
      role: "button",
      "aria-label": `Row ${row}, ${app.own.labels[plus ? 1 : 0]}`,
      onpointerenter: () => tell(row),
      onfocus: () => tell(row),
    },
    svg("circle", { class: "reach", cx: x, cy: y, r: 9 }),
    shape,
  );
}

export function nearestThatWay({ seen, at }, here, [dx, dy]) {
  const placeOf = (i) => at([seen.x[i], seen.y[i]]);
  const [x, y] = placeOf(here);
  let best = [Infinity, null];
  seen.rows.forEach((_, i) => {
    const [px, py] = placeOf(i);
    const [ahead, aside] = [(px - x) * dx + (py - y) * dy, Math.abs((px - x) * dy + (py - y) * dx)];
    const cost = ahead + 2.5 * aside;
    if (i !== here && (ahead > 0 || (ahead === 0 && aside === 0 && i > here)) && cost < best[0]) best = [cost, i];
  });
  return best[1];
}

/**
 * @param {any} seen
 * @param {number[]} size
 */
function boxAround(seen, [width, height]) {
  const range = (values, withZero, pixels) => {
    const [low, high] = [Math.min(...values, ...(withZero ? [0] : [])), Math.max(...values, ...(withZero ? [0] : []))];
    const pad = ((high - low || 1) * 34) / Math.max(pixels - 68, 60);
    return [low - pad, high + pad];
  };
  const [left, right] = range(seen.x, !seen.columns, width);
  const [bottom, top] = range(seen.y, false, height);
  return { left, right, bottom, top };
}
