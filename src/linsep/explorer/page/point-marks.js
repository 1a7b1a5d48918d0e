// The points as marks: they are made once, and touched only where they have changed.
import { set, svg } from "./dom.js";
import { markShape } from "./marks.js";
import { show, signOf } from "./numbers.js";

const MANY = 120; // points: more are drawn small
const TABBED = 60; // points: of more, the Tab key stops at the first only; n leads on, Shift+N back
const REACH = 14; // pixels from a small point at which the pointer takes hold of it

export function pointMarks(plot) {
  const { app, layers } = plot;
  const marks = [];
  const drawnAs = new WeakMap();
  let [drawnSmall, drawnStops] = [false, -1];

  function draw() {
    const { points, labels } = app.state;
    const isSmall = points.length > MANY;
    if (isSmall !== drawnSmall) {
      while (marks.length) marks.pop().remove();
      [drawnSmall, drawnStops] = [isSmall, -1];
    }
    while (marks.length > points.length) marks.pop().remove();
    for (let i = marks.length; i < points.length; i += 1) {
      marks[i] = newMark(i, isSmall);
      layers.points.append(marks[i]);
    }
    const stops = points.length <= TABBED ? points.length : 1;
    if (drawnStops !== stops) for (const [i, mark] of marks.entries()) set(mark, { tabindex: i < stops ? 0 : -1 });
    drawnStops = stops;
    const isJudged = app.answer && app.state.k > 0;
    const field = app.field();
    for (let i = 0; i < points.length; i += 1)
      drawPoint(i, points[i], labels[i], isJudged && labels[i] * field(points[i]) <= 0);
  }

  // Of many points most stay as they were from one picture to the next: those are not touched.
  function drawPoint(i, point, label, isWrong) {
    const mark = marks[i];
    const [x, y] = plot.at(point);
    const was = drawnAs.get(mark) ?? {};
    if (was.x !== x || was.y !== y) mark.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    const isSame = was.point === point && was.label === label && was.isWrong === isWrong;
    drawnAs.set(mark, { x, y, point, label, isWrong });
    if (isSame) return;
    const [plus, isSmall] = [label > 0, mark.childElementCount === 1];
    set(mark, { class: `point ${plus ? "plus" : "minus"}${isWrong ? " wrong" : ""}${isSmall ? " small" : ""}` });
    const isFull = !isSmall || mark === document.activeElement;
    if (isFull || was.label !== label) nameMark(mark, drawnAs.get(mark), isFull);
    if (was.label === label) return;
    const r = isSmall ? 4.5 : 8;
    set(mark.querySelector(".shape"), { d: markShape(label, r) });
    if (!isSmall) set(mark.querySelector(".sign"), { d: plus ? "M-4 0H4M0 -4V4" : "M-4 0H4" });
  }

  // The point nearest to a place, if one is in reach: small points are hard to hit.
  function nearest(x, y) {
    const places = app.state.points.map(plot.at);
    const far = (i) => Math.hypot(places[i][0] - x, places[i][1] - y);
    const best = places.reduce((found, _, i) => (found === null || far(i) < far(found) ? i : found), null);
    return best !== null && far(best) <= REACH ? marks[best] : null;
  }

  const tell = (mark) => drawnAs.has(mark) && nameMark(mark, drawnAs.get(mark), true);
  return { marks, draw, nearest, tell };
}

function newMark(i, isSmall) {
  const shape = svg("path", { class: "shape" });
  const parts = isSmall ? [shape] : [svg("circle", { class: "reach", r: 17 }), shape, svg("path", { class: "sign" })];
  return svg("g", { "data-row": i, role: "button", tabindex: -1 }, ...parts);
}

// Of many points only the one in focus is told in full: naming hundreds anew takes longer than drawing them.
function nameMark(mark, { point, label, isWrong }, isFull) {
  const rest = `, at (${show(point[0])}, ${show(point[1])})${isWrong ? ", a mistake" : ""}`;
  set(mark, { "aria-label": `Row ${mark.dataset.row}, class ${signOf(label)}${isFull ? rest : ""}` });
}
