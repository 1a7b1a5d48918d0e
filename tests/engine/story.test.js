// The arithmetic of the story, and the numbers its sentences name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { explore } from "../../src/linsep/explorer/page/engine/explore.js";
import { stepFault, stepOf } from "../../src/linsep/explorer/page/story/memory.js";
import { CORNERS, EIGHT, FOUR, SEVEN } from "../../src/linsep/explorer/page/story/sets.js";
import {
  afterUpdate,
  lineThrough,
  scoreAt,
  scoreWords,
  turnedWell,
  wrongRows,
} from "../../src/linsep/explorer/page/story/tale-math.js";

const about = (dots, bias) => explore({ ...dots, bias, order: "cyclic", seed: 0, updates: 100 });

test("the line through two points has both on it", () => {
  const line = lineThrough([-2.5, -2], [2.5, 2.25]);
  assert.equal(scoreAt(line, [-2.5, -2]), 0);
  assert.ok(Math.abs(scoreAt(line, [2.5, 2.25])) < 1e-12);
});

test("the line that the first step shows has no mistake, the one it begins with has some", () => {
  assert.deepEqual(wrongRows(EIGHT, turnedWell(EIGHT, lineThrough([-2.5, -2], [2.5, 2.25]))), []);
  assert.ok(wrongRows(EIGHT, turnedWell(EIGHT, lineThrough([-1, -2.75], [0.25, 2.75]))).length > 1);
});

test("a score is written out as people compute it", () => {
  assert.equal(scoreWords({ w: [2, -2], b: -2 }, [0, 1.5]), "2·0 + (−2)·1.5 − 2 = −5");
  assert.equal(scoreWords({ w: [-1, 0], b: 0 }, [-2, 1]), "−1·(−2) + 0·1 = 2");
});

test("an update raises the score of its row by |x|² + 1", () => {
  const before = { w: [2, -2], b: -2 };
  const after = afterUpdate(FOUR, before, 3, true);
  assert.deepEqual(after, { w: [2, -0.5], b: -1 });
  assert.equal(scoreAt(after, FOUR.points[3]) - scoreAt(before, FOUR.points[3]), 3.25);
});

test("corrected by hand, first mistake first, Cornwell's points end as well", () => {
  let now = { w: [0, 0], b: 0 };
  for (let k = 0; k < 55 && wrongRows(FOUR, now).length; k += 1)
    now = afterUpdate(FOUR, now, wrongRows(FOUR, now)[0], true);
  assert.deepEqual(wrongRows(FOUR, now), []);
});

test("the seven points have R² = 10.25, γ² = 1/2 and a wall at 20.5", () => {
  const { bound } = about(SEVEN, false);
  assert.ok(Math.abs(bound.radius ** 2 - 10.25) < 1e-9 && Math.abs(bound.gamma ** 2 - 0.5) < 1e-9);
  assert.ok(Math.abs(bound.bound - 20.5) < 1e-9);
});

test("points at the corners of the picture move the wall of the seven to 49 at most, if the band stays as it is", () => {
  const { bound } = about(SEVEN, false);
  assert.ok(Math.abs((2 * 3.5 ** 2) / bound.gamma ** 2 - 49) < 1e-9);
});

test("the kernel of the last step has the product of the third numbers inside", () => {
  const kernel = ([a, b], [c, d]) => (a * c + b * d + 1) ** 2;
  const rest = ([a, b], [c, d]) => (a * c) ** 2 + (b * d) ** 2 + 2 * a * c + 2 * b * d + 1;
  for (const [x, y] of [
    [
      [2, 3],
      [5, 7],
    ],
    [
      [-1, 4],
      [0.5, 2],
    ],
  ])
    assert.equal(kernel(x, y), rest(x, y) + 2 * (x[0] * x[1]) * (y[0] * y[1]));
});

test("some order makes nine updates on the seven points, none more", () => {
  const longest = (now) =>
    Math.max(0, ...wrongRows(SEVEN, now).map((row) => 1 + longest(afterUpdate(SEVEN, now, row, false))));
  assert.equal(longest({ w: [0, 0], b: 0 }), 9);
});

test("no line does better on the corners than one mistake, and the weights of the run repeat every 4 updates", () => {
  const { steps, verdict, obstruction } = about(CORNERS, true);
  assert.equal(verdict.kind, "overlapping");
  assert.deepEqual(
    obstruction.point.map((part) => part.text),
    ["1/2", "1/2"],
  );
  assert.deepEqual([...steps.w[3], steps.b[3]], [0, 0, 0]);
  assert.deepEqual([...steps.w[7], steps.b[7]], [0, 0, 0]);
});

test("an address names a step, and a wrong number the nearest one", () => {
  const cases = [
    ["#story=3", 2],
    ["#story", 0],
    ["#story=0", 0],
    ["#story=99", 9],
    ["#story=abc", 0],
    ["#story=3x", 2],
    ["#p=1,2+", null],
    ["", null],
  ];
  for (const [hash, step] of cases) assert.equal(stepOf(hash, 10), step);
  for (const hash of ["#story", "#story=1", "#story=10"]) assert.equal(stepFault(hash, 10), "");
  for (const [hash, asked] of [
    ["#story=abc", "abc"],
    ["#story=11", "11"],
    ["#story=0", "0"],
    ["#story=3x", "3x"],
  ])
    assert.equal(stepFault(hash, 10), `The story has the steps 1 to 10, and this link asks for “${asked}”.`);
});
