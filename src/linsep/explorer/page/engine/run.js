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
 * What learns: the score of a row, the update at it (false ends the run), and after a clean pass the first row that only
 * rounding calls right.
 * @typedef {{ score: (row: number) => number, correct: (row: number, score: number) => boolean, missed: () => { row: number, exact: number } | null }} Learner
 */
/** @typedef {{ updates: number, walked: number, clean: number, converged: boolean }} WalkState */
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
  const columns = points[0].map((_, j) => Float64Array.from(points, (point) => point[j]));
  const [xs, ys] = columns;
  /** @type {RunState} */
  const state = { w: columns.map(() => 0), b: 0, updates: 0, walked: 0, clean: 0, converged: false };
  const flat = (/** @type {number} */ i) => state.w[0] * xs[i] + state.w[1] * ys[i] + state.b;
  const wide = (/** @type {number} */ i) =>
    columns.reduce((sum, column, j) => sum + state.w[j] * column[i], 0) + state.b;
  /** @type {Learner} */
  const learner = {
    score: columns.length === 2 ? flat : wide,
    correct(i, score) {
      if (!watcher.mistake(state, i, score)) return false;
      state.w = state.w.map((value, j) => value + labels[i] * columns[j][i]);
      if (bias) state.b += labels[i];
      return true;
    },
    missed() {
      for (let i = 0; i < points.length; i += 1) {
        const exact = signedScore(state.w, points[i], state.b);
        if (labels[i] * exact <= 0) return { row: i, exact };
      }
      return null;
    },
  };
  walkInOrder(learner, labels, { order, seed, rows: watcher.rows }, state, () => watcher.pass?.(state));
  return state;
}

/**
 * The orders: which row is looked at next.
 * @param {Learner} learner
 * @param {number[]} labels
 * @param {{ order: Order, seed: number, rows?: number }} options
 * @param {WalkState} state
 * @param {() => void} endPass  called after a pass that was neither clean nor the last
 */
export function walkInOrder(learner, labels, { order, seed, rows = Infinity }, state, endPass) {
  const count = labels.length;
  const signs = Float64Array.from(labels);
  const random = order === "shuffled" ? generator(seed) : () => 0;
  let isOver = false;

  const correct = (/** @type {number} */ i, /** @type {number} */ score) => {
    isOver = !learner.correct(i, score);
    if (isOver) return;
    state.updates += 1;
    state.clean = 0;
  };

  // One walk over the rows; whether it reached the last one without a mistake.
  const walk = () => {
    const places = order === "shuffled" ? shuffled(random, count) : null;
    const before = state.updates;
    const stop = Math.min(count, rows - state.walked);
    for (let k = 0; k < stop; k += 1) {
      const first = k;
      let [i, score] = [-1, 0];
      for (; k < stop; k += 1) {
        i = places ? places[k] : k;
        score = learner.score(i);
        if (signs[i] * score <= 0) break;
      }
      state.clean += k - first;
      state.walked += k - first;
      if (k === stop) break;
      correct(i, score);
      if (isOver) return false;
      state.walked += 1;
      if (order === "restart") return false;
    }
    return state.updates === before && stop === count;
  };

  // One update at the row with the smallest y·score; whether there was no mistake.
  const correctWorst = () => {
    const { worst, least } = worstRow(learner, signs);
    state.walked += count;
    if (least > 0) return true;
    correct(worst, labels[worst] * least);
    return false;
  };

  while (!state.converged && !isOver && state.walked < rows) {
    if (order === "worst" ? correctWorst() : walk()) {
      const missed = learner.missed();
      if (missed) correct(missed.row, missed.exact);
      state.converged = !missed;
    }
    if (!state.converged && !isOver && state.walked < rows) endPass();
  }
}

/**
 * The row with the smallest y·score, the first of equals.
 * @param {Learner} learner
 * @param {Float64Array} signs
 */
function worstRow(learner, signs) {
  let [worst, least] = [-1, Infinity];
  for (let i = 0; i < signs.length; i += 1) {
    const gap = signs[i] * learner.score(i);
    if (gap < least) [worst, least] = [i, gap];
  }
  return { worst, least };
}
