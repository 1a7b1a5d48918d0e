// Challenges: sets to be made by hand. The engine judges each change of the points.
import { html, set } from "./dom.js";
import { CHALLENGES, judged } from "./engine/challenges.js";

const NO_ANSWER = { isDone: false, now: "" };
const UNTOLD = "To see why, guess the verdict or ask for it."; // the reasons would give it away

export function challengeView(app) {
  const select = html(
    "select",
    {
      class: "challenges",
      "aria-label": "Challenge",
      onchange: () => {
        app.state.challenge = select.value;
        app.redraw();
      },
    },
    html("option", { value: "" }, "Choose a challenge"),
    ...Object.entries(CHALLENGES).map(([name, { title }]) => html("option", { value: name }, title)),
  );
  const ask = html("p", { class: "words challenge-ask" });
  const said = html("p", { class: "challenge-said", role: "status" });
  const node = html("section", { class: "card challenge-card", "aria-label": "Challenge" }, select, ask, said);
  let judgedFor = "";

  app.panels.push(() => {
    const { challenge } = app.state;
    const key = `${challenge} ${app.settled} ${Boolean(app.answer)} ${Boolean(app.told)}`;
    select.value = challenge;
    if (key === judgedFor || app.isDragging) return;
    judgedFor = key;
    const chosen = CHALLENGES[challenge];
    const { isDone, now } = chosen && app.answer ? judged(challenge, app.state, app.answer) : NO_ANSWER;
    ask.textContent = chosen?.ask ?? "";
    const why = app.answer && !isDone && !app.told ? UNTOLD : now || app.note;
    said.textContent = chosen ? `${isDone ? "Done." : "Not yet."} ${why}` : "";
    set(said, { "data-done": String(isDone) });
  });
  return node;
}
