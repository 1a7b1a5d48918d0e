// @ts-check
// Everything the page shows about points of the plane: the run, the verdict with its proof, and the bound.
import { fractionText, nearest } from "./exact.js";
import { lifting } from "./features.js";
import { runKernel } from "./kernel.js";
import { runPerceptron } from "./run.js";
import { decide, lineAlong, novikoff, sceneOf, widestBand } from "./verdict.js";

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {import("./features.js").Feature} Feature */
/** @typedef {import("./run.js").RunOptions & { points: Point[], labels: number[], updates: number, features?: Feature[], kernel?: import("./kernel.js").Kernel | null }} Question */
/** @typedef {{ text: string, value: number, exact: boolean }} Shown  a fraction as people read it, and for drawing */
/** @typedef {{ rows: number[], weights: Shown[], point: Shown[] | null, count?: number, definite?: boolean }} ShownObstruction  of wide rows `count` are not all sent */
/**
 * One entry per update in each list; `along` is W·u*, `norm` is |W|.
 * @typedef {{ converged: boolean, row: number[], label: number[], score: number[], w: Point[], b: number[], norm: number[], along: number[] | null }} Steps
 */
/**
 * @typedef {object} Answer
 * @property {Steps} steps
 * @property {number} radius
 * @property {{ kind: "separable" | "touching" | "overlapping", text: string }} verdict
 * @property {import("./verdict.js").Bound | null} bound
 * @property {import("./verdict.js").Band | null} widest
 * @property {import("./verdict.js").Line | null} weak
 * @property {ShownObstruction | null} obstruction
 * @property {import("./verdict.js").Spread | null} spread
 */

export const ONE_CLASS = "Add points of both classes, + and −: there is nothing to separate yet.";
const LONGEST_FRACTION = 24; // characters: a longer one is shown rounded, and said to be

/**
 * @param {Question} question
 * @returns {Answer}
 */
export function explore({ features = [], kernel = null, ...given }) {
  const { labels, bias } = given;
  if (new Set(labels).size < 2) throw new RangeError(ONE_CLASS);
  if (kernel) return withKernel(given, kernel);
  const question = { ...given, points: given.points.map(lifting(given.points, features)) };
  const { points } = question;
  const scene = sceneOf(points, labels, bias);
  const verdict = decide(scene);
  const bound = verdict.nearest && novikoff(scene, verdict.nearest);
  return {
    steps: stepsOf(question, bound?.direction ?? null),
    radius: Math.sqrt(Math.max(...points.map((point) => point.reduce((sum, x) => sum + x * x, 0))) + Number(bias)),
    verdict: { kind: verdict.kind, text: "" },
    bound,
    widest: verdict.nearest && widestBand(scene, verdict.nearest),
    weak: verdict.weak && lineAlong(verdict.weak, bias),
    obstruction: verdict.obstruction && shownObstruction(scene, verdict.obstruction),
    spread: verdict.spread,
  };
}

/**
 * The run in the kernel's space. The verdict stays the one about lines: the proof that a kernel is needed, or is not.
 * @param {Question} question
 * @param {import("./kernel.js").Kernel} kernel
 * @returns {Answer}
 */
function withKernel(question, kernel) {
  const about = explore({ ...question, updates: 0 });
  const { steps, radius } = runKernel(question.points, question.labels, { ...question, kernel });
  return { ...about, steps, radius, bound: null };
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
      const w = state.w.map((value, j) => value + y * points[row][j]);
      const b = options.bias ? state.b + y : 0;
      steps.row.push(row);
      steps.label.push(y);
      steps.score.push(score);
      steps.w.push(w);
      steps.b.push(b);
      steps.norm.push(Math.sqrt(w.reduce((sum, x) => sum + x * x, 0) + b * b));
      if (direction) steps.along?.push(w.reduce((sum, x, j) => sum + x * direction[j], b * (direction[w.length] ?? 0)));
      return true;
    },
  });
  return { ...steps, converged: end.converged };
}

/**
 * The first weights that come back, at the same row: from there on a run that draws no random numbers repeats itself,
 * after update `start` every `length` updates.
 * @param {Steps} steps
 * @param {string} order
 * @returns {{ start: number, length: number } | null}
 */
export function cycleOf({ row, w, b, converged }, order) {
  if (converged || order === "shuffled" || !w.length) return null;
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
 * @returns {ShownObstruction}
 */
function shownObstruction({ labels, places, bias, power }, { rows, weights }) {
  const mine = rows.map((row, n) => (!bias || labels[row] > 0 ? weights[n] : 0n));
  const total = mine.reduce((sum, weight) => sum + weight, 0n);
  const bottom = total << BigInt(-power);
  const point = places[0].map((_, j) =>
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
