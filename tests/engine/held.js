// @ts-check
// One answer of the library, held against the engine's: what differs, in words.

import { readFileSync } from "node:fs";
import { crc32, gunzipSync } from "node:zlib";
import { fractionText, isZero, next, orthogonal } from "../../src/linsep/explorer/page/engine/exact.js";
import { explore } from "../../src/linsep/explorer/page/engine/explore.js";
import { lifting } from "../../src/linsep/explorer/page/engine/features.js";
import { fewestMistakes } from "../../src/linsep/explorer/page/engine/fewest.js";
import { keeps } from "../../src/linsep/explorer/page/engine/keep.js";
import { scaledBy, scalingOf } from "../../src/linsep/explorer/page/engine/scaling.js";
import { decide, sceneOf } from "../../src/linsep/explorer/page/engine/verdict.js";

/** @param {string | URL} path */
export function recorded(path) {
  const lines = gunzipSync(readFileSync(path)).toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** @param {any} recordedAnswer */
export function differences({ set: _, says, degree = 0, ...question }) {
  /** @type {string[]} */
  const wrong = [];
  const hold = (/** @type {boolean} */ isHeld, /** @type {string} */ words) => isHeld || wrong.push(words);
  /** @type {any} */
  let answer;
  try {
    answer = explore(question);
  } catch (error) {
    return says.kind === "one class" ? [] : [`no answer: ${error}`];
  }
  hold(answer.verdict.kind === says.kind, `verdict ${answer.verdict.kind}, not ${says.kind}`);
  if (says.rows) {
    hold(String(answer.steps.row) === String(says.rows), "other steps");
    hold(answer.steps.converged === says.converged, "another end");
    hold(checksum(answer.steps) === says.weights, "other weights");
  }
  hold(scaledChecksum(question) === says.scaled, "scaled otherwise");
  wrong.push(...proofFaults(question, says));
  if (says.gamma) {
    const { gamma, radius, bound } = answer.bound;
    hold(isWithin(gamma, says.gamma), `gamma ${gamma}, not ${says.gamma}`);
    hold(isWithin(radius, says.radius), `radius ${radius}, not ${says.radius}`);
    hold(bound === says.bound || isWithin(bound, says.bound), `bound ${bound}, not ${says.bound}`);
    hold(isWithin(answer.widest.margin, says.margin), `margin ${answer.widest.margin}, not ${says.margin}`);
    hold(
      says.nearest.every((/** @type {number} */ i) => answer.widest.rows.includes(i)),
      "other rows at the edge",
    );
  }
  if (says.mistakes) wrong.push(...kernelFaults(question, degree, says.mistakes));
  if (typeof says.fewest === "number") {
    const { wrong: least } = fewestMistakes(question.points, question.labels, question.bias);
    hold(least === says.fewest, `${least} rows on the wrong side, not ${says.fewest}`);
  }
  if (says.keeps) wrong.push(...keepFaults(question, says.keeps));
  return wrong;
}

/**
 * Within an interval, or an ulp beside it.
 * @param {number} value
 * @param {[number, number]} interval
 */
function isWithin(value, [low, high]) {
  return value >= (low && next(low, -1)) && value <= next(high, 1);
}

/**
 * Of every weight, and of every score of two products: more of them are rounded in more than one way.
 * @param {any} steps
 */
function checksum({ row, score, w, b }) {
  const numbers = row.flatMap((/** @type {number} */ _, /** @type {number} */ k) =>
    w[k].length > 2 ? [...w[k], b[k]] : [score[k], ...w[k], b[k]],
  );
  return crc32(Buffer.from(Float64Array.from(numbers, (x) => x + 0).buffer));
}

/** @param {any} question */
function scaledChecksum({ points, bias }) {
  const numbers = points.flatMap(scaledBy(scalingOf(points, bias))).map((/** @type {number} */ x) => x + 0);
  return crc32(Buffer.from(Float64Array.from(numbers).buffer));
}

/**
 * What is wrong with the engine's own proof: its weights must be exact, whatever rows it names.
 * @param {any} question
 * @param {any} says
 */
function proofFaults({ points, labels, bias, features = [] }, says) {
  const scene = sceneOf(points.map(lifting(points, features)), labels, bias);
  const { kind, obstruction, weak, spread } = decide(scene);
  const product = (/** @type {bigint[]} */ a, /** @type {bigint[]} */ b) => a.reduce((sum, x, j) => sum + x * b[j], 0n);
  const wrong = [];
  if (obstruction) {
    const { rows, weights } = obstruction;
    const sums = scene.rows[0].map((_, j) => rows.reduce((sum, row, n) => sum + weights[n] * scene.rows[row][j], 0n));
    if (!sums.every((sum) => sum === 0n) || !weights.every((weight) => weight > 0n)) wrong.push("no obstruction");
    if (rows.length > scene.rows[0].length + 1) wrong.push("an obstruction of too many rows");
    wrong.push(...otherShares(scene, obstruction, says.obstruction));
  }
  if (weak) {
    const scores = scene.rows.map((row) => product(row, weak));
    if (scores.some((score) => score < 0n) || scores.every((score) => score === 0n)) wrong.push("no weak separator");
  }
  if ((kind === "overlapping") !== Boolean(spread)) wrong.push("overlapping without a spread, or the other way round");
  if (spread) wrong.push(...spreadFaults(scene, spread));
  return kind === "touching" && !weak ? [...wrong, "touching without a line"] : wrong;
}

/**
 * The rows of a spread overlap by themselves, and a line with all of them on it has every row on it.
 * @param {import("../../src/linsep/explorer/page/engine/verdict.js").Scene} scene
 * @param {import("../../src/linsep/explorer/page/engine/verdict.js").Spread} spread
 */
function spreadFaults({ points, labels, bias, rows }, spread) {
  const own = spread.rows;
  const width = rows[0].length;
  const alone = decide(
    sceneOf(
      own.map((row) => points[row]),
      own.map((row) => labels[row]),
      bias,
    ),
  );
  const left = orthogonal(
    own.map((row) => rows[row]),
    width,
  );
  const isOnAll = left.every((w) => rows.every((row) => isZero([row.reduce((sum, x, j) => sum + x * w[j], 0n)])));
  return [
    ...(alone.kind === "overlapping" ? [] : [`a spread that is ${alone.kind}`]),
    ...(isOnAll ? [] : ["a spread that leaves rows out"]),
    ...(own.length <= 2 * width + 1 && new Set(own).size === own.length ? [] : ["a spread of too many rows"]),
    ...(spread.isFlat === left.length > 0 ? [] : ["flat or not flat"]),
  ];
}

/**
 * Where both name the same rows, the weights are the same fractions.
 * @param {import("../../src/linsep/explorer/page/engine/verdict.js").Scene} scene
 * @param {import("../../src/linsep/explorer/page/engine/verdict.js").Obstruction} own
 * @param {any} theirs
 */
function otherShares({ labels, bias }, { rows, weights }, theirs) {
  if (!theirs || rows.length !== theirs.rows.length || !rows.every((row) => theirs.rows.includes(row))) return [];
  const total = rows.reduce((sum, row, n) => (!bias || labels[row] > 0 ? sum + weights[n] : sum), 0n);
  const isSame = rows.every((row, n) => fractionText(weights[n], total) === theirs.shares[theirs.rows.indexOf(row)]);
  return isSame ? [] : ["other exact weights"];
}

/**
 * The library's kernel Perceptron ends with the same mistakes on each row.
 * @param {any} question
 * @param {number} degree
 * @param {number[]} mistakes
 */
function kernelFaults(question, degree, mistakes) {
  const updates = mistakes.reduce((sum, count) => sum + count, 0);
  /** @type {any} */
  const run = { ...question, order: "cyclic", updates: updates + 1, kernel: { kind: "poly", value: degree } };
  const { steps } = explore(run);
  const counts = mistakes.map((_, i) => steps.row.filter((row) => row === i).length);
  return steps.converged && String(counts) === String(mistakes)
    ? []
    : [`a kernel's mistakes ${counts}, not ${mistakes}`];
}

/**
 * Averages and votes are sums that processors round in several ways: they are held where nothing is rounded.
 * @param {any} question
 * @param {any} says
 */
function keepFaults(question, says) {
  const isShort = question.points
    .flat()
    .every((/** @type {number} */ x) => Number.isSafeInteger(x * 2 ** 12) && Math.abs(x) < 2 ** 14);
  const kept = keeps(question).ways.filter(({ keep }) => isShort || keep === "last" || keep === "best");
  return kept.flatMap(({ keep, wrong, w, b }) =>
    String([wrong, ...w, b].slice(0, says[keep].length).map((x) => x + 0)) ===
    String(says[keep].map((/** @type {number} */ x) => x + 0))
      ? []
      : [`keep ${keep}: ${[wrong, ...w, b]}, not ${says[keep]}`],
  );
}
