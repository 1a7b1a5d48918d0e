// Can a line separate them? The verdict, and for a hopeless set the few rows and the equation that make it hopeless.
import { fill, html } from "./dom.js";
import { reasons } from "./reasons.js";

const TITLES = { separable: "Separable", touching: "Touching", overlapping: "Overlapping", undecided: "Undecided" };

export function verdictView(app) {
  const headline = html("p", { class: "headline", role: "status" });
  const why = html("div", {});
  const node = html("div", { class: "verdict" }, headline, why);
  let drawnFor = null;

  function draw() {
    if (!app.answer) {
      drawnFor = null;
      node.dataset.kind = "";
      headline.removeAttribute("data-name");
      fill(headline, "No verdict yet");
      return fill(why, html("p", { class: "words" }, app.note));
    }
    const { kind } = app.answer.verdict;
    if (drawnFor === app.answer) return node; // stepping changes nothing here
    drawnFor = app.answer;
    node.dataset.kind = kind;
    if (headline.textContent !== TITLES[kind]) fill(headline, TITLES[kind]);
    headline.dataset.name = "verdict";
    return fill(why, ...reasons(app, kind));
  }

  app.panels.push(draw);
  return node;
}
