// Can a line separate them? First the question; then the verdict, and the few rows and the equation that prove it.
import { button, fill, html } from "./dom.js";
import { lineWords, reasons } from "./reasons.js";

const TITLES = { separable: "Separable", touching: "Touching", overlapping: "Overlapping", undecided: "Undecided" };

export function verdictView(app) {
  const headline = html("p", { class: "headline", role: "status" });
  const why = html("div", {});
  const node = html("div", { class: "verdict" }, headline, why);
  let drawnFor = null; // what is drawn: a note, the question or an answer
  let guess = { said: null, about: null };

  const ask = () => {
    const say = (said) => () => {
      guess = { said, about: app.answer };
      app.tellVerdict();
    };
    return html(
      "div",
      { class: "ask-verdict" },
      button("Yes", "Yes: some line separates them", say(true), { class: "guess-yes" }),
      button("No", "No: no line separates them", say(false), { class: "guess-no" }),
      button("Show the verdict", "Show the verdict", () => app.tellVerdict(), { class: "show-verdict quiet" }),
    );
  };

  const judged = (kind) => {
    if (guess.about !== app.answer || guess.said === null) return null;
    return html(
      "p",
      { class: "words judged" },
      guess.said === (kind === "separable") ? "Your guess was right." : "Your guess was wrong.",
    );
  };

  function draw() {
    const about = app.told ?? (app.answer ? lineWords(app) : app.note);
    if (drawnFor === about) return node; // stepping changes nothing here
    drawnFor = about;
    app.litRow = null; // its link is gone
    const kind = app.told?.verdict.kind ?? "";
    node.dataset.kind = kind;
    headline.toggleAttribute("data-name", false);
    if (app.told) headline.dataset.name = "verdict";
    if (!app.answer) fill(headline, "No verdict yet") && fill(why, html("p", { class: "words" }, app.note));
    else if (!app.told) fill(headline, `Can a ${lineWords(app)} separate them?`) && fill(why, ask());
    else fill(headline, TITLES[kind]) && fill(why, judged(kind), ...reasons(app, kind));
    return node;
  }

  app.panels.push(draw);
  return node;
}
