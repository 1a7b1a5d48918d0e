// What the page decides without a browser: where labels stand, when an example is as it was given, and numbers in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonOf } from "../../src/linsep/explorer/page/exports.js";
import { filmSvg } from "../../src/linsep/explorer/page/film.js";
import { numberPlace, overlap, textBox, weightPlace } from "../../src/linsep/explorer/page/label-places.js";
import { readLink } from "../../src/linsep/explorer/page/link-parts.js";
import { isInFull, showBound } from "../../src/linsep/explorer/page/numbers.js";
import { fromHash, isAsGiven, linkFault, presetState, toHash } from "../../src/linsep/explorer/page/state.js";

const CORNWELL = {
  name: "cornwell",
  points: [
    [-1, 3],
    [0, 1.5],
  ],
  labels: [-1, 1],
  bias: true,
};

test("an example is as it was given until its points, bias, order, features or kernel change", () => {
  assert.ok(isAsGiven(presetState(CORNWELL), CORNWELL));
  assert.ok(isAsGiven({ ...presetState(CORNWELL), k: 1, told: true, seed: 3 }, CORNWELL));
  const changes = [
    { bias: false },
    { order: "worst" },
    { features: ["xy"] },
    { kernel: { kind: "poly", value: 2 } },
    { labels: [1, 1] },
    {
      points: [
        [-1, 3],
        [0, 2],
      ],
    },
  ];
  for (const change of changes) assert.ok(!isAsGiven({ ...presetState(CORNWELL), ...change }, CORNWELL));
});

test("a row's number is on no weight and not on its point, wherever the square of XOR lies in the plot", () => {
  for (const [width, height] of [
    [348, 420],
    [700, 440],
  ])
    for (const reach of [15, 40, 130, 160]) {
      const middle = [width / 2, height / 2];
      const spots = [-1, 1].flatMap((x) => [-1, 1].map((y) => [middle[0] + x * reach, middle[1] + y * reach]));
      const taken = spots.map((spot) => textBox(weightPlace(spot, middle, "1/2", width), "1/2", 8));
      for (const spot of spots) {
        const place = numberPlace(spot, middle, "3", [width, height], taken);
        assert.ok(!taken.some((box) => overlap(box, textBox(place, "3", 7))));
        assert.ok(Math.hypot(place.x - spot[0], place.y - spot[1]) > 12);
      }
    }
});

test("a number is shown in full, or it is rounded", () => {
  for (const value of [0, 1, 0.125, 55, 1234567]) assert.ok(isInFull(value), String(value));
  for (const value of [1 / 3, Math.sqrt(11), 1234.5, 2 ** 30, 1.2345e-7]) assert.ok(!isInFull(value), String(value));
});

test("a bound beyond the doubles is a power of ten", () => {
  assert.equal(showBound(55), "55");
  assert.equal(showBound(null), "more than 10³⁰⁸");
});

const START = { limits: { points: 2000, updates: 5000 }, own: null };

test("what the page writes into its address it reads back without a word", () => {
  const state = {
    ...presetState(CORNWELL),
    ...{ order: "shuffled", seed: 7, k: 3, told: true, band: true, keep: true, challenge: "four", axes: "run" },
    ...{ features: ["xy", "r"], pane: "lifted", bias: false },
    ...{ scaling: { centres: [0, 1], scales: [2, 3] }, names: { columns: ["a, b", "%"], classes: ["<", "&"] } },
  };
  const link = toHash(state);
  assert.deepEqual(readLink(link, START).faults, []);
  assert.equal(toHash(fromHash(link, START)), link);
});

test("why a link holds no points is told: too many, too far out, or damaged", () => {
  const many = `p=${Array.from({ length: 2001 }, (_, i) => `${i},0${i % 2 ? "+" : "-"}`).join(";")}`;
  const faults = {
    [many]: /^This link has 2,001 points: the page holds at most 2,000 points\. linsep explore FILE/,
    "p=2000000000,0+;1,1-": /Row 0: 2000000000 is too large for a picture \(at most 10⁹\)/,
    "p=1,1+;0,-1e999-": /Row 1: -1e999 is too large/,
    "p=1,1": /damaged/,
    "p=1.2.3,1+": /damaged/,
    "k=3": /damaged/,
  };
  for (const [link, words] of Object.entries(faults)) {
    assert.equal(fromHash(link, START), null);
    assert.match(linkFault(link, START), words);
  }
});

test("the script holds the run at its start too, and compares labels as Python does", () => {
  const state = presetState(CORNWELL);
  assert.match(pythonOf(state, {}), /perceptron_steps\(X, y, .*max_updates=500\)/);
  assert.doesNotMatch(pythonOf(state, {}), /axline/);
  assert.match(pythonOf({ ...state, k: 3 }, {}), /max_updates=3\)[\s\S]*axline/);
  assert.match(pythonOf(state, { classes: ["\ufb00", "\u{1f600}"] }), /y = np.array\(\["\ufb00", "\u{1f600}"\]\)/u);
});

test("a film calls the classes what the user calls them", () => {
  const steps = { row: [1], score: [0], w: [[0, 1.5]], b: [1] };
  const film = (classes) => filmSvg(presetState(CORNWELL), steps, classes);
  assert.match(film(["cat", "<dog> & co, a long name"]), /row 1 \(&lt;dog&gt; &amp; co,…\) had score 0/);
  assert.match(film(null), /row 1 \(\+\) had score 0/);
});

test("of features and a kernel in one link the kernel is used, with a sentence", () => {
  const link = "#p=0,0-;0,1+;1,0+;1,1-&kernel=gauss:0.5&f=xy";
  const { features, kernel } = fromHash(link, START);
  assert.deepEqual([features, kernel], [[], { kind: "gauss", value: 0.5 }]);
  assert.match(readLink(link, START).faults.join(), /features and a kernel/);
});

test("a part of a link that makes no sense is left out, with a sentence", () => {
  const odd = "s=abc&s=-1&s=2147483648&n=0&n=&k=1.5&o=toString&b=2&f=xz&kernel=poly:10&z=0,0,0,1&v=1,,1&c=0,0&told&x=1";
  for (const part of odd.split("&")) {
    const { fields, faults } = readLink(`#p=1,1+&${part}`, START);
    assert.deepEqual([[...fields.keys()], faults.length], [["p"], 1], part);
  }
});
