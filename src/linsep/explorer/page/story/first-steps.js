// Steps 1 to 3: a line of one's own, one mistake in numbers, and the rule done by hand.
import { svg } from "../dom.js";
import { viewOf } from "../geometry.js";
import { plural, show } from "../numbers.js";
import { EIGHT, FOUR } from "./sets.js";
import { afterUpdate, lineThrough, scoreAt, scoreWords, turnedWell, wrongRows } from "./tale-math.js";
import { taleAxes, taleDot, taleDots, taleLine, talePicture, taleSides } from "./tale-picture.js";

// A line by two handles over some points; `judged(wrong)` is told after each move.
export function lineByHand(dots, ends, judged) {
  const border = () => turnedWell(dots, lineThrough(ends[0], ends[1]));
  const grip = (k) => ({
    spot: () => ends[k],
    name: () => `Handle ${k + 1} of the line, at ${show(ends[k][0])}, ${show(ends[k][1])}. Arrow keys move it.`,
    look: () => svg("circle", { class: "tale-handle", r: 9 }),
    move(to) {
      ends[k] = to;
      judged(wrongRows(dots, border()));
    },
  });
  return talePicture({
    view: viewOf(dots.points, false),
    about: "Points of two classes and a line with two handles",
    grips: [grip(0), grip(1)],
    paint: (at, box) => [
      taleSides(at, box, border()),
      taleAxes(at, box),
      taleLine(at, box, border()),
      taleDots(at, dots, wrongRows(dots, border())),
    ],
  });
}

export const drawALine = {
  title: "Can you separate these points?",
  ask: "Drag the two handles until every + is on one side of the line and every − on the other.",
  make(scene) {
    const ends = [
      [-1, -2.75],
      [0.25, 2.75],
    ];
    const judged = (wrong) => {
      scene.say(wrong.length ? `${plural(wrong.length, "mistake")} left.` : "No mistakes: this line separates them.");
      if (!wrong.length) scene.tell();
    };
    const picture = lineByHand(EIGHT, ends, judged);
    scene.helper("Show me a line", () => {
      ends.splice(0, 2, [-2.5, -2], [2.5, 2.25]);
      judged([]);
      picture.redraw();
    });
    judged(wrongRows(EIGHT, turnedWell(EIGHT, lineThrough(ends[0], ends[1]))));
    return [picture.node];
  },
  told: [
    "A line is three numbers, w₁, w₂ and b. It gives each point x = (x₁, x₂) the score w₁·x₁ + w₂·x₂ + b, in short w·x + b: 0 on the line, above 0 on one side, below 0 on the other.",
    "A point is a mistake when its score has the wrong sign, or is 0. You looked for w and b with your eyes. How could a machine, which sees one point at a time?",
  ],
};

export const oneMistake = {
  title: "One mistake, in numbers",
  recall:
    "A line is w = (w₁, w₂) and b. A point x = (x₁, x₂) has the score w·x + b, that is w₁·x₁ + w₂·x₂ + b. The score of a + should be above 0 and that of a − below 0; else the point is a mistake.",
  ask: "Here w = (2, −2) and b = −2. The ringed point (0, 1.5) is a +, but its score is negative. Add the point to w, and 1 to b: by how much will its score rise?",
  make(scene) {
    const before = { w: [2, -2], b: -2 };
    const after = afterUpdate(FOUR, before, 3, true);
    const ring = (at) => {
      const [cx, cy] = at(FOUR.points[3]);
      return svg("circle", { class: "halo plus", cx, cy, r: 17 });
    };
    const picture = talePicture({
      view: viewOf(FOUR.points, false),
      about: "Four points and the line before and after the update",
      paint(at, box) {
        const now = scene.isTold ? after : before;
        const ghost = scene.isTold ? taleLine(at, box, before, "ghost") : null;
        return [
          taleSides(at, box, now),
          taleAxes(at, box),
          ghost,
          taleLine(at, box, now),
          taleDots(at, FOUR, wrongRows(FOUR, now)),
          ring(at),
        ];
      },
    });
    scene.whenTold(picture.redraw);
    scene.choose(["by 1.5", "by 2.25", "by 3.25"], 2);
    scene.say(`Its score: ${scoreWords(before, FOUR.points[3])}.`);
    return [picture.node];
  },
  told: [
    "The new w is (2, −0.5), the new b is −1, and the score is 2·0 + (−0.5)·1.5 − 1 = −1.75: from −5 it rose by 3.25. The faint dotted line is the old one.",
    "The rise is |x|² + 1 = 0² + 1.5² + 1, where |x| is the length of x. It is never below 1, so adding a + always raises its score. Not always far enough: this one is still a mistake, only a smaller one.",
  ],
};

export const theRule = {
  title: "The rule",
  ask: "Do it yourself. Pick a point that is a mistake (it has a dashed ring). A + is added to w, and 1 to b; a − is subtracted from w, and 1 from b. Go on until no mistake is left.",
  make(scene) {
    let [now, made] = [{ w: [0, 0], b: 0 }, 0];
    const press = (row) => {
      const isWrong = wrongRows(FOUR, now).includes(row);
      const words = scoreWords(now, FOUR.points[row]);
      if (isWrong) [now, made] = [afterUpdate(FOUR, now, row, true), made + 1];
      const left = wrongRows(FOUR, now).length;
      const count = `${plural(made, "update")}, ${plural(left, "mistake")} left.`;
      scene.say(isWrong ? `${words}: a mistake, corrected. ${count}` : `${words}: that point is right. ${count}`);
      if (left) return;
      scene.tell();
      scene.retire(help);
    };
    const picture = talePicture({
      view: viewOf(FOUR.points, false),
      about: "Four points to correct, and the line of the weights so far",
      paint: (at, box) => [taleSides(at, box, now), taleAxes(at, box), taleLine(at, box, now)],
      grips: FOUR.points.map((point, row) => ({
        spot: () => point,
        name: () => `Point ${row + 1}, at ${show(point[0])}, ${show(point[1])}, score ${show(scoreAt(now, point))}`,
        look: () => taleDot(FOUR.labels[row], wrongRows(FOUR, now).includes(row)),
        press: () => press(row),
      })),
    });
    const help = scene.helper("Correct the next mistake", () => {
      press(wrongRows(FOUR, now)[0]);
      picture.redraw();
    });
    scene.say("w = 0 and b = 0: every score is 0, and 0 is a mistake.");
    return [picture.node];
  },
  told: [
    "Call y the class of a point, +1 or −1. While some point has y·(w·x + b) ≤ 0: add y·x to w, and y to b. That is the whole Perceptron (Rosenblatt, 1958). No step size, nothing to choose.",
    "It stopped. Whichever mistake you picked, it would have stopped. Why?",
  ],
};
