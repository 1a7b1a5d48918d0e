// The story: ten steps for the first visit, each of which asks before it tells. It ends in the sandbox.
import { button, fill, html } from "../dom.js";
import { drawALine, oneMistake, theRule } from "./first-steps.js";
import { tryXor, whatNow } from "./last-steps.js";
import { rememberTold, stepFault, stepOf, wasTold } from "./memory.js";
import { breakIt, doesItStop, theCeiling, theFloor, theWall } from "./proof-steps.js";

export const TALE = [
  drawALine,
  oneMistake,
  theRule,
  doesItStop,
  theFloor,
  theCeiling,
  theWall,
  breakIt,
  tryXor,
  whatNow,
];

// R/γ and |x| stay in one line.
const unbroken = (words) => words.replace(/[/|]/g, "$&\u2060");

// What a step may do: ask with choices, say how things stand, offer help, and tell.
class Scene {
  constructor(step) {
    this.isTold = false;
    this.listeners = [];
    this.status = html("p", { class: "tale-status", role: "status" });
    this.answers = html("div", { class: "tale-answers" });
    this.help = html("div", { class: "tale-answers" });
    this.telling = html("div", { class: "tale-telling", "aria-live": "polite" });
    this.step = step;
  }

  say(words) {
    this.status.textContent = words;
  }

  whenTold(listener) {
    this.listeners.push(listener);
  }

  tell() {
    if (this.isTold) return;
    this.isTold = true;
    fill(this.telling, ...this.step.told.map((words) => html("p", {}, unbroken(words))));
    for (const listener of this.listeners) listener();
  }

  helper(words, action) {
    const node = button(words, words, action, { class: "tale-help" });
    this.help.append(node);
    return node;
  }

  // A helper that has nothing left to do; the focus goes on.
  retire(node) {
    const next = document.activeElement === node ? node.closest(".tale").querySelector(".tale-next") : null;
    node.disabled = true;
    next?.focus();
  }

  choose(options, right) {
    const buttons = options.map((words, k) => button(words, words, () => answer(k), { class: "tale-choice" }));
    const answer = (k) => {
      for (const [j, node] of buttons.entries()) {
        node.classList.toggle("right", j === right);
        node.classList.toggle("missed", j === k && k !== right);
        node.setAttribute("aria-pressed", String(j === k));
      }
      this.say(k === right ? "Yes." : `Not quite: ${options[right]}.`);
      this.tell();
    };
    this.answers.append(...buttons);
  }
}

// The story on the page of an app: opened by a first visit, by an address or by its button.
export function tellStory(app, root) {
  const place = html("section", { class: "tale card", "aria-label": "The story", hidden: true });
  let at = null;
  const show = (k, isFocused = true, fault = "") => {
    if (at === null && isFocused) app.turnTale(`story=${k + 1}`); // an entry of its own: Back leads to the sandbox
    at = k;
    app.telling = `story=${k + 1}`;
    root.classList.add("telling");
    place.hidden = false;
    fill(place, ...stepNodes(k, { show, leave }));
    if (fault) place.querySelector(".tale-head").prepend(html("p", { class: "notice", role: "alert" }, fault));
    if (isFocused) place.querySelector("h2").focus();
    app.redraw();
  };
  const close = () => {
    [at, app.telling] = [null, null];
    if (app.host.isWhole) rememberTold(); // a notebook's storage is not ours
    root.classList.remove("telling");
    place.hidden = true;
    fill(place);
    root.querySelector("main .step:enabled, main .scrub")?.focus({ preventScroll: true }); // where all keys are the run's
    app.redraw();
  };
  const leave = () => {
    app.turnTale(null);
    close();
  };
  const asked = () => (app.host.address ? stepOf(app.host.address.read(), TALE.length) : null);
  const wrong = () => stepFault(app.host.address.read(), TALE.length);
  const opener = button("Story", "The story: what the Perceptron does and why it stops", () => show(0), {
    class: "quiet",
  });
  root.querySelector("header").insertBefore(opener, root.querySelector("header .exports"));
  root.querySelector("header").after(place);
  const heard = app.host.isWhole ? document : place;
  heard.addEventListener("keydown", (event) => at !== null && taleKeys(event, at, { show, leave }));
  window.addEventListener("hashchange", () => {
    const step = asked();
    if (step === at || !app.host.address) return;
    if (step === null) close();
    else show(step, false, wrong());
  });
  if (asked() !== null) show(asked(), false, wrong());
  else if (isFirstVisit(app)) show(0, false);
}

function isFirstVisit(app) {
  const { host, own } = app;
  return Boolean(host.isWhole && !host.embed && !own && host.address && host.address.read().length < 2 && !wasTold());
}

function stepNodes(k, { show, leave }) {
  const [step, isLast] = [TALE[k], k === TALE.length - 1];
  const scene = new Scene(step);
  const pictures = step.make(scene);
  const dots = TALE.map((other, j) =>
    button(String(j + 1), `Step ${j + 1}: ${other.title}`, () => show(j), {
      class: "tale-dot",
      "aria-current": j === k ? "step" : null,
    }),
  );
  const next = isLast
    ? button("To the sandbox", "To the sandbox: end the story", leave, { class: "primary tale-next" })
    : button("Next", "The next step", () => show(k + 1), { class: "primary tale-next" });
  const back = button("Back", "Back to the step before", () => show(k - 1), { disabled: k === 0 });
  const skip = button("Skip the story", "Skip the story and open the sandbox", leave, { class: "quiet tale-skip" });
  return [
    html("nav", { class: "tale-nav", "aria-label": "Steps of the story" }, ...dots, skip),
    html(
      "div",
      { class: "tale-head" },
      html("h2", { tabindex: -1 }, step.title),
      step.recall ? html("p", { class: "words tale-recall" }, unbroken(step.recall)) : null,
      html("p", { class: "tale-ask" }, unbroken(step.ask)),
    ),
    html("div", { class: "tale-pictures" }, ...pictures),
    html(
      "div",
      { class: "tale-words" },
      scene.answers,
      scene.help,
      scene.status,
      scene.telling,
      html("div", { class: "tale-ways" }, back, next),
    ),
  ];
}

// Arrow keys turn the pages, unless they move something; Escape leaves.
function taleKeys(event, at, { show, leave }) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") leave();
  else if (event.key === "ArrowRight" && at < TALE.length - 1) show(at + 1);
  else if (event.key === "ArrowLeft" && at > 0) show(at - 1);
}
