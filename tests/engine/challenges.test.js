// @ts-check
// Each challenge: a set that meets it, and a set that nearly does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHALLENGES, judged } from "../../src/linsep/explorer/page/engine/challenges.js";
import { explore } from "../../src/linsep/explorer/page/engine/explore.js";

const REST = { order: "cyclic", bias: true, seed: 0, updates: 500, features: [], kernel: null };

/**
 * Points from a text as links write them.
 * @param {string} text
 * @param {object} options
 */
function questionOf(text, options = {}) {
  const rows = text.split(" ").map((part) => part.slice(0, -1).split(",").map(Number));
  const labels = text.split(" ").map((part) => (part.endsWith("+") ? 1 : -1));
  return /** @type {import("../../src/linsep/explorer/page/engine/explore.js").Question} */ ({
    ...REST,
    points: rows,
    labels,
    ...options,
  });
}

const THROUGH_0 = { bias: false };
/** @type {Record<string, { met: [string, object?], missed: [string, object?][] }>} */
const SETS = {
  long: {
    met: ["16,16.5+ 17,17.5+ 16,16- 17,17-"],
    missed: [
      ["4,4.5+ 5,5.5+ 4,4- 5,5-"],
      ["16,16.5+ 17,17.5+ 16,16- 17,17- 0,9+ 0,10+ 0,11+"],
      ["0,0- 0,1+ 1,0+ 1,1-"],
    ],
  },
  tight: {
    met: ["1,0+ 0,-1- 0,1+ -1,0-", THROUGH_0],
    missed: [["1,0+ 0,-1-", THROUGH_0], ["-1,3- -1,-1- 3,-1+ 0,1.5+"], ["0,0- 0,1+ 1,0+ 1,1-"]],
  },
  touching: { met: ["0,1+ 0,-1+ 0,0- -1,0-"], missed: [["0,0- 0,1+ 1,0+ 1,1-"], ["0,0- 1,0+"]] },
  four: {
    met: ["0,0- 0,1+ 1,0+ 1,1-"],
    missed: [["0,1+ 0,-1+ 0,0- 5,5-"], ["0,0+ 0,0- 1,1+ 2,2-"], ["0,0- 1,0+"]],
  },
  origin: { met: ["1,1+ 2,2-"], missed: [["1,1+ -1,-1-"], ["0,0- 0,1+ 1,0+ 1,1-"]] },
  order: { met: ["1,1+ -1,-1+ 0,2- 2,1-"], missed: [["0,0- 1,0+"], ["0,0- 0,1+ 1,0+ 1,1-"]] },
  two: {
    met: ["0,0- 0,0.25- 1,1- 1,1.25- 0,1+ 0,1.25+ 1,0+ 1,0.25+"],
    missed: [["0,0- 0,1+ 1,0+ 1,1-"], ["0,0- 1,0+"]],
  },
  feature: {
    met: ["1,1+ 2,1+ -1,-1+ -1,1- 1,-1- -2,1-"],
    missed: [["1,1+ -1,-1+ -1,1- 1,-1-"], ["1,1+ 2,1+ 3,1+ -1,1- -2,1- -3,1-"]],
  },
};

const judge = (/** @type {string} */ name, /** @type {[string, object?]} */ [text, options]) => {
  const question = questionOf(text, options);
  return judged(name, question, explore(question));
};

test("every challenge has a set that meets it", () => {
  assert.deepEqual(Object.keys(SETS), Object.keys(CHALLENGES));
});

for (const [name, { met, missed }] of Object.entries(SETS))
  test(`the challenge “${name}” knows a set that meets it from sets that do not`, () => {
    assert.ok(judge(name, met).isDone, judge(name, met).now);
    for (const other of missed) assert.ok(!judge(name, other).isDone, `${other}: ${judge(name, other).now}`);
  });

test("what a challenge says of one row, one update and a flat set is English, and true", () => {
  assert.equal(judge("four", ["0,0- 1,0+ 0,1+", THROUGH_0]).now, "One row proves it already.");
  assert.match(judge("tight", ["1,0+ 2,0+ 3,0+ -1,0-", THROUGH_0]).now, / updates, 4 points/);
  assert.match(judge("tight", ["1,0+ -1,0-", THROUGH_0]).now, /^The run makes 1 of at most 1 update, 2 points/);
  const flat = judge("touching", ["0,0- 0,0+"]);
  assert.deepEqual([flat.isDone, flat.now], [false, "The classes are overlapping."]);
  assert.match(CHALLENGES.touching.ask, /not all points on it/);
});

test("a challenge is about points and lines, with features and kernels too", () => {
  const lifted = [{ features: ["xy"] }, { kernel: { kind: "poly", value: 2 } }];
  for (const [name, { met, missed }] of Object.entries(SETS))
    for (const more of lifted) {
      const [text, options] = met;
      assert.ok(judge(name, [text, { ...options, ...more }]).isDone, name);
      for (const [other, own] of missed)
        assert.ok(!judge(name, [other, { ...own, ...more }]).isDone, `${name}: ${other}`);
    }
  const xor = "0.25,0.25- 0.25,0.5+ 0.5,0.25+ 0.5,0.5-";
  assert.match(judge("long", [xor, { features: ["xy"] }]).now, /^No line separates them\. Features and kernels do not/);
  assert.ok(judge("four", [xor, { features: ["xy"] }]).isDone);
});

test("the fewest mistakes of more than 500 points are not asked for at each change", () => {
  const text = Array.from({ length: 501 }, (_, n) => `${n % 25},${Math.floor(n / 25)}${(n * 7) % 3 ? "+" : "-"}`).join(
    " ",
  );
  assert.equal(judge("two", [text]).now, "Use at most 500 points.");
});
