// @ts-check
// The kernel Perceptron: rows are met through K(x, x') alone, and the score of a place is the sum of alpha·y·K over the
// rows, alpha the mistakes made on each (kernel_perceptron.py). Novikoff's theorem holds with R² = max K(x, x).
import { walkInOrder } from "./run.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {{ kind: "poly" | "gauss", value: number }} Kernel  (x·x' + 1)^value, or exp(-|x - x'|²/(2·value²)) */
/** @typedef {(p: Point, q: Point) => number} Product */

/**
 * @param {Kernel} kernel
 * @returns {Product}
 */
export function productOf({ kind, value }) {
  if (kind === "poly") return (p, q) => (p[0] * q[0] + p[1] * q[1] + 1) ** value;
  return (p, q) => Math.exp(-((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) / (2 * value * value));
}

/**
 * The run in the kernel's space: no w, but every row that was corrected, and |W| there.
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {{ order: import("./run.js").Order, seed: number, updates: number, kernel: Kernel }} options
 */
export function runKernel(points, labels, { order, seed, updates, kernel }) {
  const product = productOf(kernel);
  const scores = new Float64Array(points.length);
  /** @type {{ row: number[], label: number[], score: number[], norm: number[] }} */
  const steps = { row: [], label: [], score: [], norm: [] };
  let square = 0;
  const state = { updates: 0, walked: 0, clean: 0, converged: false };
  const learner = {
    score: (/** @type {number} */ i) => scores[i],
    correct(/** @type {number} */ i, /** @type {number} */ score) {
      if (steps.row.length === updates) return false;
      square += 2 * labels[i] * score + product(points[i], points[i]); // |W + y·phi|²
      for (let j = 0; j < points.length; j += 1) scores[j] += labels[i] * product(points[i], points[j]);
      steps.row.push(i);
      steps.label.push(labels[i]);
      steps.score.push(score);
      steps.norm.push(Math.sqrt(Math.max(square, 0)));
      return true;
    },
    missed: () => null,
  };
  walkInOrder(learner, labels, { order, seed }, state, () => {});
  const radius = Math.sqrt(Math.max(...points.map((point) => product(point, point))));
  return { steps: { ...steps, converged: state.converged, w: [], b: [], along: null }, radius };
}

/**
 * The score of any place after some updates.
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {Map<number, number>} counts  alpha of each row
 * @param {Kernel} kernel
 */
export function kernelScore(points, labels, counts, kernel) {
  const product = productOf(kernel);
  const used = [...counts].map(([row, count]) => ({ point: points[row], weight: count * labels[row] }));
  return (/** @type {Point} */ place) =>
    used.reduce((sum, { point, weight }) => sum + weight * product(point, place), 0);
}
