// Points as text: pasted, dropped as a file, or typed. What cannot be read is told, and what was there is kept.
import { button, html, set } from "./dom.js";
import { pointsFrom } from "./engine/table.js";
import { csvOf, namesOnPage } from "./exports.js";

const MOST_BYTES = 1_000_000;

function takePoints(app, text) {
  try {
    const { points, labels, columns, classes } = pointsFrom(text, app.host.start.limits.points);
    app.loadOwn({ points, labels, names: { columns, classes }, told: true });
  } catch (error) {
    app.tell(error.message);
  }
}

// Text pasted onto the page, and files dropped on it.
export function takePasted(app, root, place) {
  place.addEventListener("paste", (event) => {
    if (app.isWide || event.target.closest("input, textarea")) return;
    event.preventDefault();
    takePoints(app, event.clipboardData.getData("text"));
  });
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (app.isWide || !file) return;
    if (file.size > MOST_BYTES)
      app.tell(
        `${file.name} has ${Math.round(file.size / 1e6)} MB: the page reads at most 1. Use linsep explore FILE.`,
      );
    else takePoints(app, await file.text());
  });
}

// All points as they are, to be changed by hand.
export function textView(app) {
  const text = html("textarea", { class: "points-text", rows: 8, spellcheck: "false", "aria-label": "Points as text" });
  const use = button("Use these points", "Use these points", () => takePoints(app, text.value), { class: "use" });
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
    use,
  );
  let shownFor = -1; // what is being typed stays until the points change
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
