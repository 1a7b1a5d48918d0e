// What the letters mean: one sentence each, and the thing itself lit up in the picture and in the chart.
import { html } from "./dom.js";
import { show } from "./numbers.js";

const margins = (app) => {
  const { bound, widest } = app.told ?? {};
  if (!bound || !widest || !app.state.bias) return "";
  const here = ` Here it is ${show(bound.gamma)}.`;
  if (show(bound.gamma) === show(widest.margin)) return here;
  const where = hasMoreColumns(app) ? "to the hyperplane" : "in the plane";
  return `${here} It is not the margin of the verdict, ${show(widest.margin)}, which is a distance ${where}.`;
};

const hasMoreColumns = (app) => app.isWide || app.state.features.length > 0;
const withOne = (app) => (app.state.bias ? " with a 1 appended" : "");

const MEANINGS = {
  w: [
    "w",
    (app) =>
      app.state.kernel
        ? "w is the vector of weights in the kernel’s space. It is not computed: the counts αᵢ stand for it."
        : `w is the vector of weights: it ${hasMoreColumns(app) ? "has an entry for each column, stands on the hyperplane" : "stands on the line"} at a right angle, and points to the + side.`,
  ],
  b: [
    "b",
    (app) =>
      app.state.kernel
        ? "b is the bias. A run with a kernel has none."
        : `b is the bias: it moves the ${hasMoreColumns(app) ? "hyperplane" : "line"} along w. Without it the ${hasMoreColumns(app) ? "hyperplane" : "line"} goes through 0.`,
  ],
  y: ["yᵢ", () => "yᵢ is the class of row i: +1 or −1."],
  alpha: [
    "αᵢ",
    (app) =>
      `αᵢ counts how often row i was corrected; ${app.state.kernel ? "the score of a place x is the sum of αᵢ·yᵢ·K(xᵢ, x)" : "w is the sum of αᵢ·yᵢ·xᵢ"}.`,
  ],
  k: ["k", () => "k counts the updates made so far."],
  W: [
    "W",
    (app) =>
      app.state.kernel
        ? "W is w itself, in the kernel’s space: its length is computed from K alone."
        : app.state.bias
          ? "W is w with b as one more entry: (w, b)."
          : "W is w itself, since b is 0.",
  ],
  u: [
    "u*",
    () =>
      "u* is the best W of length 1: the one with the largest margin γ. No run knows it; the proof needs only that it exists.",
  ],
  gamma: [
    "γ",
    (app) =>
      app.state.kernel
        ? "γ is the margin of u* in the kernel’s space. It is not computed here."
        : `γ is the smallest yᵢ·(xᵢ${app.state.bias ? ", 1" : ""})·u* of all rows: how far u* keeps every row${withOne(app)} from 0.${margins(app)}`,
  ],
  R: [
    "R",
    (app) =>
      app.state.kernel
        ? "R is the length of the longest row in the kernel’s space: R² is the largest K(x, x)."
        : `R is the length of the longest row${withOne(app)}${hasMoreColumns(app) ? "" : `: all points lie in ${app.state.bias ? "the circle of radius √(R² − 1)" : "this circle"}`}.`,
  ],
};

// The letters of a card, as small buttons; pointed at or in focus, they tell.
export function lettersView(app, names) {
  const said = html("p", { class: "meaning words", role: "status" });
  const light = (name) => {
    said.textContent = name ? MEANINGS[name][1](app) : "";
    const root = /** @type {HTMLElement} */ (said.closest(".linsep"));
    root.dataset.lit = app.lit = name ?? "";
    app.redraw();
  };
  const letter = (name) =>
    html(
      "button",
      {
        type: "button",
        class: "letter",
        "data-letter": name,
        "aria-label": `What is ${MEANINGS[name][0]}?`,
        onpointerenter: () => light(name),
        onpointerleave: () => light(null),
        onfocus: () => light(name),
        onblur: () => light(null),
        onclick: () => light(name),
      },
      MEANINGS[name][0],
    );
  return html("div", { class: "letters" }, ...names.map(letter), said);
}
