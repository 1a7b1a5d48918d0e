// What the page decides without a browser: where labels stand, when an example is as it was given, and numbers in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { numberPlace, overlap, textBox, weightPlace } from "../../src/linsep/explorer/page/label-places.js";
import { readLink } from "../../src/linsep/explorer/page/link-parts.js";
import { showBound } from "../../src/linsep/explorer/page/numbers.js";
import { fromHash, isAsGiven, presetState, toHash } from "../../src/linsep/explorer/page/state.js";

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
