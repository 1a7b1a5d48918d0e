// Steps 9 and 10: XOR, which no line separates, and what to do then.
import { svg } from "../dom.js";
import { path } from "../geometry.js";
import { plural } from "../numbers.js";
import { lineByHand } from "./first-steps.js";
import { CORNERS } from "./sets.js";
import { taleAxes, taleDot, talePicture } from "./tale-picture.js";

export const tryXor = {
  title: "Four corners",
  ask: "Separate these four. Take your time; how few mistakes can you get to?",
  make(scene) {
    const ends = [
      [-0.2, 0.6],
      [1.2, 0.4],
    ];
    let fewest = 4;
    const judged = (wrong) => {
      fewest = Math.min(fewest, wrong.length);
      scene.say(`${plural(wrong.length, "mistake")}; your best so far: ${fewest}.`);
    };
    const picture = lineByHand(CORNERS, ends, judged);
    const proof = talePicture({
      view: { cx: 0.5, cy: 0.5, half: 0.75 },
      about: "Two crossing segments",
      paint: crossing,
    });
    proof.node.classList.add("tale-later");
    scene.helper("I give up", () => scene.tell());
    scene.whenTold(() => proof.node.classList.toggle("tale-later", !scene.isTold));
    judged([0, 1]);
    return [picture.node, proof.node];
  },
  told: [
    "One mistake is the fewest. No line makes none, and one sentence proves it: the point (½, ½) lies between the two − and between the two +; a line with both − on one side has everything between them on that side, so (½, ½) would have to be on both sides.",
    "½·(0,0) + ½·(1,1) = (½, ½) = ½·(0,1) + ½·(1,0). Whenever no line exists, there is such a common point, of at most four points in the plane (Kirchberger, 1903). The Perceptron would go round for ever: here its weights repeat every 4 updates.",
  ],
};

function crossing(at, box) {
  const [a, b, c, d] = CORNERS.points.map(at);
  const [cx, cy] = at([0.5, 0.5]);
  return [
    taleAxes(at, box),
    svg("path", { class: "witness minus", d: path([a, d]) }),
    svg("path", { class: "witness plus", d: path([b, c]) }),
    CORNERS.points.map((point, row) => taleDot(CORNERS.labels[row], false, at(point))),
    svg("g", { class: "common" }, svg("circle", { cx, cy, r: 9 }), svg("circle", { class: "heart", cx, cy, r: 3 })),
  ];
}

export const whatNow = {
  title: "What now?",
  ask: "A third number for each point would lift it out of the paper. Which one lets a flat sheet part the + from the −?",
  make(scene) {
    const lifted = taleLifted(() => scene.isTold);
    const plane = talePicture({
      view: { cx: 0.5, cy: 0.5, half: 0.75 },
      about: "The boundary in the plane",
      paint: curved,
    });
    plane.node.classList.add("tale-later");
    scene.choose(["x₁ + x₂", "x₁·x₂", "x₁ − x₂"], 1);
    scene.whenTold(() => {
      plane.node.classList.toggle("tale-later", !scene.isTold);
      lifted.redraw();
    });
    return [lifted.node, plane.node];
  },
  told: [
    "x₁·x₂ lifts the corner (1, 1) alone. The sheet x₁ + x₂ − 2·x₁·x₂ = ½ passes between them; down in the plane it is a cross. (Sums and differences of the old numbers do not help: with them the points stay on a flat sheet.)",
    "There is a shortcut. The weights w are a sum of points, each with its sign y. So a score w·x is a sum of products x·x′ of two points, and the Perceptron needs nothing else of them. To run among lifted points, it needs only the product of any two lifted points.",
    "A kernel is such a product, computed from the flat points: nobody has to lift them. Take (x·x′ + 1)². Multiplied out, it has the term 2·(x₁·x₂)·(x₁′·x₂′): the third number of one point times that of the other is inside.",
    "Now the page is yours: the sandbox has these sets and more, and points of your own. It calls points rows, as a table does.",
  ],
};

// Where x₁ + x₂ − 2·x₁·x₂ is above ½: since (1 − 2·x₁)·(1 − 2·x₂) is below 0 there, two opposite quarters.
function curved(at, box) {
  const quarter = (name, x, y) => {
    const spots = [
      [0.5, 0.5],
      [x, 0.5],
      [x, y],
      [0.5, y],
    ].map(at);
    return svg("path", { class: `side ${name}`, d: path(spots, true) });
  };
  const { left, right, bottom, top } = box;
  return [
    quarter("plus", left, top),
    quarter("plus", right, bottom),
    quarter("minus", left, bottom),
    quarter("minus", right, top),
    taleAxes(at, box, (number) => number !== 0.5), // the lines of the cross run there
    svg("path", { class: "line", d: path([at([left, 0.5]), at([right, 0.5])]) }),
    svg("path", { class: "line", d: path([at([0.5, bottom]), at([0.5, top])]) }),
    CORNERS.points.map((point, row) => taleDot(CORNERS.labels[row], false, at(point))),
  ];
}

// The four corners in space, seen from the side: lifted by x₁·x₂, with the sheet between them, or lying flat.
function taleLifted(isUp) {
  const turn = (p) => [0.9 * (p[0] - p[1]), 0.42 * (p[0] + p[1]) + 0.85 * p[2]];
  return talePicture({
    view: { cx: 0, cy: 0.75, half: 1.25 },
    about: "The four corners in three dimensions",
    paint(at) {
      const place = (p) => at(turn(p));
      const floor = [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
      ].map(place);
      const sheet = [
        [0, 0, -0.25],
        [1, 0, 0.25],
        [1, 1, 0.75],
        [0, 1, 0.25],
      ].map(place);
      const tops = CORNERS.points.map(([x, y]) => [x, y, isUp() ? x * y : 0]);
      return [
        svg("path", { class: "tale-floor", d: path(floor, true) }),
        isUp() ? svg("path", { class: "tale-sheet", d: path(sheet, true) }) : null,
        ...tops.map((p) => svg("path", { class: "tale-stalk", d: path([place([p[0], p[1], 0]), place(p)]) })),
        ...tops.map((p, row) => taleDot(CORNERS.labels[row], false, place(p))),
      ];
    },
  });
}
