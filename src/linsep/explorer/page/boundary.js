// The current boundary in the data space: its two sides, the line or the curve, the widest band, and the last update.
import { sidesOf } from "./curves.js";
import { fill, svg } from "./dom.js";
import { across, corners, cut, path } from "./geometry.js";
import { textBox } from "./label-places.js";
import { arrow, nameAt } from "./marks.js";

const [FINE, COARSE] = [90, 48]; // cells along the longer side of a curved boundary; a kernel's take longer

// The box of the name of w is returned: others keep off it.
export function drawBoundary(plot) {
  const { app } = plot;
  const weights = app.weights();
  if (app.isLifted) drawCurve(plot);
  else {
    drawSides(plot, weights);
    drawLines(plot, weights);
  }
  drawBand(plot);
  drawArrows(plot, weights);
  drawReach(plot);
  drawBest(plot);
  const name = plot.layers.arrows.querySelector(".weights-name");
  return name ? [textBox({ x: Number(name.getAttribute("x")), y: Number(name.getAttribute("y")) - 4 }, "w", 12)] : [];
}

// The line of u*, seen when u* or gamma is asked for.
function drawBest({ app, layers, box, at }) {
  const bound = app.told?.bound;
  if (!bound || app.isLifted || !["u", "gamma"].includes(app.lit)) return;
  const [x, y, b = 0] = bound.direction;
  const line = across(box, [x, y], b);
  if (line) layers.band.append(svg("path", { class: "u-star", d: path(line.map(at)) }));
}

// The circle that R is the radius of (with a bias, of the rows before the 1 is appended), seen when R is asked for.
function drawReach({ app, layers, box, at }) {
  if (app.isLifted || !app.answer) return;
  const [cx, cy] = at([0, 0]);
  const r = Math.sqrt(Math.max(0, app.answer.radius ** 2 - Number(app.state.bias))) / box.unit;
  layers.band.append(svg("circle", { class: "reach-circle", cx, cy, r }));
}

function drawSides({ layers, box, at }, { w, b }) {
  const side = (sign, name) => {
    const polygon = cut(corners(box), [sign * w[0], sign * w[1]], sign * b);
    return polygon.length > 2 ? svg("path", { class: `side ${name}`, d: path(polygon.map(at), true) }) : null;
  };
  fill(layers.sides, ...(w[0] || w[1] || b ? [side(1, "plus"), side(-1, "minus")] : []));
}

// With features or a kernel the boundary is curved.
function drawCurve({ app, layers, box, at }) {
  if (!app.state.k) return fill(layers.sides) && fill(layers.lines);
  const { plus, minus, curve } = sidesOf(app.field(), box, app.state.kernel ? COARSE : FINE);
  const side = (name, polygons) =>
    svg("path", { class: `side ${name}`, d: polygons.map((p) => path(p.map(at), true)).join("") });
  fill(layers.sides, side("plus", plus), side("minus", minus));
  return fill(layers.lines, svg("path", { class: "line", d: curve.map((piece) => path(piece.map(at))).join("") }));
}

function drawLines({ app, layers, box, at }, { w, b }) {
  const before = app.weights(app.state.k - 1);
  const ghost = app.state.k > 1 ? across(box, before.w, before.b) : null;
  const line = across(box, w, b);
  const weak = app.told?.weak ? across(box, app.told.weak.w, app.told.weak.b) : null;
  const fewest = app.told && app.fewest?.settled === app.settled ? across(box, app.fewest.w, app.fewest.b) : null;
  fill(
    layers.lines,
    fewest && svg("path", { class: "fewest", d: path(fewest.map(at)) }),
    weak && svg("path", { class: "weak", d: path(weak.map(at)) }),
    ghost && svg("path", { class: "ghost", d: path(ghost.map(at)) }),
    line && svg("path", { class: "line", d: path(line.map(at)) }),
  );
}

function drawBand({ app, layers, box, at }) {
  const best = app.state.band && !app.isLifted ? app.told?.widest : null;
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
function drawArrows({ app, layers, at }, { w, b }) {
  const length = Math.hypot(...w);
  const row = app.corrected();
  const point = row === null ? null : app.state.points[row];
  if (!point) return fill(layers.arrows);
  const label = app.state.labels[row];
  const before = app.weights(app.state.k - 1);
  const foot = anchor(app.state, w, b, length);
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

function anchor({ bias, view }, w, b, length) {
  if (!bias || !length) return bias ? [view.cx, view.cy] : [0, 0];
  const { cx, cy } = view;
  const off = (w[0] * cx + w[1] * cy + b) / length;
  return [cx - (off * w[0]) / length, cy - (off * w[1]) / length];
}
