// @ts-check
// The page's engine, held against arithmetic done twice and against what the library said.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bitLength,
  exactScore,
  fractionText,
  nearest,
  orthogonal,
  rootAbove,
  rootBelow,
  roundedUp,
  signedScore,
  wholeNumbers,
} from "../../src/linsep/explorer/page/engine/exact.js";
import { cycleOf, explore, ONE_CLASS } from "../../src/linsep/explorer/page/engine/explore.js";
import { fewestMistakes } from "../../src/linsep/explorer/page/engine/fewest.js";
import { generator, shuffled } from "../../src/linsep/explorer/page/engine/random.js";
import { inOwnUnits, scaledBy, scalingOf } from "../../src/linsep/explorer/page/engine/scaling.js";
import { pointsFrom } from "../../src/linsep/explorer/page/engine/table.js";
import { decide, sceneOf } from "../../src/linsep/explorer/page/engine/verdict.js";
import { differences, recorded } from "./held.js";

const XOR = {
  points: [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ],
  labels: [-1, 1, 1, -1],
  order: "cyclic",
  bias: true,
  seed: 0,
  updates: 40,
};

test("every recorded answer of the library is the engine's too", () => {
  const answers = recorded(new URL("./answers.ndjson.gz", import.meta.url));
  assert.ok(answers.length >= 300);
  assert.deepEqual(
    answers.flatMap((answer, number) => differences(answer).map((words) => `set ${number}: ${words}`)),
    [],
  );
});

test("a seed gives NumPy's numbers and the library's order", () => {
  const random = generator(7);
  assert.deepEqual([random(), random(), random()], [0.625095466604667, 0.8972138009695755, 0.7756856902451935]);
  assert.equal(generator(0)(), 0.6369616873214543);
  assert.deepEqual([...shuffled(generator(3), 6)].sort(), [0, 1, 2, 3, 4, 5]);
});

test("doubles become integers of the same value, however large or small", () => {
  for (const values of [
    [0.5, -3, 0.125],
    [0.1, 1e9],
    [5e-324, 1],
    [1.7e308, -2.5e-300],
    [0, 0],
  ]) {
    const { wholes, power } = wholeNumbers(values);
    assert.ok(power <= 0);
    assert.deepEqual(
      wholes.map((whole) => nearest(whole, 1n << BigInt(-power))),
      values,
    );
  }
});

test("a ratio is rounded to the nearest double, and up where that is asked for", () => {
  assert.equal(nearest(1n, 3n), 1 / 3);
  assert.equal(nearest(-(2n ** 60n) - 1n, 2n ** 60n), -1);
  assert.equal(roundedUp(2n ** 60n + 1n, 2n ** 60n), 1 + 2 ** -52);
  assert.equal(nearest(1n, 1n << 1074n), 5e-324);
  assert.equal(nearest(1n << 1100n, 1n), Infinity);
  assert.equal(bitLength(255n), 8);
  assert.equal(bitLength(-256n), 9);
});

test("roots are rounded to their sides", () => {
  assert.deepEqual([rootBelow(4n, 9n), rootAbove(4n, 9n)], [2 / 3, 0.6666666666666667]);
  assert.deepEqual([rootBelow(9n, 4n), rootAbove(9n, 4n)], [1.5, 1.5]);
  assert.ok(rootBelow(2n, 1n) ** 2 < 2 && rootAbove(2n, 1n) ** 2 > 2);
});

test("what is orthogonal to vectors is, and is all there is", () => {
  for (const [vectors, left] of /** @type {[bigint[][], number][]} */ ([
    [[[1n, 2n, 3n]], 2],
    [
      [
        [1n, 2n, 3n],
        [2n, 4n, 6n],
      ],
      2,
    ],
    [
      [
        [1n, 2n, 3n],
        [0n, 1n, 0n],
      ],
      1,
    ],
    [[], 3],
  ])) {
    const basis = orthogonal(vectors, 3);
    assert.equal(basis.length, left);
    for (const p of basis)
      for (const q of vectors)
        assert.equal(
          p.reduce((sum, x, j) => sum + x * q[j], 0n),
          0n,
        );
  }
});

test("a score keeps its sign where floats lose it", () => {
  assert.equal(exactScore([1, 1], [1e16, -1e16], 2 ** -60), 2 ** -60);
  assert.equal(exactScore([0.1, 0.2], [3, -1.5], 0), 0);
  assert.equal(exactScore([-2e-322, 1], [5e-324, 0], 0), -5e-324);
  assert.equal(fractionText(-6n, 4n), "-3/2");
});

test("XOR is forbidden by its four rows with weights one half", () => {
  const { verdict, obstruction, steps } = explore(/** @type {any} */ (XOR));
  assert.equal(verdict.kind, "overlapping");
  assert.deepEqual(
    obstruction?.weights.map(({ text }) => text),
    ["1/2", "1/2", "1/2", "1/2"],
  );
  assert.deepEqual([steps.row.length, steps.converged], [40, false]);
});

test("a spread has the rows that rule out lines which rows may lie on, where those of the obstruction do not", () => {
  const spreadOf = (/** @type {number[][]} */ points, /** @type {number[]} */ labels, bias = true) =>
    explore(/** @type {any} */ ({ ...XOR, points, labels, bias })).spread;
  const cross = [
    [0, 0],
    [2, 0],
    [1, 0],
    [1, 1],
    [1, -1],
  ];
  assert.deepEqual(spreadOf(cross, [-1, -1, 1, 1, 1])?.rows.sort(), [0, 1, 2, 3, 4]);
  assert.equal(spreadOf(cross, [-1, -1, 1, 1, -1]), null); // touching
  assert.deepEqual(spreadOf([...cross.slice(0, 3), [3, 0]], [-1, -1, 1, 1])?.isFlat, true);
  assert.equal(spreadOf(XOR.points, XOR.labels)?.isFlat, false);
  assert.equal(
    spreadOf(
      [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ],
      [-1, 1, 1, -1],
      false,
    )?.rows.length,
    4,
  );
});

test("a run that goes round says so: XOR repeats every four updates", () => {
  const cycle = (/** @type {any} */ question) => cycleOf(explore(question).steps, question.order);
  assert.deepEqual(cycle(XOR), { start: 1, length: 4 });
  assert.equal(cycle({ ...XOR, order: "shuffled" }), null);
  assert.equal(cycle({ ...XOR, labels: [-1, 1, 1, 1] }), null);
});

test("the chain of the proof holds at every update of every recorded set", () => {
  for (const { set: _, says, ...question } of recorded(new URL("./answers.ndjson.gz", import.meta.url))) {
    if (!says.gamma) continue;
    const { steps, bound } = /** @type {any} */ (explore(question));
    const slack = 1 + 1e-9;
    steps.row.forEach((/** @type {number} */ row, /** @type {number} */ i) => {
      const floor = (i + 1) * bound.gamma;
      assert.ok(floor <= steps.along[i] * slack + 1e-9 * steps.norm[i], `${question.points} at ${row}`);
      assert.ok(steps.along[i] <= steps.norm[i] * slack && steps.norm[i] <= Math.sqrt(i + 1) * bound.radius * slack);
    });
  }
});

/** @type {Record<string, (random: () => number) => number[]>} */
const FAMILIES = {
  grid: (random) => [whole(random, 5) - 2, whole(random, 5) - 2],
  "far apart": (random) => [random() < 0.5 ? 1e9 : -1e9, whole(random, 5) * 1e-3],
  "far away": (random) => [1.7e8 + whole(random, 5) / 256, 1.7e8 + whole(random, 5) / 256],
  "thousand millions": (random) => [whole(random, 3) * 1e9, whole(random, 5) / 1024],
  "thin and tall": (random) => [whole(random, 5) * 1e-9, whole(random, 5) * 1e6],
  decimals: (random) => [whole(random, 11) / 10, whole(random, 11) / 10],
};
const whole = (/** @type {() => number} */ random, /** @type {number} */ count) => Math.floor(random() * count);

for (const [name, place] of Object.entries(FAMILIES))
  test(`no line has fewer rows on its wrong side than the one that is found: ${name}`, () => {
    const random = generator(5);
    for (let round = 0; round < 200; round += 1) {
      const points = Array.from({ length: 2 + Math.floor(random() * 5) }, () => place(random));
      const labels = points.map(() => (random() < 0.5 ? 1 : -1));
      for (const bias of [true, false]) {
        const { wrong } = fewestMistakes(points, labels, bias);
        assert.equal(wrong, leastLeftOut(points, labels, bias), `${points} ${labels} ${bias}`);
      }
    }
  });

// The best line of the others may have to pass between points that no line in doubles tells apart.
for (const name of ["grid", "far apart", "thousand millions"])
  test(`the line that is drawn makes as many mistakes as are said: ${name}`, () => {
    const random = generator(6);
    for (let round = 0; round < 200; round += 1) {
      const points = Array.from({ length: 2 + Math.floor(random() * 30) }, () => FAMILIES[name](random));
      const labels = points.map(() => (random() < 0.5 ? 1 : -1));
      for (const bias of [true, false]) {
        const { w, b, wrong } = fewestMistakes(points, labels, bias);
        assert.equal(points.filter((point, i) => labels[i] * signedScore(w, point, b) <= 0).length, wrong);
      }
    }
  });

test("twenty regions by population and rate: one row is on the wrong side, not six", () => {
  const text =
    "162368057,0.000511+;83067361,0.000753+;48195603,0.000148-;290977624,0.00082+;154820576,0.000683+;34759684,0.000787-;187046927,0.000192-;233004934,0.000802+;183900990,0.000191-;275189311,0.000082+;11877863,0.000855-;158576779,0.000861+;137800765,0.000877+;18704874,0.000472+;192398451,0.000274-;255789852,0.000007-;177882305,0.000646+;78029234,0.00072-;251964456,0.000836+;152848764,0.000282-";
  const rows = text.split(";");
  const points = rows.map((row) => row.slice(0, -1).split(",").map(Number));
  const labels = rows.map((row) => (row.endsWith("+") ? 1 : -1));
  assert.equal(fewestMistakes(points, labels, true).wrong, 1);
});

/**
 * How many rows must be left out until the others are separable: every choice is tried.
 * @param {number[][]} points
 * @param {number[]} labels
 * @param {boolean} bias
 */
function leastLeftOut(points, labels, bias) {
  let least = points.length;
  for (let choice = 1; choice < 2 ** points.length; choice += 1) {
    const kept = points.map((_, i) => i).filter((i) => (choice >> i) & 1);
    if (points.length - kept.length >= least) continue;
    const [some, own] = [kept.map((i) => points[i]), kept.map((i) => labels[i])];
    const isOne = bias && new Set(own).size === 1;
    if (isOne || decide(sceneOf(some, own, bias)).kind === "separable") least = points.length - kept.length;
  }
  return least;
}

test("one class is refused in a sentence", () => {
  assert.throws(() => explore(/** @type {any} */ ({ ...XOR, labels: [1, 1, 1, 1] })), { message: ONE_CLASS });
});

test("scaled points have mean 0 and deviation 1, and come back as they were", () => {
  const points = [
    [150, 0.1],
    [160.5, 0.1],
    [171.3, 0.1],
  ];
  const scaling = scalingOf(points, true);
  const scaled = points.map(scaledBy(scaling));
  const sum = (/** @type {(x: number) => number} */ of) => scaled.reduce((total, [x]) => total + of(x), 0);
  assert.ok(Math.abs(sum((x) => x)) < 1e-12 && Math.abs(sum((x) => x * x) - 3) < 1e-12);
  assert.ok(scaled.every(([, y]) => y === 0)); // a column of one value
  assert.deepEqual(scaled.map(inOwnUnits(scaling)), points);
  assert.deepEqual(scalingOf(points, false).centres, [0, 0]);
});

test("points are read from any usual text, with the larger label as +", () => {
  const spellings = [
    "x,y,kind\n0,1,no\n2,3,yes\n",
    "0;1;no\r\n2;3;yes",
    "0\t1\tno\n\n2\t3\tyes",
    "# mine\n0 1 no\n2 3 yes",
    '"0", "1", "no"\n2,3.0,yes',
  ];
  for (const text of spellings) {
    const { points, labels, classes } = pointsFrom(text, 9);
    assert.deepEqual(
      [points, labels, classes],
      [
        [
          [0, 1],
          [2, 3],
        ],
        [-1, 1],
        ["no", "yes"],
      ],
    );
  }
  for (const minus of ["-", "−"]) assert.deepEqual(pointsFrom(`1,1,+\n2,2,${minus}`, 9).labels, [1, -1]);
  assert.deepEqual(pointsFrom("1,1,10\n2,2,9", 9).labels, [1, -1]);
  assert.deepEqual(pointsFrom("−1,1,+\n2,−2.5,-", 9).points, [
    [-1, 1],
    [2, -2.5],
  ]);
  assert.deepEqual(pointsFrom("1,1,\u{1f600}\n2,2,\ufb00", 9).labels, [1, -1]); // by code points
  assert.deepEqual(pointsFrom("1,1,ab\n2,2,a", 9).labels, [1, -1]);
  assert.deepEqual(pointsFrom("a,b,c\n1,1,1\n2,2,0", 9).columns, ["a", "b"]);
  assert.deepEqual(pointsFrom("1st,2D,NA\n1,1,1\n2,2,0", 9).columns, ["1st", "2D"]);
  const quoted = pointsFrom('"a, b","c ""d""",y\n1,2,"x, ""y"""\n3,4,z', 9);
  assert.deepEqual(
    [quoted.columns, quoted.classes],
    [
      ["a, b", 'c "d"'],
      ['x, "y"', "z"],
    ],
  );
});

test("text that holds no points of two classes is refused by line and cell", () => {
  const refusals = {
    "": "no text",
    "1,2,a\n1,x,b": "Line 2, column 2: “x” is not a finite number",
    "1,NaN,a\n1,2,b": "NaN",
    ",2,a\n1,2,b": "Line 1, column 1: the value is missing",
    "1;2;a\n1;2,5;b": "Line 2, column 2: “2,5” is not a number: write decimals with a point",
    '1,"2,a\n1,2,b': "are 2 columns",
    "1,2,\n2,3,y": "Line 1: the label is missing",
    "1,2,y\n2,3,NA": "Line 2: the label is missing",
    "1,2,a\n1,1e999,b": "Line 2, column 2",
    "1,2,a\n1,2e9,b": "too large",
    "1,2,a\n1,2,a": "only the class “a”",
    "1,2,a\n1,2,b\n3,4,c": "3 classes: “a”, “b”, “c”",
    "1,2,3,a\n1,2,3,b": "are 4 columns, not three: x1, x2 and the label. More columns need the library",
    "1,2,a\n1,2": "Line 2 has 2 cells, not 3",
    "1,5;2,5;a\n2;3;b\n4;1;a": "Line 1, column 1: “1,5” is not a number: write decimals with a point",
    "nan,nan,a\n1,2,b\n2,3,a": "Line 1, column 1: “nan” is not a finite number",
    "–1,–2,a\n1,2,b\n2,3,a": "Line 1, column 1: “–1” is not a finite number",
    "1 000;Infinity;a\n1;2;b\n2;3;a": "Line 1, column 1: “1 000” is not a finite number",
    ",NA,a\n1,2,b\n2,3,a": "Line 1, column 1: the value is missing",
    "x,y,kind": "The only line holds names",
    [Array.from({ length: 10 }, () => "1,2,a").join("\n")]: "10 points: the page holds at most 9 points",
    [Array.from({ length: 10_000 }, () => "1,2,a").join("\n")]: "10,000 lines: the page holds at most 9 points",
  };
  for (const [text, words] of Object.entries(refusals))
    assert.throws(
      () => pointsFrom(text, 9),
      (/** @type {Error} */ error) => error.message.includes(words),
      words,
    );
});
