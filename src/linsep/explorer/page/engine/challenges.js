// @ts-check
// Sets to be made by hand, and whether a set is one: each says what it wants and, of the points as they are, what is so.
import { explore } from "./explore.js";
import { fewestMistakes, MOST_SEARCHED } from "./fewest.js";
import { decide, sceneOf } from "./verdict.js";

/** @typedef {import("./explore.js").Question} Question */
/** @typedef {import("./explore.js").Answer} Answer */
/** @typedef {{ isDone: boolean, now: string }} Judgement */
/** @typedef {{ title: string, ask: string, judge: (question: Question, answer: Answer) => Judgement }} Challenge */

const LONG_RUN = 100; // updates
const FEW_POINTS = 6;
const MOST_TRIED = 12; // points of which every three are tried
const NO_LINE = { isDone: false, now: "No line separates them." };

/** @type {Record<string, Challenge>} */
export const CHALLENGES = {
  long: {
    title: "A long run",
    ask: `At most ${FEW_POINTS} points that a line separates, and more than ${LONG_RUN} updates.`,
    judge({ points }, { steps, verdict }) {
      const { length } = steps.row;
      const isSeparable = verdict.kind === "separable";
      const now = `The run makes ${steps.converged ? updates(length) : `${length} or more updates`}, ${counted(points)}.`;
      return isSeparable ? { isDone: points.length <= FEW_POINTS && length > LONG_RUN, now } : NO_LINE;
    },
  },
  tight: {
    title: "A tight bound",
    ask: "Four points whose run makes every update that the bound (R/γ)² allows.",
    judge({ points }, { steps, bound }) {
      if (!bound?.bound) return NO_LINE;
      const [made, allowed] = [steps.row.length, Math.floor(bound.bound * (1 + 1e-12))];
      const isDone = points.length === 4 && steps.converged && made === allowed;
      return { isDone, now: `The run makes ${made} of at most ${updates(allowed)}, ${counted(points)}.` };
    },
  },
  touching: {
    title: "A touching set",
    ask: "No line separates the classes, but one has no point on its wrong side, and not all points on it.",
    judge: (_, { verdict }) => ({ isDone: verdict.kind === "touching", now: `The classes are ${verdict.kind}.` }),
  },
  four: {
    title: "Four rows to prove it",
    ask: "No line separates the classes, though every three of the points can be separated.",
    judge({ points, labels, bias }, { verdict }) {
      if (verdict.kind === "separable") return { isDone: false, now: "A line separates them." };
      if (points.length > MOST_TRIED)
        return { isDone: false, now: `Use at most ${MOST_TRIED} points: every three are tried.` };
      const few = smallestProof(points, labels, bias);
      const already = few === 1 ? "One row proves it already." : `${few} rows prove it already.`;
      return { isDone: few > 3, now: few > 3 ? "Every proof needs four rows." : already };
    },
  },
  origin: {
    title: "Not through 0",
    ask: "A line separates the classes, but no line through the origin does.",
    judge({ points, labels }) {
      const kind = (/** @type {boolean} */ bias) => decide(sceneOf(points, labels, bias)).kind;
      const now = `With a bias they are ${kind(true)}, without one ${kind(false)}.`;
      return { isDone: kind(true) === "separable" && kind(false) !== "separable", now };
    },
  },
  order: {
    title: "The worst is not the best",
    ask: "Separable points on which the order “worst” makes more updates than “cyclic”.",
    judge(question, { verdict }) {
      if (verdict.kind !== "separable") return NO_LINE;
      const runs = /** @type {const} */ (["worst", "cyclic"]).map((order) => explore({ ...question, order }).steps);
      const [worst, cyclic] = runs.map(({ row }) => row.length);
      const now = `“worst” makes ${updates(worst)}, “cyclic” ${cyclic}.`;
      return { isDone: runs.every(({ converged }) => converged) && worst > cyclic, now };
    },
  },
  two: {
    title: "Two mistakes at least",
    ask: "Overlapping classes of which the best line leaves exactly two points on its wrong side or on it.",
    judge({ points, labels, bias }, { verdict }) {
      if (verdict.kind !== "overlapping") return { isDone: false, now: `The classes are ${verdict.kind}.` };
      if (points.length > MOST_SEARCHED) return { isDone: false, now: `Use at most ${MOST_SEARCHED} points.` };
      const { wrong } = fewestMistakes(points, labels, bias);
      return { isDone: wrong === 2, now: `The best line leaves ${wrong}.` };
    },
  },
  feature: {
    title: "Saved by a feature",
    ask: "No line separates the classes; with the column x₁·x₂ some hyperplane does. Not XOR: at least six points.",
    judge(question, _) {
      const kind = (/** @type {import("./features.js").Feature[]} */ features) =>
        explore({ ...question, kernel: null, features, updates: 0 }).verdict.kind;
      const now = `Without the column they are ${kind([])}, with it ${kind(["xy"])}, ${counted(question.points)}.`;
      const isSaved = kind([]) !== "separable" && kind(["xy"]) === "separable";
      return { isDone: isSaved && question.points.length >= 6, now };
    },
  },
};

/**
 * Challenges are about points and lines: features and kernels are left aside.
 * @param {string} name
 * @param {Question} question
 * @param {Answer} answer
 * @returns {Judgement}
 */
export function judged(name, question, answer) {
  if (!question.features?.length && !question.kernel) return CHALLENGES[name].judge(question, answer);
  const plain = { ...question, features: [], kernel: null };
  const { isDone, now } = CHALLENGES[name].judge(plain, explore(plain));
  return { isDone, now: `${now} Features and kernels do not count here.` };
}

/** @param {number} count */
const updates = (count) => `${count} update${count === 1 ? "" : "s"}`;

/** @param {unknown[]} points */
const counted = ({ length }) => `${length} points`;

/**
 * How many rows the shortest proof needs that no line exists: 1 to 3, or 4 for more.
 * @param {number[][]} points
 * @param {number[]} labels
 * @param {boolean} bias
 */
function smallestProof(points, labels, bias) {
  const rows = points.map((_, i) => i);
  const isProof = (/** @type {number[]} */ some) =>
    decide(
      sceneOf(
        some.map((i) => points[i]),
        some.map((i) => labels[i]),
        bias,
      ),
    ).kind !== "separable";
  for (const size of [1, 2, 3]) if (subsets(rows, size).some(isProof)) return size;
  return 4;
}

/**
 * @param {number[]} rows
 * @param {number} size
 * @returns {number[][]}
 */
function subsets(rows, size) {
  if (!size) return [[]];
  return rows.flatMap((row, n) => subsets(rows.slice(n + 1), size - 1).map((rest) => [row, ...rest]));
}
