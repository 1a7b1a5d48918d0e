// What the page decides without a browser: where labels stand, when an example is as it was given, and numbers in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { numberPlace, overlap, textBox, weightPlace } from "../../src/linsep/explorer/page/label-places.js";
import { showBound } from "../../src/linsep/explorer/page/numbers.js";
import { isAsGiven, presetState } from "../../src/linsep/explorer/page/state.js";

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
