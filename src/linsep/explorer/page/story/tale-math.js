// @ts-check
// The arithmetic of the story: a line by two of its points, who is on its wrong side, and what the rule adds.

/** @typedef {number[]} Spot  a point of the plane */
/** @typedef {{ w: number[], b: number }} Border  the line w·x + b = 0 */
/** @typedef {{ points: [number, number][], labels: number[] }} Dots */

/**
 * The line through two points, its positive side to the left of the way from the first to the second.
 * @param {Spot} from
 * @param {Spot} to
 * @returns {Border}
 */
export function lineThrough(from, to) {
  const w = [from[1] - to[1], to[0] - from[0]];
  return { w, b: -(w[0] * from[0] + w[1] * from[1]) };
}

/**
 * @param {Border} border
 * @param {Spot} spot
 */
export function scoreAt({ w, b }, spot) {
  return w[0] * spot[0] + w[1] * spot[1] + b;
}

/**
 * The rows that are not strictly on the side of their class.
 * @param {Dots} dots
 * @param {Border} border
 */
export function wrongRows({ points, labels }, border) {
  return points.flatMap((point, row) => (labels[row] * scoreAt(border, point) > 0 ? [] : [row]));
}

/**
 * A line drawn by hand has no front: it is turned so that it is wrong about fewer rows.
 * @param {Dots} dots
 * @param {Border} border
 * @returns {Border}
 */
export function turnedWell(dots, border) {
  const turned = { w: border.w.map((x) => -x), b: -border.b };
  return wrongRows(dots, turned).length < wrongRows(dots, border).length ? turned : border;
}

/**
 * The rule: add y·x to w and, with a bias, y to b.
 * @param {Dots} dots
 * @param {Border} border
 * @param {number} row
 * @param {boolean} bias
 * @returns {Border}
 */
export function afterUpdate({ points, labels }, { w, b }, row, bias) {
  const y = labels[row];
  return { w: w.map((x, j) => x + y * points[row][j]), b: bias ? b + y : b };
}

/**
 * A score written out: 2·0 + (−2)·1.5 − 2 = −5.
 * @param {Border} border
 * @param {Spot} spot
 */
export function scoreWords(border, spot) {
  const minus = (/** @type {number} */ x) => String(x).replace("-", "−");
  const factor = (/** @type {number} */ x) => (x < 0 ? `(${minus(x)})` : minus(x));
  const bias = border.b ? ` ${border.b < 0 ? "−" : "+"} ${Math.abs(border.b)}` : "";
  const [w, x] = [border.w, spot];
  const sum = `${minus(w[0])}·${factor(x[0])} + ${factor(w[1])}·${factor(x[1])}${bias}`;
  return `${sum} = ${minus(scoreAt(border, spot))}`;
}
