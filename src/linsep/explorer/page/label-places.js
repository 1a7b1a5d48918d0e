// @ts-check
// Where labels beside points stand: the weight of a row away from the common point, its number where that leaves room.
import { away } from "./marks.js";

/** @typedef {number[]} Place  in pixels */
/** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */
/** @typedef {{ x: number, y: number, side: "" | " to-left" | " to-right" }} TagPlace */

const OFF = 19; // pixels from a point to the middle of its number
const NUMBER_TURNS = [1, -1, 1.5, -1.5, 0.5, -0.5, 2]; // in right angles, from the way from the middle

/**
 * @param {Place} spot
 * @param {Place} common
 * @param {string} words
 * @param {number} width  of the plot
 * @returns {TagPlace}
 */
export function weightPlace([x, y], common, words, width) {
  const [ux, uy] = away([x, y], common);
  const room = 9 * words.length + 20; // more or less
  const turn = ux < 0 ? (x < room ? 1 : -1) : x > width - room ? -1 : 1; // away from the common point, within the plot
  const side = Math.abs(ux) < 0.4 ? "" : turn < 0 ? " to-left" : " to-right";
  return { x: x + (side ? turn * Math.abs(ux) * 15 : ux * 22), y: y + uy * 22, side };
}

/**
 * What a text covers, more or less.
 * @param {{ x: number, y: number, side?: string }} place
 * @param {string} words
 * @param {number} letter  the width of one
 * @returns {Box}
 */
export function textBox({ x, y, side = "" }, words, letter) {
  const width = letter * words.length;
  const left = side === " to-left" ? x - width : side === " to-right" ? x : x - width / 2;
  return { left, right: left + width, top: y - letter, bottom: y + letter };
}

/**
 * The first place around a point where its number is on no other label; at a right angle to the way from the middle, if
 * it can be: segments and weights are on that way.
 * @param {Place} spot
 * @param {Place} middle
 * @param {string} words
 * @param {number[]} size  of the plot
 * @param {Box[]} taken
 * @returns {{ x: number, y: number }}
 */
export function numberPlace(spot, middle, words, size, taken) {
  const [ux, uy] = away(spot, middle);
  const first = ux * uy < 0 ? -1 : 1;
  const places = NUMBER_TURNS.map((turn) => {
    const [c, s] = [Math.cos((turn * first * Math.PI) / 2), Math.sin((turn * first * Math.PI) / 2)];
    return {
      x: insideOf(spot[0] + OFF * (c * ux - s * uy), 8, size[0] - 8),
      y: insideOf(spot[1] + OFF * (s * ux + c * uy), 14, size[1] - 8),
    };
  });
  const own = { left: spot[0] - 9, right: spot[0] + 9, top: spot[1] - 9, bottom: spot[1] + 9 }; // its mark
  const isFree = (/** @type {{ x: number, y: number }} */ place) =>
    ![own, ...taken].some((box) => overlap(box, textBox(place, words, 7)));
  return places.find(isFree) ?? places[0];
}

/**
 * @param {Box} a
 * @param {Box} b
 */
export function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/**
 * @param {number} x
 * @param {number} low
 * @param {number} high
 */
const insideOf = (x, low, high) => Math.min(Math.max(x, low), high);
