// @ts-check
// Four ways to keep what a run saw: the last weights, their average, their vote, the best (kept_weights.py).
import { signedScore } from "./exact.js";
import { runPerceptron } from "./run.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {{ w: Point, b: number }} Weights */
/** @typedef {{ weights: Weights, run: number }} Candidate  weights, and how many rows they went without a mistake */
/** @typedef {{ points: Point[], labels: number[] } & import("./run.js").RunOptions} KeepQuestion */
/** @typedef {{ keep: "last" | "average" | "vote" | "best", wrong: number, w: Point, b: number, grid: string | null }} Way */
/** @typedef {{ row: number, born: number }} Born  the row that made a vector, and the rows walked before */
/** @typedef {{ label: number, born: number, point: Point }} Voter */

const PASSES = 50;
const CANDIDATES = 4;
const CELLS = 64; // along each side of the grid on which a vote is drawn
const MOST_VOTERS = 1 << 16; // the latest vectors of a longer run

/**
 * The four ways after at most `PASSES` passes; `box` is what the vote is drawn for: left, right, bottom, top.
 * @param {KeepQuestion} question
 * @param {number[] | null} [box]
 */
export function keeps({ points, labels, order, bias, seed }, box = null) {
  const walk = order === "shuffled" ? "shuffled" : "cyclic";
  const lag = { w: [0, 0], b: 0 }; // the updates, each times the rows walked before it
  const pocket = newPocket(points, labels);
  /** @type {Born[]} */
  const log = [];
  const end = runPerceptron(
    points,
    labels,
    { order: walk, bias, seed },
    {
      rows: PASSES * points.length,
      mistake(state, row) {
        const times = state.walked * labels[row];
        lag.w = lag.w.map((value, j) => value + times * points[row][j]);
        if (bias) lag.b += times;
        pocket.hold({ w: state.w, b: state.b }, state.clean);
        log.push({ row, born: state.walked });
        return true;
      },
      pass: (state) => pocket.endPass(state),
    },
  );
  pocket.end(end);
  const last = { w: end.w, b: end.b };
  const average = {
    w: end.w.map((value, j) => value - lag.w[j] / end.walked),
    b: end.b - lag.b / end.walked,
  };
  const ballot = ballotOf(log, points, labels, bias, end.walked);
  const wrong = (/** @type {Weights} */ { w, b }) => countWrong(points, labels, (point) => signedScore(w, point, b));
  return {
    order: walk,
    passes: PASSES,
    updates: end.updates,
    ways: /** @type {Way[]} */ ([
      { keep: "last", wrong: wrong(last), ...last, grid: null },
      { keep: "average", wrong: wrong(average), ...average, grid: null },
      { keep: "vote", wrong: countVoted(points, labels, ballot), ...last, grid: box && gridOfVotes(ballot, box) },
      { keep: "best", wrong: wrong(pocket.best()), ...pocket.best(), grid: null },
    ]),
  };
}

/**
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {(point: Point) => number} score
 */
function countWrong(points, labels, score) {
  return points.reduce((count, point, i) => count + Number(score(point) > 0 !== labels[i] > 0), 0);
}

/**
 * The weights with the fewest mistakes of those that were weighed (Gallant 1990).
 * @param {Point[]} points
 * @param {number[]} labels
 */
function newPocket(points, labels) {
  /** @type {Weights} */
  let best = { w: [0, 0], b: 0 };
  let mistakes = points.length;
  /** @type {Candidate[]} */
  let held = [];
  let seen = { passes: 0, updates: 0, fewest: Infinity, longest: -1 };

  const hold = (/** @type {Weights} */ weights, /** @type {number} */ run) => {
    if (run <= (held.length === CANDIDATES ? held[CANDIDATES - 1].run : -1)) return;
    held = [...held, { weights, run }].sort((p, q) => q.run - p.run).slice(0, CANDIDATES);
  };
  const weigh = () => {
    for (const { weights } of held) {
      const { w, b } = weights;
      const count = points.reduce((sum, [x, y], i) => sum + Number(labels[i] * (w[0] * x + w[1] * y + b) <= 0), 0);
      if (count < mistakes) [best, mistakes] = [weights, count];
    }
    held = [];
  };
  return {
    hold,
    best: () => best,
    /** @param {import("./run.js").RunState} state */
    endPass({ w, b, clean, updates, walked }) {
      const passes = Math.floor(walked / points.length);
      if (passes <= seen.passes) return;
      hold({ w, b }, clean);
      const [made, longest] = [updates - seen.updates, held[0].run];
      if (seen.passes > 0 && (made <= seen.fewest || longest > seen.longest)) weigh();
      seen = { passes, updates, fewest: Math.min(seen.fewest, made), longest: Math.max(seen.longest, longest) };
    },
    /** @param {import("./run.js").RunState} state */
    end({ w, b, clean, converged }) {
      if (!converged) held.push({ weights: { w, b }, run: clean });
      if (converged) best = { w, b };
      else weigh();
    },
  };
}

/**
 * What votes: the first vector, and each row that made the next one; each with as many voices as rows it survived.
 * @param {Born[]} log
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {boolean} bias
 * @param {number} walked
 */
function ballotOf(log, points, labels, bias, walked) {
  const early = log.slice(0, Math.max(0, log.length - MOST_VOTERS));
  const first = { w: [0, 0], b: 0 };
  for (const { row } of early) {
    first.w = first.w.map((value, j) => value + labels[row] * points[row][j]);
    first.b += bias ? labels[row] : 0;
  }
  const late = log.slice(early.length);
  const moments = [early.length ? early[early.length - 1].born : 0, ...late.map(({ born }) => born), walked];
  return {
    first,
    voices: Float64Array.from({ length: moments.length - 1 }, (_, i) => moments[i + 1] - moments[i]),
    xs: Float64Array.from(late, ({ row }) => points[row][0]),
    ys: Float64Array.from(late, ({ row }) => points[row][1]),
    signs: Float64Array.from(late, ({ row }) => labels[row]),
    one: bias ? 1 : 0,
  };
}

/**
 * The voices for + minus those for −, at a place. A vector whose score is 0 has no opinion.
 * @param {ReturnType<typeof ballotOf>} ballot
 * @param {number[]} place
 */
function votesAt({ first, voices, xs, ys, signs, one }, [x, y]) {
  let score = first.w[0] * x + first.w[1] * y + first.b;
  let votes = voices[0] * Math.sign(score);
  for (let j = 0; j < xs.length; j += 1) {
    score += signs[j] * (xs[j] * x + ys[j] * y + one);
    votes += score > 0 ? voices[j + 1] : score < 0 ? -voices[j + 1] : 0;
  }
  return votes;
}

/**
 * @param {Point[]} points
 * @param {number[]} labels
 * @param {ReturnType<typeof ballotOf>} ballot
 */
function countVoted(points, labels, ballot) {
  return countWrong(points, labels, (point) => votesAt(ballot, point));
}

/**
 * The vote in the middle of each cell, a + or a -, from the bottom up.
 * @param {ReturnType<typeof ballotOf>} ballot
 * @param {number[]} box
 */
function gridOfVotes(ballot, [left, right, bottom, top]) {
  const middle = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ i) =>
    low + ((high - low) * (2 * i + 1)) / (2 * CELLS);
  let cells = "";
  for (let i = 0; i < CELLS * CELLS; i += 1) {
    const place = [middle(left, right, i % CELLS), middle(bottom, top, Math.floor(i / CELLS))];
    cells += votesAt(ballot, place) > 0 ? "+" : "-";
  }
  return cells;
}
