// @ts-check
// The line with the fewest rows on its wrong side: it can be moved until it touches a row, so every row is tried as a
// pivot about which a line turns once around. A row on the line counts as wrong.
//
// The order in which the line passes the others is found by exact cross products, so the number is right for columns of
// any scales; the line itself is in doubles, to be drawn, and the one of the best with the most room beside it.
import { wholeNumbers } from "./exact.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {import("./verdict.js").Line & { wrong: number }} Fewest */
/** @typedef {{ pivot: Point, from: Point, to: Point, sign: number, shift: number, wrong: number }} Turn  a line about the pivot between two directions */

export const MOST_SEARCHED = 500; // points: a search takes a tenth of a second
const MOST_COMPARED = 500; // of the best lines
const DOUBTED_CROSS = 2 ** -50; // of the sum of sizes: rounding does less to a cross product

/**
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {boolean} bias
 * @returns {Fewest}
 */
export function fewestMistakes(points, labels, bias) {
  const pluses = labels.filter((label) => label > 0).length;
  const most = bias ? Math.min(pluses, labels.length - pluses) : labels.length;
  const cross = crossOf(points);
  /** @type {Turn[]} */
  let best = [];
  for (let pivot = bias ? 0 : -1; pivot < (bias ? points.length : 0); pivot += 1) {
    const found = bestTurns(points, labels, pivot, cross, best[0]?.wrong ?? most - 1);
    if (found.length && found[0].wrong < (best[0]?.wrong ?? most)) best = found;
    else best.push(...found);
  }
  if (!best.length) return { w: [0, 0], b: bias ? Math.sign(2 * pluses - labels.length) || 1 : 0, wrong: most };
  const lines = best.slice(0, MOST_COMPARED).map((turn) => lineAlongTurn(points, turn, bias));
  const { w, b } = lines.reduce((roomiest, line) => (line.room > roomiest.room ? line : roomiest));
  return { w, b, wrong: best[0].wrong };
}

/**
 * The sign of the cross product of two points as seen from a third, or from 0 (-1): exactly where rounding could change it.
 * @param {Point[]} points
 */
function crossOf(points) {
  const [xs, ys] = [0, 1].map((j) => wholeNumbers([0, ...points.map((point) => point[j])]).wholes);
  return (/** @type {number} */ pivot, /** @type {number} */ p, /** @type {number} */ q) => {
    const [x, y] = pivot < 0 ? [0, 0] : points[pivot];
    const one = (points[p][0] - x) * (points[q][1] - y);
    const other = (points[p][1] - y) * (points[q][0] - x);
    const value = one - other;
    if (Math.abs(value) > DOUBTED_CROSS * (Math.abs(one) + Math.abs(other)) + 1e-300) return Math.sign(value);
    const [o, a, b] = [pivot + 1, p + 1, q + 1];
    const exact = (xs[a] - xs[o]) * (ys[b] - ys[o]) - (ys[a] - ys[o]) * (xs[b] - xs[o]);
    return exact > 0n ? 1 : exact < 0n ? -1 : 0;
  };
}

/**
 * The best lines about a pivot, if they make at most `most` mistakes.
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {number} pivot  -1 for 0, which the line may not leave
 * @param {ReturnType<typeof crossOf>} cross
 * @param {number} most
 * @returns {Turn[]}
 */
function bestTurns(points, labels, pivot, cross, most) {
  const place = points[pivot] ?? [0, 0];
  const offsets = points.map(([x, y]) => [x - place[0], y - place[1]]);
  const isLeft = offsets.map(isAbove);
  const here = labels.filter((_, i) => isZeroOffset(offsets[i]));
  const plusHere = here.filter((label) => label > 0).length;
  const wrongHere = pivot < 0 ? here.length : Math.min(plusHere, here.length - plusHere);
  const order = offsets.flatMap((offset, i) => (isZeroOffset(offset) ? [] : [i]));
  const turned = (/** @type {number} */ p, /** @type {number} */ q) =>
    isLeft[p] === isLeft[q] ? cross(pivot, p, q) : -cross(pivot, p, q);
  order.sort((p, q) => -turned(p, q));
  const along = (/** @type {number} */ i) => offsets[i].map((x) => (isLeft[i] ? x : -x));
  // Left of a line in the direction of the x-axis, turned by a hair: what it gets right if its left is the + side.
  let right = order.filter((i) => isLeft[i] === labels[i] > 0).length;
  /** @type {Turn[]} */
  let best = [];
  order.forEach((i, n) => {
    right += isLeft[i] === labels[i] > 0 ? -1 : 1; // it passes to the other side
    const isLast = n + 1 === order.length;
    if (!isLast && turned(i, order[n + 1]) === 0) return;
    for (const sign of [1, -1]) {
      const wrong = wrongHere + (sign > 0 ? order.length - right : right);
      if (wrong > (best[0]?.wrong ?? most)) continue;
      const to = isLast ? along(order[0]).map((x) => -x) : along(order[n + 1]);
      if (wrong < (best[0]?.wrong ?? Infinity)) best = [];
      best.push({ pivot: place, from: along(i), to, sign, shift: plusHere * 2 > here.length ? 1 : -1, wrong });
    }
  });
  return best;
}

/** @param {number[]} offset */
const isZeroOffset = ([x, y]) => x === 0 && y === 0;

/** @param {number[]} offset  not 0 */
const isAbove = ([x, y]) => y > 0 || (y === 0 && x < 0);

/**
 * The line half-way between the two directions, a little beside its pivot, which then is on the side of most rows there.
 * Columns are brought to sizes near 1 first, by powers of two.
 * @param {Point[]} points
 * @param {Turn} turn
 * @param {boolean} bias
 */
function lineAlongTurn(points, { pivot, from, to, sign, shift }, bias) {
  const units = [0, 1].map((j) => unitOf(points.map((point) => point[j] - pivot[j])));
  const inUnits = (/** @type {Point} */ offset) => offset.map((x, j) => x / units[j]);
  const [p, q] = [from, to].map(inUnits).map(([x, y]) => [x / Math.hypot(x, y), y / Math.hypot(x, y)]);
  const isWide = p[0] * q[0] + p[1] * q[1] < 0;
  const [x, y] = isWide ? [q[1] - p[1], p[0] - q[0]] : [p[0] + q[0], p[1] + q[1]];
  const w = [-sign * y, sign * x];
  const score = (/** @type {Point} */ [s, t]) => w[0] * s + w[1] * t;
  const scores = points.map((point) => Math.abs(score(inUnits([point[0] - pivot[0], point[1] - pivot[1]]))));
  const near = Math.min(...scores.filter(Boolean), 1);
  const least = Math.min(...units);
  const b = bias ? (-score(inUnits(pivot)) + (shift * near) / 2) * least : 0;
  return { w: w.map((value, j) => value * (least / units[j])), b, room: near / Math.hypot(...w) };
}

/**
 * A power of two near the largest of these.
 * @param {number[]} values
 */
function unitOf(values) {
  const largest = Math.max(...values.map(Math.abs));
  return largest ? 2 ** Math.ceil(Math.log2(largest)) : 1;
}
