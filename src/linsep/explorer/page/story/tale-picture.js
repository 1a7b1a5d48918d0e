// The story's picture of the plane: what `paint` draws, and on top of it what can be taken hold of.
import { fill, set, surface, svg } from "../dom.js";
import { across, boxOf, corners, cut, path } from "../geometry.js";
import { gridOf, markShape } from "../marks.js";

/** @typedef {{ spot: () => number[], name: () => string, look: () => SVGElement, move?: (to: number[]) => void, press?: () => void }} Grip */

// `paint(at, box)` gives the nodes below; grips stay the same nodes, so that a drag and the focus outlast a redraw.
export function talePicture({ view, paint, grips = [], about }) {
  const [below, above] = [svg("g"), svg("g")];
  let [box, unit] = [null, 1];
  const node = surface({ class: "plot tale-plot", role: "group", "aria-label": about }, (width, height) => {
    box = boxOf(view, width, height);
    unit = box.unit;
    redraw();
  });
  node.append(below, above);
  const at = (p) => [(p[0] - box.left) / unit, (box.top - p[1]) / unit];
  const from = (event) => {
    const frame = node.getBoundingClientRect();
    return [box.left + (event.clientX - frame.left) * unit, box.top - (event.clientY - frame.top) * unit];
  };
  const held = grips.map((grip) => gripNode(grip, { from, redraw: () => redraw(), step: view.half / 16 }));
  above.append(...held);

  function redraw() {
    if (!box) return;
    fill(below, ...paint(at, box).flat());
    for (const [i, grip] of grips.entries()) {
      const [x, y] = at(inside(grip.spot(), box));
      set(held[i], { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, "aria-label": grip.name() });
      fill(held[i], svg("circle", { class: "reach", r: 20 }), grip.look());
    }
  }
  return { node, redraw };
}

function inside([x, y], box) {
  const edge = 14 * box.unit;
  const between = (value, low, high) => Math.min(Math.max(value, low + edge), high - edge);
  return [between(x, box.left, box.right), between(y, box.bottom, box.top)];
}

function gripNode(grip, { from, redraw, step }) {
  const node = svg("g", { class: "tale-grip point", tabindex: 0, role: "button" });
  const moved = (to) => {
    grip.move(to);
    redraw();
  };
  if (grip.press) {
    const press = () => {
      grip.press();
      redraw();
    };
    node.addEventListener("click", press);
    node.addEventListener("keydown", (event) => {
      if (![" ", "Enter"].includes(event.key)) return;
      event.preventDefault();
      press();
    });
    return node;
  }
  node.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
    node.focus({ preventScroll: true });
  });
  node.addEventListener("pointermove", (event) => node.hasPointerCapture(event.pointerId) && moved(from(event)));
  node.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const size = event.shiftKey ? step / 4 : step;
    moved(grip.spot().map((x, j) => x + size * ways[event.key][j]));
  });
  return node;
}

// Pieces to paint with.

export function taleSides(at, box, { w, b }) {
  if (!w[0] && !w[1]) return [];
  const side = (sign, name) => {
    const polygon = cut(
      corners(box),
      w.map((x) => sign * x),
      sign * b,
    );
    return polygon.length > 2 ? svg("path", { class: `side ${name}`, d: path(polygon.map(at), true) }) : null;
  };
  return [side(1, "plus"), side(-1, "minus")];
}

// Light axes with their numbers, all or those that are `named`, and the origin.
export function taleAxes(at, box, named = (_) => true) {
  const [x, y] = at([0, 0]);
  const [width, height] = [(box.right - box.left) / box.unit, (box.top - box.bottom) / box.unit];
  const origin = svg("circle", { class: "tale-origin", cx: x, cy: y, r: 3 });
  return svg("g", { class: "grid" }, ...gridOf(box, at, width, height, named), origin);
}

export function taleLine(at, box, { w, b }, name = "line") {
  const ends = across(box, w, b);
  return ends ? svg("path", { class: name, d: path(ends.map(at)) }) : null;
}

export function taleDot(label, isWrong = false, place = null) {
  const plus = label > 0;
  return svg(
    "g",
    {
      class: `point ${plus ? "plus" : "minus"}${isWrong ? " wrong" : ""}`,
      transform: place ? `translate(${place[0].toFixed(1)} ${place[1].toFixed(1)})` : null,
    },
    isWrong ? svg("circle", { class: "tale-wrong", r: 13 }) : null,
    svg("path", { class: "shape", d: markShape(label, 8) }),
    svg("path", { class: "sign", d: plus ? "M-4 0H4M0 -4V4" : "M-4 0H4" }),
  );
}

export function taleDots(at, { points, labels }, wrong = []) {
  return points.map((point, row) => taleDot(labels[row], wrong.includes(row), at(point)));
}
