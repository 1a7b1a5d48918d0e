// Points as text: pasted, dropped as a file, or typed. What cannot be read is told, and what was there is kept.
import { button, html, set } from "./dom.js";
import { pointsFrom } from "./engine/table.js";
import { csvOf, namesOnPage } from "./exports.js";
import { plural } from "./numbers.js";

const MOST_BYTES = 1_000_000;

// Use the points of a text; what is wrong with it, or "".
function takePoints(app, text) {
  try {
    const { points, labels, columns, classes } = pointsFrom(text, app.host.start.limits.points);
    app.loadOwn({ points, labels, names: { columns, classes }, told: true });
    return "";
  } catch (error) {
    return error.message;
  }
}

function takeOrTell(app, text) {
  const wrong = takePoints(app, text);
  if (wrong) app.tell(wrong);
}

// Text pasted onto the page, and files dropped on it; not while the story hides the points that they would replace.
export function takePasted(app, root, place) {
  const isClosed = () => app.isWide || app.telling;
  place.addEventListener("paste", (event) => {
    if (isClosed() || event.target.closest("input, textarea")) return;
    event.preventDefault();
    takeOrTell(app, event.clipboardData.getData("text"));
  });
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (isClosed() || !file) return;
    if (file.size > MOST_BYTES)
      app.tell(
        `${file.name} has ${Math.round(file.size / 1e6)} MB: the page reads at most 1. Use linsep explore FILE.`,
      );
    else takeOrTell(app, await file.text());
  });
}

// What came of a text, beside its button, until the text or the points change.
function outcome(app) {
  const node = html("span", { class: "outcome", role: "status" });
  let saidAt = null; // the number of answers there were; null before the frame that follows
  const say = (words, isWrong) => {
    node.textContent = words;
    node.classList.toggle("bad", isWrong);
    saidAt = null;
    app.redraw();
  };
  app.views.push(() => {
    saidAt ??= app.settled;
    if (saidAt !== app.settled) node.textContent = "";
  });
  return { node, say };
}

// All points as they are, to be changed by hand.
export function textView(app) {
  const said = outcome(app);
  let shownFor = -1; // what is being typed stays until the points change
  const text = html("textarea", {
    class: "points-text",
    rows: 8,
    spellcheck: "false",
    "aria-label": "Points as text",
    oninput: () => {
      shownFor = app.settled; // also when the card has just been opened, and its toggle event is still to come
      said.say("", false);
    },
  });
  const take = () => {
    const wrong = takePoints(app, text.value);
    said.say(wrong || `${plural(app.state.points.length, "point")} in use.`, Boolean(wrong));
  };
  const node = html(
    "details",
    { class: "card as-text" },
    html("summary", {}, "Points as text"),
    html(
      "p",
      { class: "words" },
      "One point a line: x1, x2, label. Paste a table here or anywhere on the page, or drop a CSV file.",
    ),
    text,
    html("div", { class: "using" }, button("Use these points", "Use these points", take, { class: "use" }), said.node),
  );
  const show = () => {
    if (!node.open || shownFor === app.settled) return;
    shownFor = app.settled;
    text.value = csvOf(app.state, namesOnPage(app));
  };
  node.addEventListener("toggle", show);
  app.views.push(show);
  return node;
}

// What went wrong last, until the points change.
export function noticeView(app) {
  const node = html("p", { class: "notice", role: "alert" });
  app.views.push(() => {
    set(node, { hidden: !app.notice });
    if (node.textContent !== app.notice) node.textContent = app.notice;
  });
  return node;
}
