// @ts-check
// The line with the fewest rows on its wrong side: it can be moved until it touches a row, so every row is tried as a
// pivot about which a line turns once around. A row on the line counts as wrong.
import { signedScore } from "./exact.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {import("./verdict.js").Line & { wrong: number }} Fewest */

const SAME_ANGLE = 1e-11; // rows nearer than this in angle are passed together

/**
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {boolean} bias
 * @returns {Fewest}
 */
export function fewestMistakes(points, labels, bias) {
  const pluses = labels.filter((label) => label > 0).length;
  /** @type {Fewest} */
  let best = { w: [0, 0], b: bias ? Math.sign(2 * pluses - labels.length) || 1 : 0, wrong: 0 };
  best.wrong = bias ? Math.min(pluses, labels.length - pluses) : labels.length;
  const pivots = bias ? points : [[0, 0]];
  for (const pivot of pivots) {
    for (const line of turned(points, labels, pivot, bias, best.wrong)) {
      const wrong = points.filter((point, i) => labels[i] * signedScore(line.w, point, line.b) <= 0).length;
      if (wrong < best.wrong) best = { ...line, wrong };
    }
  }
  return best;
}

/**
 * The lines about a pivot that promise fewer mistakes than `most`, the most promising ones.
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {Point} pivot
 * @param {boolean} bias
 * @param {number} most
 */
function turned(points, labels, pivot, bias, most) {
  const offsets = points.map(([x, y]) => [x - pivot[0], y - pivot[1]]);
  const others = offsets.map((_, i) => i).filter((i) => offsets[i][0] || offsets[i][1]);
  const here = labels.filter((_, i) => !offsets[i][0] && !offsets[i][1]);
  const plusHere = here.filter((label) => label > 0).length;
  const wrongHere = bias ? Math.min(plusHere, here.length - plusHere) : here.length;
  const angles = others.map((i) => {
    const angle = Math.atan2(offsets[i][1], offsets[i][0]);
    return angle > 0 ? angle : angle + Math.PI;
  });
  const order = others.map((_, n) => n).sort((p, q) => angles[p] - angles[q]);
  // Left of a line in the direction of the x-axis, turned by a hair: what it gets right if its left is the + side.
  let right = others.filter((i) => (isAbove(offsets[i]) ? 1 : -1) === labels[i]).length;
  const lines = [];
  for (let n = 0; n < order.length; n += 1) {
    const i = others[order[n]];
    right += (isAbove(offsets[i]) ? 1 : -1) === labels[i] ? -1 : 1; // it passes to the other side
    const next = n + 1 < order.length ? angles[order[n + 1]] : angles[order[0]] + Math.PI;
    const gap = next - angles[order[n]];
    if (gap < SAME_ANGLE) continue;
    for (const sign of [1, -1]) {
      const wrong = wrongHere + (sign > 0 ? others.length - right : right);
      if (wrong < most)
        lines.push({
          ...lineAbout(pivot, angles[order[n]] + gap / 2, sign, bias, offsets, others, plusHere * 2 > here.length),
          promised: wrong,
        });
    }
  }
  const least = Math.min(...lines.map(({ promised }) => promised));
  return lines.filter(({ promised }) => promised === least).map(({ w, b }) => ({ w, b }));
}

/** @param {number[]} offset  not 0 */
const isAbove = ([x, y]) => y > 0 || (y === 0 && x < 0);

/**
 * A line a little beside the pivot, which then is on the side of most rows there.
 * @param {Point} pivot
 * @param {number} angle
 * @param {number} sign
 * @param {boolean} bias
 * @param {number[][]} offsets
 * @param {number[]} others
 * @param {boolean} isPlus
 */
function lineAbout(pivot, angle, sign, bias, offsets, others, isPlus) {
  const w = [-sign * Math.sin(angle), sign * Math.cos(angle)];
  if (!bias) return { w, b: 0 };
  const near = Math.min(...others.map((i) => Math.abs(w[0] * offsets[i][0] + w[1] * offsets[i][1])), 1);
  return { w, b: -(w[0] * pivot[0] + w[1] * pivot[1]) + ((isPlus ? 1 : -1) * near) / 2 };
}
