// The rule, as the lectures write it, with the line lit that the run has reached, and the equation of its line.
import { fill, fillOnce, html } from "./dom.js";
import { FEATURE_NAMES } from "./engine/features.js";
import { equation, namedEquation, pair, plural, show, signOf } from "./numbers.js";
import { isAsGiven } from "./state.js";

const KERNEL_LINES = [
  ["start", "α ← 0"],
  ["check", "while some row i has yᵢ Σ αⱼ yⱼ K(xⱼ, xᵢ) ≤ 0:"],
  ["update", "    αᵢ ← αᵢ + 1"],
  ["stop", "stop: every row is on its side"],
];

export function codeView(app) {
  const list = html("ol", { class: "code", "aria-label": "The Perceptron in pseudo-code" });

  function lines() {
    const bias = app.state.bias;
    if (app.state.kernel) return KERNEL_LINES;
    const score = bias ? "yᵢ (w·xᵢ + b) ≤ 0" : "yᵢ (w·xᵢ) ≤ 0";
    return [
      ["start", bias ? "w ← 0, b ← 0" : "w ← 0"],
      ["check", `while some row i has ${score}:`],
      ["update", bias ? "    w ← w + yᵢ xᵢ,  b ← b + yᵢ" : "    w ← w + yᵢ xᵢ"],
      ["stop", "stop: every row is on its side"],
    ];
  }

  function lit() {
    if (!app.answer) return null;
    if (app.isDone) return "stop";
    return app.state.k === 0 ? "start" : "update";
  }

  function draw() {
    const now = lit();
    fillOnce(list, `${app.state.bias} ${Boolean(app.state.kernel)} ${now}`, () =>
      lines().map(([name, words]) =>
        html(
          "li",
          { class: name === now ? "lit" : "", "data-line": name, "aria-current": name === now ? "step" : null },
          words,
        ),
      ),
    );
  }

  app.views.push(draw);
  return list;
}

export function equationView(app) {
  const formula = html("output", {
    class: "equation",
    "data-name": "equation",
    "aria-label": "The equation of the line",
  });
  const vector = html("output", { class: "vector", "data-name": "weights" });

  function draw() {
    const { w, b } = app.weights();
    const values = app.state.bias ? [...w, b] : w;
    const names = [...(app.columns ?? ["x₁", "x₂"]), ...app.state.features.map((name) => FEATURE_NAMES[name])];
    const isLine = w.some((value) => value !== 0);
    fill(
      formula,
      app.state.kernel
        ? "Σ αᵢ yᵢ K(xᵢ, x) = 0"
        : isLine
          ? app.columns || app.isLifted
            ? namedEquation(w, b, names)
            : equation(w, b)
          : "no line yet",
    );
    fill(vector, app.state.kernel ? "" : `${app.state.bias ? "W = (w, b)" : "w"} = ${pair(values)}`);
    vector.dataset.value = JSON.stringify(values);
  }

  app.views.push(draw);
  return html("div", { class: "equations" }, formula, vector);
}

// The score of the corrected row, in numbers: 2·0 + (−2)·1.5 − 2 = ; nothing of rows with many columns.
function computed(app, row) {
  const { k, kernel } = app.state;
  if (app.isWide || kernel || k < 2) return "";
  const { w, b } = app.weights(k - 1);
  const terms = app.lift(app.state.points[row]).map((x, j) => `${bracketed(w[j])}·${bracketed(x)}`);
  const bias = app.state.bias && b ? ` ${b < 0 ? "−" : "+"} ${show(Math.abs(b))}` : "";
  return `${terms.join(" + ")}${bias} = `;
}

const bracketed = (value) => (value < 0 ? `(${show(value)})` : show(value));

// What the example on view is about, while it is as it was given.
function about(app) {
  const example = app.told && app.example();
  return example?.about && isAsGiven(app.state, example) ? `${example.about} ` : "";
}

// One sentence about what just happened.
export function storyView(app) {
  const line = html("p", { class: "story", role: "status", "aria-live": "polite" });

  function words() {
    if (!app.answer) return app.note || "…";
    const { k } = app.state;
    if (k === 0) return `${about(app)}Start with w = 0: every row scores 0, a mistake. Press Step, or space.`;
    const row = app.corrected();
    if (row === null) return "…";
    const what = `Update ${show(k)}: row ${row} scored ${computed(app, row)}${show(app.steps.score[k - 1])} and ${wants(row)}, so ${app.state.kernel ? `α${row} grew by 1` : `it was ${isPlus(row) ? "added to" : "subtracted from"} w`}.`;
    if (app.isDone) return `${what} Now no row is a mistake: separated.`;
    const { cycle } = app;
    if (cycle && k >= cycle.start + cycle.length)
      return `${what} This repeats every ${cycle.length === 1 ? "update" : plural(cycle.length, "update")}, for ever.`;
    if (k === app.total) return `${what} The record ends here; the run does not.`;
    return what;
  }

  const isPlus = (row) => app.labelOf(row) > 0;
  const wants = (row) => `should be ${isPlus(row) ? "positive" : "negative"} (${signOf(isPlus(row) ? 1 : -1)})`;

  app.views.push(() => {
    if (line.textContent !== words()) fill(line, words());
  });
  return line;
}
