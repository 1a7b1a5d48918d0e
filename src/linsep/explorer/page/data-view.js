// The data space: points, the current line with its two sides, the row just corrected, and what forbids a line.

import { sidesOf } from "./curves.js";
import { fill, set, surface, svg } from "./dom.js";
import { editByKeys, editByPointer } from "./editing.js";
import { across, boxOf, corners, cut, path, snap, snapStep } from "./geometry.js";
import { arrow, drawGrid, nameAt } from "./marks.js";
import { show, signOf } from "./numbers.js";
import { drawObstruction } from "./obstruction-view.js";

const [FINE, COARSE] = [90, 48]; // cells along the longer side of a curved boundary; a kernel's take longer
const MANY = 120; // points: more are drawn small
const TABBED = 60; // points: of more, the Tab key stops at the first only; n and p lead on
const REACH = 14; // pixels from a small point at which the pointer takes hold of it

export function dataView(app) {
  const layers = Object.fromEntries(
    ["sides", "grid", "band", "hulls", "lines", "arrows", "points", "proof", "cursor"].map((name) => [
      name,
      svg("g", { class: name }),
    ]),
  );
  const node = surface(
    {
      class: "plot data-space",
      tabindex: 0,
      role: "application",
      "aria-label": "Data space. Arrow keys move the cursor, Enter adds a point, Tab goes to the points.",
    },
    (width, height) => {
      size = [width, height];
      draw();
    },
  );
  node.append(...Object.values(layers));
  let size = [0, 0];
  let box = null;
  let cursor = null;
  const marks = [];
  let [drawnSmall, drawnStops] = [false, -1];
  const drawnAs = new WeakMap();

  const at = (p) => [(p[0] - box.left) / box.unit, (box.top - p[1]) / box.unit];
  const from = (x, y) => [box.left + x * box.unit, box.top - y * box.unit];
  const snapped = (p) => p.map((x) => snap(x, snapStep(app.state.view)));

  function draw() {
    if (size[0] < 2 || app.isWide) return;
    box = boxOf(app.state.view, ...size);
    const { w, b } = app.weights();
    if (app.isLifted) drawCurve();
    else drawSides(w, b);
    drawGrid(layers.grid, box, at, size);
    drawBand();
    if (!app.isLifted) drawLines(w, b);
    drawArrows(w, b);
    drawPoints();
    drawObstruction(layers, app, at);
    drawCursor();
  }

  function drawSides(w, b) {
    const side = (sign, name) => {
      const polygon = cut(corners(box), [sign * w[0], sign * w[1]], sign * b);
      return polygon.length > 2 ? svg("path", { class: `side ${name}`, d: path(polygon.map(at), true) }) : null;
    };
    fill(layers.sides, ...(w[0] || w[1] || b ? [side(1, "plus"), side(-1, "minus")] : []));
  }

  // With features or a kernel the boundary is curved.
  function drawCurve() {
    if (!app.state.k) return fill(layers.sides) && fill(layers.lines);
    const { plus, minus, curve } = sidesOf(app.field(), box, app.state.kernel ? COARSE : FINE);
    const side = (name, polygons) =>
      svg("path", { class: `side ${name}`, d: polygons.map((p) => path(p.map(at), true)).join("") });
    fill(layers.sides, side("plus", plus), side("minus", minus));
    return fill(layers.lines, svg("path", { class: "line", d: curve.map((piece) => path(piece.map(at))).join("") }));
  }

  function drawLines(w, b) {
    const before = app.weights(app.state.k - 1);
    const ghost = app.state.k > 1 ? across(box, before.w, before.b) : null;
    const line = across(box, w, b);
    const weak = app.answer?.weak ? across(box, app.answer.weak.w, app.answer.weak.b) : null;
    fill(
      layers.lines,
      weak && svg("path", { class: "weak", d: path(weak.map(at)) }),
      ghost && svg("path", { class: "ghost", d: path(ghost.map(at)) }),
      line && svg("path", { class: "line", d: path(line.map(at)) }),
    );
  }

  function drawBand() {
    const best = app.state.band && !app.isLifted ? app.answer?.widest : null;
    if (!best) return fill(layers.band);
    let strip = cut(corners(box), best.w, best.b + best.margin);
    strip = cut(
      strip,
      best.w.map((x) => -x),
      best.margin - best.b,
    );
    const middle = across(box, best.w, best.b);
    const rings = best.rows
      .filter((i) => app.state.points[i])
      .map((i) => {
        const [cx, cy] = at(app.state.points[i]);
        return svg("circle", { class: "support", cx, cy, r: 13 });
      });
    return fill(
      layers.band,
      svg("path", { class: "strip", d: path(strip.map(at), true) }),
      middle && svg("path", { class: "best", d: path(middle.map(at)) }),
      ...rings,
    );
  }

  // w stands on the line, orthogonal to it; the update is what was added to the w before.
  function drawArrows(w, b) {
    const length = Math.hypot(...w);
    const row = app.corrected();
    const point = row === null ? null : app.state.points[row];
    if (!point) return fill(layers.arrows);
    const label = app.state.labels[row];
    const before = app.weights(app.state.k - 1);
    const foot = anchor(w, b, length);
    const longest = Math.max(length, Math.hypot(...before.w), Math.hypot(...point), 1e-300);
    const scale = Math.min(1, (app.state.view.half * 0.62) / longest);
    const tip = (v) => at([foot[0] + v[0] * scale, foot[1] + v[1] * scale]);
    const name = label > 0 ? "plus" : "minus";
    const [cx, cy] = at(point);
    const halo = svg("circle", { class: `halo ${name}`, cx, cy, r: 17 });
    if (app.isLifted) return fill(layers.arrows, halo);
    return fill(
      layers.arrows,
      halo,
      arrow("before", at(foot), tip(before.w)),
      arrow(`update ${name}`, tip(before.w), tip(w)),
      arrow("weights", at(foot), tip(w)),
      length ? nameAt("weights-name", tip(w), at(foot), "w") : null,
    );
  }

  function anchor(w, b, length) {
    if (!app.state.bias || !length) return app.state.bias ? [app.state.view.cx, app.state.view.cy] : [0, 0];
    const { cx, cy } = app.state.view;
    const off = (w[0] * cx + w[1] * cy + b) / length;
    return [cx - (off * w[0]) / length, cy - (off * w[1]) / length];
  }

  function drawPoints() {
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

  function newMark(i, isSmall) {
    const shape = svg("path", { class: "shape" });
    const parts = isSmall ? [shape] : [svg("circle", { class: "reach", r: 17 }), shape, svg("path", { class: "sign" })];
    return svg("g", { "data-row": i, role: "button", tabindex: -1 }, ...parts);
  }

  // Of many points most stay as they were from one picture to the next: those are not touched.
  function drawPoint(i, point, label, isWrong) {
    const mark = marks[i];
    const [x, y] = at(point);
    const was = drawnAs.get(mark) ?? {};
    if (was.x !== x || was.y !== y) mark.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    const isSame = was.point === point && was.label === label && was.isWrong === isWrong;
    drawnAs.set(mark, { x, y, point, label, isWrong });
    if (isSame) return;
    const [plus, isSmall] = [label > 0, mark.childElementCount === 1];
    set(mark, { class: `point ${plus ? "plus" : "minus"}${isWrong ? " wrong" : ""}${isSmall ? " small" : ""}` });
    const isFull = !isSmall || mark === document.activeElement;
    if (isFull || was.label !== label) nameMark(mark, isFull);
    if (was.label === label) return;
    const r = isSmall ? 4.5 : 8;
    const disc = `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    const square = `M${-r + 1} ${-r + 1}h${2 * r - 2}v${2 * r - 2}h${2 - 2 * r}Z`;
    set(mark.querySelector(".shape"), { d: plus ? disc : square });
    if (!isSmall) set(mark.querySelector(".sign"), { d: plus ? "M-4 0H4M0 -4V4" : "M-4 0H4" });
  }

  // Of many points only the one in focus is told in full: naming hundreds anew takes longer than drawing them.
  function nameMark(mark, isFull) {
    const { point, label, isWrong } = drawnAs.get(mark);
    const rest = `, at (${show(point[0])}, ${show(point[1])})${isWrong ? ", a mistake" : ""}`;
    set(mark, { "aria-label": `Row ${mark.dataset.row}, class ${signOf(label)}${isFull ? rest : ""}` });
  }

  // The point nearest to a place, if one is in reach: small points are hard to hit.
  function nearest(x, y) {
    const places = app.state.points.map((point) => at(point));
    const far = (i) => Math.hypot(places[i][0] - x, places[i][1] - y);
    const best = places.reduce((found, _, i) => (found === null || far(i) < far(found) ? i : found), null);
    return best !== null && far(best) <= REACH ? marks[best] : null;
  }

  function drawCursor() {
    if (!cursor || document.activeElement !== node) return fill(layers.cursor);
    const [x, y] = at(cursor);
    return fill(layers.cursor, svg("path", { d: `M${x - 12} ${y}h24M${x} ${y - 12}v24` }));
  }

  app.pointAt = (row) => marks[row]?.focus();
  editByPointer(app, node, (x, y) => snapped(from(x, y)), nearest);
  editByKeys(app, node, marks, {
    get: () => cursor,
    move: (place) => {
      cursor = place;
    },
  });
  node.addEventListener("focusin", (event) => {
    const mark = event.target.closest(".point");
    if (drawnAs.has(mark)) nameMark(mark, true);
    app.redraw();
  });
  node.addEventListener("focusout", () => app.redraw());
  app.views.push(draw);
  return node;
}
