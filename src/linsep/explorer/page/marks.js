// Marks that several plots use: the grid, arrows, names beside them.

import { fillOnce, svg } from "./dom.js";
import { path, ticks } from "./geometry.js";
import { show } from "./numbers.js";

/** @typedef {number[]} Place  in pixels */

/**
 * The shape of a class, around a place: + is a square, − a disc, in these colours, as in the library's own plots.
 * @param {number} label
 * @param {number} r
 * @param {Place} place
 */
export function markShape(label, r, [x, y] = [0, 0]) {
  const half = r * 0.9;
  if (label > 0) return `M${x - half} ${y - half}h${2 * half}v${2 * half}h${-2 * half}Z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

/**
 * @param {Place} place
 * @param {Place} centre
 */
export function away([x, y], [cx, cy]) {
  const length = Math.hypot(x - cx, y - cy);
  return length < 1 ? [0.7, -0.7] : [(x - cx) / length, (y - cy) / length];
}

/**
 * @param {SVGElement} layer
 * @param {{ left: number, right: number, bottom: number, top: number }} box
 * @param {(point: number[]) => Place} at
 * @param {number[]} size
 */
export function drawGrid(layer, box, at, [width, height]) {
  const key = `${[box.left, box.right, box.bottom, box.top, width, height]}`;
  fillOnce(layer, key, () => gridOf(box, at, width, height));
}

/**
 * @param {{ left: number, right: number, bottom: number, top: number }} box
 * @param {(point: number[]) => Place} at
 * @param {number} width
 * @param {number} height
 * @param {(number: number) => boolean} named  the lines that carry their numbers
 */
export function gridOf(box, at, width, height, named = () => true) {
  const wanted = (length) => Math.max(2, Math.round(length / 90));
  const xs = ticks(box.left, box.right, wanted(width));
  const ys = ticks(box.bottom, box.top, wanted(height));
  const vertical = xs.map((x) => svg("path", { class: x ? "grid" : "axis", d: `M${at([x, 0])[0]} 0V${height}` }));
  const level = ys.map((y) => svg("path", { class: y ? "grid" : "axis", d: `M0 ${at([0, y])[1]}H${width}` }));
  const below = xs
    .filter((x) => named(x) && at([x, 0])[0] > 24 && at([x, 0])[0] < width - 14)
    .map((x) => svg("text", { class: "tick", x: at([x, 0])[0], y: height - 7 }, show(x)));
  const beside = ys
    .filter((y) => named(y) && at([0, y])[1] > 12 && at([0, y])[1] < height - 22)
    .map((y) => svg("text", { class: "tick side-tick", x: 7, y: at([0, y])[1] + 4 }, show(y)));
  return [...vertical, ...level, ...below, ...beside];
}

/**
 * @param {string} name
 * @param {Place} from
 * @param {Place} to
 */
export function arrow(name, [x0, y0], [x1, y1]) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 2) return null;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(10, length * 0.45);
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  const wing = head * 0.46;
  const barbs = [
    [x1, y1],
    [bx - uy * wing, by + ux * wing],
    [bx + uy * wing, by - ux * wing],
  ];
  return svg(
    "g",
    { class: `arrow ${name}` },
    svg("path", {
      class: "shaft",
      d: path([
        [x0, y0],
        [bx, by],
      ]),
    }),
    svg("path", { class: "head", d: path(barbs, true) }),
  );
}

/**
 * @param {string} name
 * @param {Place} place
 * @param {Place} foot  which the name stands away from
 * @param {string} words
 */
export function nameAt(name, [x, y], [fx, fy], words) {
  const [ux, uy] = away([x, y], [fx, fy]);
  return svg("text", { class: name, x: x + ux * 12, y: y + uy * 12 + 4 }, words);
}
