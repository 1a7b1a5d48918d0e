// The data space: points, the current line with its two sides, the row just corrected, and what forbids a line.
import { across, boxOf, corners, cut, hull, path, snap, snapStep, ticks } from "./geometry.js";
import { fill, set, surface, svg } from "./dom.js";
import { show, signOf } from "./numbers.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function dataView(app) {
  const layers = Object.fromEntries(
    ["sides", "grid", "band", "hulls", "lines", "arrows", "points", "proof", "cursor"].map((name) => [name, svg("g", { class: name })]),
  );
  const node = surface(
    { class: "plot data-space", tabindex: 0, role: "application", "aria-label": "Data space. Arrow keys move the cursor, Enter adds a point, Tab goes to the points." },
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

  const at = (p) => [(p[0] - box.left) / box.unit, (box.top - p[1]) / box.unit];
  const from = (x, y) => [box.left + x * box.unit, box.top - y * box.unit];
  const snapped = (p) => p.map((x) => snap(x, snapStep(app.state.view)));

  function draw() {
    if (size[0] < 2 || app.isWide) return;
    box = boxOf(app.state.view, ...size);
    const { w, b } = app.weights();
    drawSides(w, b);
    drawGrid(layers.grid, box, at, size);
    drawBand();
    drawLines(w, b);
    drawArrows(w, b);
    drawPoints();
    drawProof();
    drawCursor();
  }

  function drawSides(w, b) {
    const side = (sign, name) => {
      const polygon = cut(corners(box), [sign * w[0], sign * w[1]], sign * b);
      return polygon.length > 2 ? svg("path", { class: `side ${name}`, d: path(polygon.map(at), true) }) : null;
    };
    fill(layers.sides, ...(w[0] || w[1] || b ? [side(1, "plus"), side(-1, "minus")] : []));
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
    const best = app.state.band ? app.answer?.widest : null;
    if (!best) return fill(layers.band);
    let strip = cut(corners(box), best.w, best.b + best.margin);
    strip = cut(strip, best.w.map((x) => -x), best.margin - best.b);
    const middle = across(box, best.w, best.b);
    const rings = best.rows.filter((i) => app.state.points[i]).map((i) => {
      const [cx, cy] = at(app.state.points[i]);
      return svg("circle", { class: "support", cx, cy, r: 13 });
    });
    return fill(layers.band, svg("path", { class: "strip", d: path(strip.map(at), true) }), middle && svg("path", { class: "best", d: path(middle.map(at)) }), ...rings);
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
    return fill(
      layers.arrows,
      svg("circle", { class: `halo ${name}`, cx, cy, r: 17 }),
      arrow("before", at(foot), tip(before.w)),
      arrow(`update ${name}`, tip(before.w), tip(w)),
      arrow("weights", at(foot), tip(w)),
      length ? text("weights-name", tip(w), at(foot), "w") : null,
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
    const weights = app.weights();
    const isTabbed = points.length <= 60;
    while (marks.length > points.length) marks.pop().remove();
    points.forEach((point, i) => {
      if (!marks[i]) {
        marks[i] = svg("g", { "data-row": i }, svg("circle", { class: "reach", r: 17 }), svg("path", { class: "shape" }), svg("path", { class: "sign" }));
        layers.points.append(marks[i]);
      }
      const plus = labels[i] > 0;
      const wrong = app.answer && app.state.k > 0 && app.isMistake(i, weights);
      const [x, y] = at(point);
      const small = points.length > 120;
      set(marks[i], {
        class: `point ${plus ? "plus" : "minus"}${wrong ? " wrong" : ""}${small ? " small" : ""}`,
        transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
        tabindex: isTabbed || i === 0 ? 0 : -1,
        role: "button",
        "aria-label": `Row ${i + 1}, class ${signOf(labels[i])}, at (${show(point[0])}, ${show(point[1])})${wrong ? ", a mistake" : ""}`,
      });
      const r = small ? 4.5 : 8;
      set(marks[i].children[1], { d: plus ? `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z` : `M${-r + 1} ${-r + 1}h${2 * r - 2}v${2 * r - 2}h${2 - 2 * r}Z` });
      set(marks[i].children[2], { d: small ? "" : plus ? "M-4 0H4M0 -4V4" : "M-4 0H4" });
    });
  }

  // Why no line can do it: both hulls, the few rows, and the point they have in common.
  function drawProof() {
    const found = app.answer?.obstruction;
    const { points, labels } = app.state;
    if (!found || found.rows.some((i) => !points[i])) {
      fill(layers.hulls);
      return fill(layers.proof);
    }
    const signed = (i) => (found.point ? points[i] : points[i].map((x) => x * labels[i]));
    const outline = (name, rows, kind) => {
      const shape = hull(rows.map(signed)).map(at);
      return shape.length ? svg("path", { class: `${kind} ${name}`, d: path(shape, shape.length > 2) }) : null;
    };
    const all = labels.map((_, i) => i);
    const ofClass = (rows, label) => rows.filter((i) => labels[i] === label);
    const kinds = found.point ? [["plus", 1], ["minus", -1]] : [];
    fill(
      layers.hulls,
      ...kinds.map(([name, label]) => outline(name, ofClass(all, label), "hull")),
      ...kinds.map(([name, label]) => outline(name, ofClass(found.rows, label), "witness")),
      found.point ? null : outline("both", found.rows, "witness"),
    );
    const common = at(found.point ? found.point.map((c) => c.value) : [0, 0]);
    const star = svg("g", { class: "common", transform: `translate(${common[0].toFixed(2)} ${common[1].toFixed(2)})` }, svg("circle", { r: 9 }), svg("circle", { class: "heart", r: 3.5 }));
    const tags = found.rows.map((i, n) => {
      const weight = found.weights[n];
      const [x, y] = at(signed(i));
      const [ux, uy] = away([x, y], common);
      const side = Math.abs(ux) < 0.4 ? "" : ux < 0 ? " to-left" : " to-right";
      return svg("text", { class: `weight${side}`, x: x + ux * (side ? 15 : 22), y: y + uy * 22, "data-row": i }, weight.exact ? weight.text.replace("-", "−") : `≈ ${weight.text}`);
    });
    const mirrored = found.point ? [] : found.rows.filter((i) => labels[i] < 0).map((i) => {
      const [cx, cy] = at(signed(i));
      return svg("circle", { class: "mirrored", cx, cy, r: 7 });
    });
    return fill(layers.proof, ...mirrored, ...tags, star);
  }

  function drawCursor() {
    if (!cursor || document.activeElement !== node) return fill(layers.cursor);
    const [x, y] = at(cursor);
    return fill(layers.cursor, svg("path", { d: `M${x - 12} ${y}h24M${x} ${y - 12}v24` }));
  }

  app.pointAt = (row) => marks[row]?.focus();
  listen();
  app.views.push(draw);
  return node;

  function listen() {
    let drag = null;
    const place = (event) => {
      const bounds = node.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    node.addEventListener("pointerdown", (event) => {
      if (app.isFixed || event.button !== 0) return;
      const mark = event.target.closest("[data-row].point");
      drag = { row: mark ? Number(mark.dataset.row) : null, start: place(event), moved: false, shift: event.shiftKey };
      if (mark) {
        node.setPointerCapture(event.pointerId);
        mark.focus({ preventScroll: true });
        event.preventDefault();
      }
    });
    node.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const [x, y] = place(event);
      const far = Math.hypot(x - drag.start[0], y - drag.start[1]) > 3;
      if (!far && !drag.moved) return;
      if (drag.row !== null) app.move(drag.row, snapped(from(x, y)), !drag.moved);
      drag.moved = true;
    });
    node.addEventListener("pointerup", (event) => {
      if (drag && drag.row === null && !drag.moved) app.add(snapped(from(...place(event))), drag.shift ? -app.label : app.label);
      drag = null;
    });
    node.addEventListener("pointercancel", () => { drag = null; });
    node.addEventListener("focusin", () => app.redraw());
    node.addEventListener("focusout", () => app.redraw());
    node.addEventListener("keydown", (event) => {
      if (app.isFixed || event.ctrlKey || event.metaKey || event.altKey) return;
      const mark = event.target.closest("[data-row].point");
      const handled = mark ? onPoint(Number(mark.dataset.row), event) : onPlane(event);
      if (handled) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
  }

  function onPoint(i, event) {
    const step = snapStep(app.state.view) * (event.shiftKey ? 1 : 4);
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (dx || dy) app.move(i, [app.state.points[i][0] + dx * step, app.state.points[i][1] + dy * step], true);
    else if (event.key === "Delete" || event.key === "Backspace") {
      app.remove(i);
      (marks[i === app.state.points.length ? i - 1 : i] ?? node).focus();
    } else if (event.key === "Enter") app.flip(i);
    else if (event.key === "n" || event.key === "p") marks[(i + (event.key === "n" ? 1 : marks.length - 1)) % marks.length].focus();
    else return false;
    return true;
  }

  function onPlane(event) {
    const step = snapStep(app.state.view) * (event.shiftKey && event.key !== "Enter" ? 1 : 4);
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    cursor ??= snapped([app.state.view.cx, app.state.view.cy]);
    if (dx || dy) cursor = [cursor[0] + dx * step, cursor[1] + dy * step];
    else if (event.key === "Enter") app.add([...cursor], event.shiftKey ? -app.label : app.label);
    else return false;
    app.redraw();
    return true;
  }
}

function away([x, y], [cx, cy]) {
  const length = Math.hypot(x - cx, y - cy);
  return length < 1 ? [0.7, -0.7] : [(x - cx) / length, (y - cy) / length];
}

export function drawGrid(layer, box, at, [width, height]) {
  const wanted = (length) => Math.max(2, Math.round(length / 90));
  const xs = ticks(box.left, box.right, wanted(width));
  const ys = ticks(box.bottom, box.top, wanted(height));
  const vertical = xs.map((x) => svg("path", { class: x ? "grid" : "axis", d: `M${at([x, 0])[0]} 0V${height}` }));
  const level = ys.map((y) => svg("path", { class: y ? "grid" : "axis", d: `M0 ${at([0, y])[1]}H${width}` }));
  const below = xs.filter((x) => at([x, 0])[0] > 24 && at([x, 0])[0] < width - 14).map((x) => svg("text", { class: "tick", x: at([x, 0])[0], y: height - 7 }, show(x)));
  const beside = ys.filter((y) => at([0, y])[1] > 12 && at([0, y])[1] < height - 22).map((y) => svg("text", { class: "tick side-tick", x: 7, y: at([0, y])[1] + 4 }, show(y)));
  fill(layer, ...vertical, ...level, ...below, ...beside);
}

export function arrow(name, [x0, y0], [x1, y1]) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 2) return null;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(10, length * 0.45);
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  const wing = head * 0.46;
  const barbs = [[x1, y1], [bx - uy * wing, by + ux * wing], [bx + uy * wing, by - ux * wing]];
  return svg("g", { class: `arrow ${name}` }, svg("path", { class: "shaft", d: path([[x0, y0], [bx, by]]) }), svg("path", { class: "head", d: path(barbs, true) }));
}

export function text(name, [x, y], [fx, fy], words) {
  const [ux, uy] = away([x, y], [fx, fy]);
  return svg("text", { class: name, x: x + ux * 12, y: y + uy * 12 + 4 }, words);
}
