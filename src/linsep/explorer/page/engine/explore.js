// @ts-check
// Everything the page shows about points of the plane: the run, the verdict with its proof, and the bound.
import { fractionText, nearest } from "./exact.js";
import { runPerceptron } from "./run.js";
import { decide, lineAlong, novikoff, sceneOf, widestBand } from "./verdict.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {import("./run.js").RunOptions & { points: Point[], labels: number[], updates: number }} Question */
/** @typedef {{ text: string, value: number, exact: boolean }} Shown  a fraction as people read it, and for drawing */
/** @typedef {{ rows: number[], weights: Shown[], point: Shown[] | null, strict: boolean }} ShownObstruction */
/**
 * One entry per update in each list; `along` is W·u*, `norm` is |W|.
 * @typedef {{ converged: boolean, row: number[], label: number[], score: number[], w: Point[], b: number[], norm: number[], along: number[] | null }} Steps
 */
/**
 * @typedef {object} Answer
 * @property {Steps} steps
 * @property {{ start: number, length: number } | null} cycle  after update `start` the run repeats every `length` updates
 * @property {number} radius
 * @property {{ kind: "separable" | "touching" | "overlapping", text: string }} verdict
 * @property {import("./verdict.js").Bound | null} bound
 * @property {import("./verdict.js").Band | null} widest
 * @property {import("./verdict.js").Line | null} weak
 * @property {ShownObstruction | null} obstruction
 */

export const ONE_CLASS = "Add points of both classes, + and −: there is nothing to separate yet.";
const LONGEST_FRACTION = 24; // characters: a longer one is shown rounded, and said to be

/**
 * @param {Question} question
 * @returns {Answer}
 */
export function explore(question) {
  const { points, labels, bias } = question;
  if (new Set(labels).size < 2) throw new RangeError(ONE_CLASS);
  const scene = sceneOf(points, labels, bias);
  const verdict = decide(scene);
  const bound = verdict.nearest && novikoff(scene, verdict.nearest);
  const steps = stepsOf(question, bound?.direction ?? null);
  return {
    steps,
    cycle: steps.converged ? null : cycleOf(steps, question.order),
    radius: Math.sqrt(Math.max(...points.map(([x, y]) => x * x + y * y)) + Number(bias)),
    verdict: { kind: verdict.kind, text: "" },
    bound,
    widest: verdict.nearest && widestBand(scene, verdict.nearest),
    weak: verdict.weak && lineAlong(verdict.weak, bias),
    obstruction: verdict.obstruction && shownObstruction(scene, verdict.obstruction, verdict.kind),
  };
}

/**
 * @param {Question} question
 * @param {number[] | null} direction  u*
 * @returns {Steps}
 */
function stepsOf({ points, labels, updates, ...options }, direction) {
  /** @type {Steps} */
  const steps = { converged: false, row: [], label: [], score: [], w: [], b: [], norm: [], along: direction && [] };
  const end = runPerceptron(points, labels, options, {
    mistake(state, row, score) {
      if (state.updates === updates) return false;
      const y = labels[row];
      const w = /** @type {Point} */ ([state.w[0] + y * points[row][0], state.w[1] + y * points[row][1]]);
      const b = options.bias ? state.b + y : 0;
      steps.row.push(row);
      steps.label.push(y);
      steps.score.push(score);
      steps.w.push(w);
      steps.b.push(b);
      steps.norm.push(Math.sqrt(w[0] * w[0] + w[1] * w[1] + b * b));
      if (direction) steps.along?.push(w[0] * direction[0] + w[1] * direction[1] + b * (direction[2] ?? 0));
      return true;
    },
  });
  return { ...steps, converged: end.converged };
}

/**
 * The first weights that come back, at the same row: from there on a run that draws no random numbers repeats itself.
 * @param {Steps} steps
 * @param {string} order
 */
function cycleOf({ row, w, b }, order) {
  if (order === "shuffled") return null;
  const seen = new Map();
  for (let k = 0; k < row.length; k += 1) {
    const key = `${order === "cyclic" ? row[k] : ""} ${w[k]} ${b[k]}`;
    if (seen.has(key)) return { start: seen.get(key) + 1, length: k - seen.get(key) };
    seen.set(key, k);
  }
  return null;
}

/**
 * With bias, the weights of each class sum to 1 and mix it to the common point; without, all of them sum to 1.
 * @param {import("./verdict.js").Scene} scene
 * @param {import("./verdict.js").Obstruction} found
 * @param {string} kind
 * @returns {ShownObstruction}
 */
function shownObstruction({ labels, places, bias, power }, { rows, weights }, kind) {
  const mine = rows.map((row, n) => (!bias || labels[row] > 0 ? weights[n] : 0n));
  const total = mine.reduce((sum, weight) => sum + weight, 0n);
  const bottom = total << BigInt(-power);
  const point = [0, 1].map((j) =>
    shown(
      rows.reduce((sum, row, n) => sum + mine[n] * places[row][j], 0n),
      bottom,
    ),
  );
  const order = rows.map((_, n) => n).sort((p, q) => rows[p] - rows[q]);
  return {
    rows: order.map((n) => rows[n]),
    weights: order.map((n) => shown(weights[n], total)),
    point: bias ? point : null,
    strict: kind === "overlapping",
  };
}

/**
 * @param {bigint} top
 * @param {bigint} bottom
 * @returns {Shown}
 */
function shown(top, bottom) {
  const [text, value] = [fractionText(top, bottom), nearest(top, bottom)];
  const isShort = text.length <= LONGEST_FRACTION;
  return { text: isShort ? text : String(Number(value.toPrecision(6))), value, exact: isShort };
}
