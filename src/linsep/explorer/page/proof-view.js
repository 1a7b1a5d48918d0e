// The proof of Novikoff's theorem, live: k·γ <= W·u* <= |W| <= √k·R, and the wall where the outer two meet.
import { fill, fillOnce, html, math, plotOf } from "./dom.js";
import { explore } from "./engine/explore.js";
import { scaledBy, scalingOf } from "./engine/scaling.js";
import { isInFull, plural, show, showBound } from "./numbers.js";
import { axisReach, drawChart, proofNumbers } from "./proof-chart.js";
import { lineNoun } from "./reasons.js";

const FAR_WALL = 1000; // updates
const MOST_RESCALED = 200; // points: the words are made while others are dragged

const CHART = {
  class: "chart proof-chart",
  role: "img",
  "aria-label": "The four quantities of the proof over the updates",
};

/** @type {[string, string, () => Element][]} */
const LINKS = [
  ["floor", "k γ", () => math("mrow", math("mi", "k"), math("mi", "γ"))],
  [
    "along",
    "W·u*",
    () => math("mrow", math("mi", "W"), math("mo", "·"), math("msup", math("mi", "u"), math("mo", "*"))),
  ],
  ["norm", "|W|", () => math("mrow", math("mo", "|"), math("mi", "W"), math("mo", "|"))],
  ["ceiling", "√k R", () => math("mrow", math("msqrt", math("mi", "k")), math("mi", "R"))],
];

export function proofView(app) {
  const chain = html("div", { class: "chain" });
  const words = html("p", { class: "words" });
  const choice = html("div", { class: "segments small", role: "group", "aria-label": "How far the axis reaches" });
  const plot = plotOf(app, CHART, ["base", "moving"], draw);
  const { base, moving } = plot.layers;

  function draw() {
    if (!app.answer) {
      for (const part of [chain, words, base]) fillOnce(part, "", () => []);
      return fill(moving);
    }
    drawChain(app, chain);
    drawWords(app, words);
    drawChoice(app, choice);
    return plot.size[0] > 2 ? drawChart(plot) : null;
  }

  app.panels.push(draw);
  return html("div", { class: "proof" }, choice, plot.node, chain, words);
}

function drawChain(app, chain) {
  const values = proofNumbers(app);
  const shown = app.told?.bound ? LINKS : LINKS.slice(2);
  fillOnce(chain, String(shown.length), () =>
    shown.flatMap(([name, label, formula], i) => [
      i ? html("span", { class: "at-most", "aria-hidden": "true" }, "≤") : null,
      html(
        "span",
        { class: `link ${name}`, "aria-label": label },
        math("math", formula()),
        html("output", { "data-name": name }),
      ),
    ]),
  );
  for (const cell of chain.querySelectorAll("output")) {
    const value = values[cell.dataset.name];
    if (cell.dataset.value === String(value)) continue;
    cell.dataset.value = String(value);
    cell.textContent = show(value);
  }
}

function drawWords(app, words) {
  const bound = app.told?.bound;
  const total = app.total;
  if (!bound) {
    const why = app.state.kernel
      ? "With a kernel R² is the largest K(x, x). γ is the margin in the kernel’s space: there is a wall if that is above 0, and it is not computed here."
      : !app.told
        ? "Whether there is a floor below |W|, and a wall that ends the run, depends on the verdict."
        : app.answer.verdict.kind === "separable"
          ? "The margin is too thin for the numbers of a chart."
          : `No ${lineNoun(app)} separates these rows, so there is no u*, no floor and no wall: the updates never end.`;
    return fillOnce(words, why, () => [why]);
  }
  const wall = html("strong", { "data-name": "bound", "data-value": String(bound.bound) }, showBound(bound.bound));
  const isShort = isInFull(bound.radius) && isInFull(bound.gamma);
  const end = app.steps.converged
    ? `This run needed ${plural(total, "update")}.`
    : `The first ${show(total)} updates are recorded.`;
  return fillOnce(words, String(app.settled), () => [
    "Floor and ceiling meet at ",
    html("span", { class: "whole" }, "(", html("i", {}, "R"), " / ", html("i", {}, "γ"), ")²"),
    isShort ? " = " : " ≈ ",
    html("span", { class: "whole" }, `(${show(bound.radius)} / ${show(bound.gamma)})²`),
    isShort && isInFull(bound.bound) ? " = " : " ≈ ",
    wall,
    ". No run can pass that wall. ",
    end,
    scaledWords(app),
  ]);
}

// Of a far wall: how long the run is on the points centred and scaled.
function scaledWords(app) {
  const { points, bias, scaling } = app.state;
  const wall = app.told.bound.bound ?? Infinity;
  if (app.isWide || app.isLifted || scaling || wall < FAR_WALL || points.length > MOST_RESCALED) return "";
  const { steps, bound } = explore({ ...app.state, points: points.map(scaledBy(scalingOf(points, bias))) });
  if (!bound || !steps.converged || bound.bound * 2 > wall) return "";
  const done = bias ? "Centred and scaled" : "Scaled";
  return ` ${done} it needs ${plural(steps.row.length, "update")} (the wall is at ${show(bound.bound)}).`;
}

function drawChoice(app, choice) {
  const reaches = axisReach(app);
  if (!app.told?.bound) return fillOnce(choice, "", () => []);
  const option = (name, label) =>
    html(
      "button",
      {
        type: "button",
        "aria-pressed": String(reaches === name),
        onclick: () => {
          app.state.axes = name;
          app.redraw();
        },
      },
      label,
    );
  return fillOnce(choice, reaches, () => [option("wall", "to the wall"), option("run", "this run")]);
}
