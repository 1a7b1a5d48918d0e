// @ts-check
// Can a line separate the points? Exactly: a line with its margin, or the few rows that forbid one.
//
// With Z = y·(x, 1), or y·x for lines through the origin, a line W separates when Z·W > 0 for every row. Either the hull
// of the Z misses the origin, or some of them mix to it with positive weights, and then no W is right for all of those.
import {
  coprime,
  dot,
  isZero,
  nearest,
  orthogonal,
  proportions,
  rootAbove,
  rootBelow,
  roundedUp,
  wholeNumbers,
} from "./exact.js";
import { cloudOf, nearestPoint } from "./min-norm.js";

/** @typedef {import("./exact.js").Vector} Vector */
/** @typedef {number[]} Point  two coordinates, and any features */
/**
 * Points and labels in exact numbers: `places` are the points, `rows` the Z, all in units of 2^power.
 * @typedef {{ points: Point[], labels: number[], bias: boolean, power: number, places: Vector[], rows: Vector[] }} Scene
 */
/** @typedef {{ w: number[], b: number }} Line */
/** @typedef {Line & { margin: number, rows: number[] }} Band */
/** @typedef {{ radius: number, gamma: number, bound: number | null, direction: number[] }} Bound */
/** @typedef {{ rows: number[], weights: Vector }} Obstruction */
/** @typedef {{ rows: number[], isFlat: boolean }} Spread  isFlat: some line has every row on it */
/** @typedef {{ kind: "separable" | "touching" | "overlapping", nearest: import("./min-norm.js").Nearest | null, obstruction: Obstruction | null, weak: Vector | null, spread: Spread | null }} Verdict */

/**
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {boolean} bias
 * @returns {Scene}
 */
export function sceneOf(points, labels, bias) {
  const { wholes, power } = wholeNumbers(points.flat());
  const width = points[0].length;
  const places = points.map((_, i) => wholes.slice(width * i, width * (i + 1)));
  const one = 1n << BigInt(-power); // wholeNumbers never lifts the unit above 1
  const rows = places.map((place, i) => {
    const z = bias ? [...place, one] : place;
    return labels[i] > 0 ? z : z.map((value) => -value);
  });
  return { points, labels, bias, power, places, rows };
}

/**
 * @param {Scene} scene
 * @returns {Verdict}
 */
export function decide(scene) {
  const found = nearestPoint([signedCloud(scene)]);
  if (!isZero(found.point)) return { kind: "separable", nearest: found, obstruction: null, weak: null, spread: null };
  const obstruction = { rows: found.corners.map(({ at }) => at[0]), weights: found.weights };
  const { weak, spread } = weakSeparator(scene.rows, obstruction.rows);
  return { kind: weak ? "touching" : "overlapping", nearest: null, obstruction, weak, spread };
}

/** @param {Scene} scene */
function signedCloud({ points, labels, bias, rows }) {
  const doubles = points.map((point, i) => (bias ? [...point, 1] : point).map((value) => labels[i] * value));
  return cloudOf(rows, doubles);
}

/**
 * A W with no row on its wrong side and some strictly on theirs; if there is none, a spread: rows that prove it.
 *
 * It must be orthogonal to the rows of an obstruction. In the space that is left either the other rows have a
 * separator, or there is a further obstruction, and less space. In the end none is left: a W with no row of these
 * obstructions on its wrong side has all of them on it, and so every row.
 * @param {Vector[]} rows
 * @param {number[]} forbidden
 * @returns {{ weak: Vector | null, spread: Spread | null }}
 */
function weakSeparator(rows, forbidden) {
  const basis = orthogonal(
    forbidden.map((i) => rows[i]),
    rows[0].length,
  );
  const inside = rows.map((row) => basis.map((direction) => dot(direction, row)));
  const rest = rows.map((_, i) => i).filter((i) => !isZero(inside[i]));
  if (!rest.length) return { weak: null, spread: { rows: forbidden, isFlat: basis.length > 0 } };
  const found = nearestPoint([cloudOf(rest.map((i) => inside[i]))]);
  if (isZero(found.point)) return weakSeparator(rows, [...forbidden, ...found.corners.map(({ at }) => rest[at[0]])]);
  const weak = rows[0].map((_, j) => basis.reduce((sum, direction, n) => sum + found.point[n] * direction[j], 0n));
  return { weak: coprime(weak), spread: null };
}

/**
 * Exact weights as doubles with |w| = 1.
 * @param {Vector} weights
 * @param {boolean} bias
 * @returns {Line}
 */
export function lineAlong(weights, bias) {
  const doubles = proportions(weights);
  const width = doubles.length - Number(bias);
  const length = Math.hypot(...doubles.slice(0, width)) || 1;
  return { w: doubles.slice(0, width).map((value) => value / length), b: bias ? doubles[width] / length : 0 };
}

/**
 * R, gamma, (R/gamma)² and u* of Novikoff's theorem, R and the bound rounded up, gamma down.
 * @param {Scene} scene
 * @param {import("./min-norm.js").Nearest} found  not 0
 * @returns {Bound}
 */
export function novikoff(scene, { point, total }) {
  const square = dot(point, point);
  const longest = scene.rows.map((row) => dot(row, row)).reduce((most, own) => (own > most ? own : most));
  const unit = 1n << BigInt(-2 * scene.power);
  const bound = roundedUp(longest * total * total, square);
  const direction = proportions(point);
  const length = Math.hypot(...direction);
  return {
    radius: rootAbove(longest, unit),
    gamma: rootBelow(square, total * total * unit),
    bound: Number.isFinite(bound) ? bound : null,
    direction: direction.map((value) => value / length),
  };
}

/**
 * The widest band between the classes, and every row on its edge.
 * @param {Scene} scene
 * @param {import("./min-norm.js").Nearest} found
 * @returns {Band}
 */
export function widestBand(scene, found) {
  if (!scene.bias) return bandThroughOrigin(scene, found);
  const [plus, minus] = [1, -1].map((label) => scene.labels.flatMap((own, i) => (own === label ? [i] : [])));
  const cloud = (/** @type {number[]} */ rows, /** @type {number} */ sign) =>
    cloudOf(
      rows.map((i) => scene.places[i].map((value) => BigInt(sign) * value)),
      rows.map((i) => scene.points[i].map((value) => sign * value)),
    );
  const { point, total } = nearestPoint([cloud(plus, 1), cloud(minus, -1)]);
  const scores = scene.places.map((place) => dot(point, place));
  const low = plus.map((i) => scores[i]).reduce((least, own) => (own < least ? own : least));
  const high = minus.map((i) => scores[i]).reduce((most, own) => (own > most ? own : most));
  const unit = 1n << BigInt(-scene.power);
  const square = dot(point, point);
  // b = -(low + high)/2 for w = point; both by |point|.
  const middle = nearest(-(low + high), 2n * unit);
  const scale = rootBelow(square, 1n);
  return {
    w: lineAlong(point, false).w,
    b: Number.isFinite(scale) && scale > 0 ? middle / scale : 0,
    margin: rootBelow(square, 4n * total * total * unit * unit),
    rows: scene.labels.flatMap((label, i) => (scores[i] === (label > 0 ? low : high) ? [i] : [])),
  };
}

/**
 * @param {Scene} scene
 * @param {import("./min-norm.js").Nearest} found
 * @returns {Band}
 */
function bandThroughOrigin(scene, { point, total }) {
  const scores = scene.rows.map((row) => dot(point, row));
  const least = scores.reduce((low, own) => (own < low ? own : low));
  const unit = 1n << BigInt(-2 * scene.power);
  const { w } = lineAlong(point, false);
  const rows = scores.flatMap((own, i) => (own === least ? [i] : []));
  return { w, b: 0, margin: rootBelow(dot(point, point), total * total * unit), rows };
}
