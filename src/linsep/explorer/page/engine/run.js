// @ts-check
// The Perceptron's run: while some row has y·(w·x + b) <= 0, w += y·x and b += y. In the library's orders, with its
// rounding and its random numbers, so that a run makes the same updates here and there.
import { signedScore } from "./exact.js";
import { generator, shuffled } from "./random.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {"cyclic" | "restart" | "shuffled" | "worst"} Order */
/** @typedef {{ order: Order, bias: boolean, seed: number }} RunOptions */
/**
 * Where a run stands. `walked` rows were looked at, the last `clean` of them without a mistake.
 * @typedef {{ w: Point, b: number, updates: number, walked: number, clean: number, converged: boolean }} RunState
 */
/**
 * Who looks on: at each mistake before it is corrected (false ends the run), and after each pass that was not clean.
 * @typedef {{ mistake: (state: RunState, row: number, score: number) => boolean, pass?: (state: RunState) => void, rows?: number }} Watcher
 */

/**
 * Run until a pass is clean, until the watcher has seen enough, or until `rows` rows were looked at.
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {RunOptions} options
 * @param {Watcher} watcher
 * @returns {RunState}
 */
export function runPerceptron(points, labels, { order, bias, seed }, watcher) {
  const xs = Float64Array.from(points, (point) => point[0]);
  const ys = Float64Array.from(points, (point) => point[1]);
  const signs = Float64Array.from(labels);
  const random = order === "shuffled" ? generator(seed) : () => 0;
  const most = watcher.rows ?? Infinity;
  /** @type {RunState} */
  const state = { w: [0, 0], b: 0, updates: 0, walked: 0, clean: 0, converged: false };
  let isOver = false;

  const correct = (/** @type {number} */ i, /** @type {number} */ found) => {
    if (!watcher.mistake(state, i, found)) {
      isOver = true;
      return;
    }
    state.w = [state.w[0] + labels[i] * xs[i], state.w[1] + labels[i] * ys[i]];
    if (bias) state.b += labels[i];
    state.updates += 1;
    state.clean = 0;
  };

  // One walk over the rows; whether it reached the last one without a mistake.
  const walk = () => {
    const places = order === "shuffled" ? shuffled(random, points.length) : null;
    const before = state.updates;
    const stop = Math.min(points.length, most - state.walked);
    for (let k = 0; k < stop; k += 1) {
      const { w, b } = state;
      const first = k;
      let [i, found] = [-1, 0];
      for (; k < stop; k += 1) {
        i = places ? places[k] : k;
        found = w[0] * xs[i] + w[1] * ys[i] + b;
        if (signs[i] * found <= 0) break;
      }
      state.clean += k - first;
      state.walked += k - first;
      if (k === stop) break;
      correct(i, found);
      if (isOver) return false;
      state.walked += 1;
      if (order === "restart") return false;
    }
    return state.updates === before && stop === points.length;
  };

  // One update at the row with the smallest y·score; whether there was no mistake.
  const correctWorst = () => {
    const { w, b } = state;
    let worst = -1;
    let least = Infinity;
    for (let i = 0; i < xs.length; i += 1) {
      const gap = signs[i] * (w[0] * xs[i] + w[1] * ys[i] + b);
      if (gap < least) {
        worst = i;
        least = gap;
      }
    }
    state.walked += points.length;
    if (least > 0) return true;
    correct(worst, labels[worst] * least);
    return false;
  };

  // After a clean pass: the first row that only rounding calls right.
  const roundedAway = () => {
    const { w, b } = state;
    for (let i = 0; i < xs.length; i += 1) {
      const exact = signedScore(w, points[i], b);
      if (labels[i] * exact <= 0) return { row: i, exact };
    }
    return null;
  };

  while (!state.converged && !isOver && state.walked < most) {
    if (order === "worst" ? correctWorst() : walk()) {
      const missed = roundedAway();
      if (missed) correct(missed.row, missed.exact);
      state.converged = !missed;
    }
    if (!state.converged && !isOver && state.walked < most) watcher.pass?.(state);
  }
  return state;
}
