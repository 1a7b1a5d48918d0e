// Steps 4 to 8: what R and gamma are, the floor, the ceiling, the wall, and an attempt to break it.

import { relabel } from "../dom.js";
import { explore } from "../engine/explore.js";
import { plural, show } from "../numbers.js";
import { SEVEN } from "./sets.js";
import { wrongRows } from "./tale-math.js";
import { taleAxes, taleDot, taleDots, taleLine, talePicture, taleSides } from "./tale-picture.js";
import { taleChart, taleMeasures, taleWeights } from "./tale-proof.js";

const WIDE_VIEW = { cx: 0, cy: 0, half: 3.7 };
const answerFor = (dots) => explore({ ...dots, order: "cyclic", bias: false, seed: 0, updates: 2000 });
const borderAt = (steps, k) => ({ w: steps.w[k - 1] ?? [0, 0], b: 0 });

export const doesItStop = {
  title: "It stops. Always?",
  ask: "Seven points and, to keep it simple, lines through the origin (b = 0). Mistakes may be picked in any order. Guess: which is the smallest of these numbers of updates that no run exceeds?",
  make(scene) {
    const { bound } = answerFor(SEVEN);
    const picture = talePicture({
      view: WIDE_VIEW,
      about:
        "Seven points; once you have guessed, the circle of radius R, the band of width gamma and the direction u*",
      paint: (at, box) => [taleAxes(at, box), scene.isTold ? taleMeasures(at, box, bound) : [], taleDots(at, SEVEN)],
    });
    scene.whenTold(picture.redraw);
    scene.choose(["7, one for each point", "20", "a million", "none of them"], 1);
    return [picture.node];
  },
  told: [
    "At most 20 updates, in any order. (Seven are too few: some order makes nine.) Two lengths decide it, and both are in the picture now.",
    "R = √10.25: the circle around 0 that reaches all points. γ = √½: half the width of the widest band around a line through the origin, with one class on each side of it. u* is the arrow of length 1 across that band: with y = +1 for a + and −1 for a −, every point has y·(u*·x) ≥ γ.",
    "The machine knows neither R nor γ. They are for us, to see why it must stop.",
  ],
};

// A run that is stepped through, in the plane and in the chart.
function steppedRun(scene, shown) {
  const { steps, bound } = answerFor(SEVEN);
  let k = 0;
  const picture = talePicture({
    view: WIDE_VIEW,
    about: "Seven points, the band, and the weights W of the run",
    paint(at, box) {
      const now = borderAt(steps, k);
      const wrong = k ? wrongRows(SEVEN, now) : [];
      const measures = taleMeasures(at, box, bound);
      return [
        taleSides(at, box, now),
        taleAxes(at, box),
        measures,
        taleLine(at, box, now),
        taleDots(at, SEVEN, wrong),
        taleWeights(at, now.w, 2.6),
      ];
    },
  });
  const chart = taleChart(() => ({ bound, steps, k, ...shown(scene.isTold) }));
  scene.whenTold(chart.redraw);
  const total = steps.row.length;
  const next = scene.helper("Next update", () => {
    k = (k + 1) % (total + 1);
    const grown = k ? `W·u* = ${show(steps.along[k - 1], 3)}, |W| = ${show(steps.norm[k - 1], 3)}` : "W = 0";
    const end = k === total ? " No mistake is left: the run has ended." : "";
    scene.say(`After ${plural(k, "update")}: ${grown}.${end}`);
    relabel(next, end ? "Again from the start" : "Next update");
    picture.redraw();
    chart.redraw();
  });
  return [picture.node, chart.node];
}

export const theFloor = {
  title: "The floor",
  recall:
    "Call the weights W. Here b = 0, and W is w. (With a bias W is (w, b), and each point has a 1 appended.) W starts at 0. From the last step: y is +1 or −1, the class of x; |x| ≤ R; u* has length 1, and y·(u*·x) ≥ γ for every point.",
  ask: "Each update adds Z = y·x to W: a + as it is, a − with its signs changed. W·u* says how far W reaches along u*. How much does an update add to it, at least?",
  make(scene) {
    scene.choose(["nothing, perhaps", "γ", "R"], 1);
    return steppedRun(scene, (isTold) => ({ floor: isTold, ceiling: false, wall: false }));
  },
  told: [
    "(W + Z)·u* = W·u* + Z·u* ≥ W·u* + γ, because every point has Z·u* ≥ γ: that is what the band says.",
    "W starts at 0, where W·u* = 0. So after k updates W·u* ≥ k·γ. A straight line from below: each mistake, whichever it is, adds at least γ. That alone does not turn W towards u*: W might just get longer and longer.",
  ],
};

export const theCeiling = {
  title: "The ceiling",
  recall: "W is 0 at the start. Each update adds Z = y·x, and |x| ≤ R for every point.",
  ask: "And how long does W get? |W + Z|² = |W|² + 2·W·Z + |Z|². The point was a mistake. So what is 2·W·Z?",
  make(scene) {
    scene.choose(["above 0", "at most 0", "either"], 1);
    return steppedRun(scene, (isTold) => ({ floor: true, ceiling: isTold, wall: false }));
  },
  told: [
    "W·Z is y times the score: of a mistake it is at most 0. So |W + Z|² ≤ |W|² + |Z|² ≤ |W|² + R².",
    "W starts at 0, where |W|² = 0. So after k updates |W|² ≤ k·R², and |W| ≤ √k·R. A root from above: a mistake points away from W, or across it, so W grows slowly.",
  ],
};

export const theWall = {
  title: "The wall",
  ask: "u* has length 1, so W·u* is never more than |W|. So k·γ ≤ W·u* ≤ |W| ≤ √k·R. How long can a straight line stay below a root?",
  make(scene) {
    scene.choose(["for ever", "until k = R/γ", "until k = (R/γ)²"], 2);
    return steppedRun(scene, (isTold) => ({ floor: true, ceiling: true, wall: isTold }));
  },
  told: [
    "k·γ ≤ √k·R means √k ≤ R/γ: at most (R/γ)² updates. Here 10.25/0.5 = 20.5, so 20. (Novikoff, 1962)",
    "Floor and ceiling meet at the wall, and no run can pass it: not in any order, not in a thousand dimensions. With a bias, the same holds for points with a 1 appended.",
  ],
};

export const breakIt = {
  title: "Try to break it",
  ask: "Drag the points. Can you push the wall beyond 100 updates? What moves it farther: a narrow band, or points far out?",
  make(scene) {
    const dots = { points: SEVEN.points.map((p) => /** @type {[number, number]} */ ([...p])), labels: SEVEN.labels };
    let answer = answerFor(dots);
    const judged = () => {
      answer = answerFor(dots);
      const { bound, steps } = answer;
      if (!bound) return scene.say("No line through the origin separates them now: no band, and no wall.");
      scene.say(`The wall stands at ${show(bound.bound)}; the run makes ${plural(steps.row.length, "update")}.`);
      return bound.bound > 100 ? scene.tell() : null;
    };
    const picture = talePicture({
      view: WIDE_VIEW,
      about: "Seven points to move, with the circle of R and the band of gamma",
      paint: (at, box) => [taleAxes(at, box), answer.bound ? taleMeasures(at, box, answer.bound) : []],
      grips: dots.points.map((_, row) => ({
        spot: () => dots.points[row],
        name: () =>
          `Point ${row + 1}, at ${show(dots.points[row][0])}, ${show(dots.points[row][1])}. Arrow keys move it.`,
        look: () => taleDot(dots.labels[row]),
        move(to) {
          dots.points[row] = to.map((x) => Math.max(-3.5, Math.min(3.5, Math.round(x * 32) / 32)));
          judged();
        },
      })),
    });
    scene.helper("Show me how", () => {
      dots.points[2] = [-1.625, 1.5];
      judged();
      picture.redraw();
    });
    judged();
    return [picture.node];
  },
  told: [
    "The narrow band. The wall is (R/γ)²: a band half as wide puts it four times as far, and so do points twice as far out. But the points stay in the picture, so R alone moves the wall to 24.5/0.5 = 49 at most; a band can be as narrow as you like.",
    "The farther the wall, the longer a run can be. It need not be: yours may have become shorter.",
    "And however you move them: while a line through the origin exists, the run stays on this side of the wall.",
  ],
};
