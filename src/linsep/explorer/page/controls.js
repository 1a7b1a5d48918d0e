// What can be chosen: the points' class, the order, the example; and the keys that work everywhere.
import { button, html, set } from "./dom.js";
import { LARGEST_SEED, ORDERS } from "./link-parts.js";
import { numberField } from "./number-field.js";
import { featureToggles, kernelPicker } from "./space-controls.js";
import { wholeNumber } from "./state.js";

const OWN = "points of your own";

// A class in a legend: its colour and its name, which may be long.
export const classInLegend = (name, i) => [
  html("span", { class: `swatch ${i ? "plus" : "minus"}` }),
  html("span", { class: "class-name", title: name }, name),
];

export function segments(label, options, get, choose, app) {
  const buttons = options.map(([value, words, title]) =>
    html(
      "button",
      { type: "button", title: title ?? words, onclick: () => choose(value), "data-value": String(value) },
      words,
    ),
  );
  app.views.push(() => {
    for (const [i, node] of buttons.entries()) set(node, { "aria-pressed": String(get() === options[i][0]) });
  });
  return html(
    "div",
    { class: "field" },
    html("span", { class: "field-name" }, label),
    html("div", { class: "segments", role: "group", "aria-label": label }, ...buttons),
  );
}

const ORDER_WORDS = {
  cyclic: "walk the rows round and round",
  restart: "begin again at the first row after each update",
  shuffled: "a new permutation for each pass",
  worst: "the most violated row first",
};

function seedField(app) {
  const { input, said } = numberField(app, {
    attributes: { class: "seed", min: 0, max: LARGEST_SEED, "aria-label": "Seed" },
    read: (text) => (text === "" ? null : wholeNumber(text, 0, LARGEST_SEED, null)),
    get: () => app.state.seed,
    put: (seed) =>
      app.change((state) => {
        state.seed = seed;
      }),
    what: `A seed is a whole number from 0 to 2,147,483,647.`,
  });
  const node = html("label", { class: "field" }, html("span", { class: "field-name" }, "seed"), input, said);
  app.views.push(() => {
    node.hidden = app.state.order !== "shuffled";
  });
  return node;
}

export function runOptions(app) {
  return html(
    "div",
    { class: "options" },
    segments(
      "order",
      ORDERS.map((order) => [order, order, ORDER_WORDS[order]]),
      () => app.state.order,
      (order) =>
        app.change((state) => {
          state.order = order;
        }),
      app,
    ),
    segments(
      app.isWide ? "hyperplane" : "line",
      [
        [true, "free", "With bias: it may miss the origin"],
        [false, "through 0", "Without bias: it goes through the origin"],
      ],
      () => app.state.bias,
      (bias) => app.setBias(bias),
      app,
    ),
    seedField(app),
    ...(app.isWide ? [] : [scalingSwitch(app), featureToggles(app), kernelPicker(app)]),
  );
}

function scalingSwitch(app) {
  const options = [
    [false, "as they are", "The points in their own units"],
    [true, "centred and scaled", "Columns of mean 0 and deviation 1; through 0, of mean square 1 (--standardise)"],
  ];
  return segments(
    "points",
    options,
    () => Boolean(app.state.scaling),
    (isScaled) => app.setScaled(isScaled),
    app,
  );
}

export function editing(app) {
  return html(
    "div",
    { class: "editing", role: "group", "aria-label": "Points" },
    classPicker(app),
    ...changeButtons(app),
    bandButton(app),
    html(
      "span",
      { class: "zooming" },
      button("−", "Zoom out", () => app.zoom(1.25), { class: "quiet" }),
      button("+", "Zoom in", () => app.zoom(0.8), { class: "quiet" }),
      button("Fit", "Show all points", () => app.fit(), { class: "fit quiet" }),
    ),
  );
}

function classPicker(app) {
  const options = [
    [1, "+", "Click adds + points"],
    [-1, "−", "Click adds − points"],
  ];
  const choose = (label) => {
    app.label = label;
    app.redraw();
  };
  return segments("click adds", options, () => app.label, choose, app);
}

function changeButtons(app) {
  let chosen = null;
  const wipe = () =>
    app.change((state) => {
      state.points = [];
      state.labels = [];
    });
  const remove = button("Delete", "Delete the chosen point (Delete)", () => app.remove(chosen), {
    class: "remove quiet",
  });
  const undo = button("Undo", "Undo (Ctrl+Z)", () => app.undo(), { class: "undo quiet" });
  const redo = button("Redo", "Redo (Ctrl+Shift+Z)", () => app.redo(), { class: "redo quiet" });
  const clear = button("Clear", "Remove all points", wipe, { class: "clear quiet" });
  document.addEventListener("focusin", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const mark = /** @type {HTMLElement | null} */ (target.closest?.(".data-space .point"));
    if (mark) chosen = Number(mark.dataset.row);
    else if (target.closest?.(".data-space")) chosen = null;
    app.redraw();
  });
  app.views.push(() => {
    remove.disabled = chosen === null || chosen >= app.state.points.length;
    undo.disabled = !app.past.before.length;
    redo.disabled = !app.past.after.length;
  });
  return [remove, undo, redo, clear];
}

function bandButton(app) {
  const turn = () => {
    app.state.band = !app.state.band;
    app.tellVerdict(); // whoever asks for the band asks whether there is one
  };
  const band = button("Margin", "The widest band between the classes", turn, { class: "band quiet" });
  app.views.push(() => {
    set(band, { "aria-pressed": String(app.state.band) });
    band.disabled = Boolean(!app.answer || (app.told && !app.told.widest) || app.isLifted);
  });
  return band;
}

const PANES = { data: "Data space", weights: "Weight space", lifted: "Lifted space", both: "Both" };

// Why a pane cannot be drawn now; "" if it can.
export function whyNot(app, pane) {
  const { bias, features, kernel } = app.state;
  if (app.isWide && pane !== "data") return "Only points of the plane have one.";
  if (pane === "weights" && (bias || features.length || kernel))
    return "Weight space is drawn for straight lines through 0, which have two weights. A free line has three: choose “through 0” below.";
  if (pane === "lifted" && !app.isLiftedOnce)
    return "Lifted space is drawn for one feature: choose x₁·x₂ below, for instance.";
  if (pane === "both" && whyNot(app, "weights") && whyNot(app, "lifted"))
    return `${whyNot(app, "weights")} ${whyNot(app, "lifted")}`;
  return "";
}

// Which spaces are drawn. A tab that has nothing to show is grey, and says why.
export function paneTabs(app) {
  const tabs = Object.entries(PANES).map(([pane, words]) => {
    const choose = () => {
      if (whyNot(app, pane)) return app.tell(whyNot(app, pane));
      app.state.pane = pane;
      return app.redraw();
    };
    return html("button", { type: "button", role: "tab", "data-pane": pane, onclick: choose }, words);
  });
  app.views.push(() => {
    const { pane } = app.state;
    const shown = whyNot(app, pane) ? "data" : pane;
    for (const tab of tabs) {
      const why = whyNot(app, tab.dataset.pane);
      set(tab, {
        "aria-selected": String(tab.dataset.pane === shown),
        "aria-disabled": String(Boolean(why)),
        title: why || null,
      });
    }
  });
  return html("div", { class: "panes-of", role: "tablist", "aria-label": "What is drawn" }, ...tabs);
}

export function presetPicker(app) {
  const presets = app.host.start.presets.filter((preset) => preset.name !== "own");
  const all = [...(app.own?.preset ? [app.own.preset] : []), ...presets];
  const isShown = ({ points, labels }) =>
    points.length === app.state.points.length &&
    points.every(([x, y], i) => {
      const [u, v] = app.state.points[i];
      return x === u && y === v && labels[i] === app.state.labels[i];
    });
  app.example = () => all.find(isShown);
  const option = (preset) => html("option", { value: preset.name }, preset.title);
  const select = html(
    "select",
    {
      class: "presets",
      "aria-label": "Example",
      onchange: () => (select.value === OWN ? app.loadOwn() : app.load(all.find(({ name }) => name === select.value))),
    },
    html("option", { value: OWN }, "Points of your own"),
    ...all.map(option),
  );
  app.views.push(() => {
    select.value = app.example()?.name ?? OWN;
  });
  return select;
}

// What space and Enter press. Everywhere else the space bar steps; a list leaves it and p to the run, and no other key.
const PRESSED = "button, summary, a";

export function keys(app, place) {
  place.addEventListener("keydown", (event) => {
    if (app.telling) return null;
    const typing = event.target.closest("input:not([type=range]), textarea");
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === "z" && !typing) {
      event.preventDefault();
      return event.shiftKey ? app.redo() : app.undo();
    }
    if (command && event.key.toLowerCase() === "y" && !typing) {
      event.preventDefault();
      return app.redo();
    }
    if (command || event.altKey || typing) return null;
    const isEndOfRun = event.key === "End" && event.target.closest(".scrub"); // the slider may end before it
    if (![" ", "p"].includes(event.key) && !isEndOfRun && event.target.closest("select, [type=range]")) return null;
    if ((event.key === "Enter" || event.key === " ") && event.target.closest(PRESSED)) return null;
    const moves = { " ": event.shiftKey ? -1 : 1, ArrowRight: 1, ArrowLeft: -1 };
    if (event.key in moves) app.moveTo(app.state.k + moves[event.key]);
    else if (event.key === "Home") app.moveTo(0);
    else if (event.key === "End") app.moveTo(app.total);
    else if (event.key === "p") app.toggle();
    else return null;
    return event.preventDefault();
  });
  // The space bar does not open a list. (Firefox does so when the key comes up.)
  place.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.closest("select")) event.preventDefault();
  });
}
