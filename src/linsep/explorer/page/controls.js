// What can be chosen: the points' class, the order, the example; and the keys that work everywhere.
import { button, html, set } from "./dom.js";
import { ORDERS, wholeNumber } from "./state.js";

const THREE_WEIGHTS =
  "Weight space is drawn for lines through 0, which have two weights. A free line has three: choose “through 0” below.";
const OWN = "points of your own";

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

export function runOptions(app) {
  const seed = html("input", {
    type: "number",
    class: "seed",
    min: 0,
    max: 2 ** 31 - 1,
    "aria-label": "Seed",
    onchange: () =>
      app.change((state) => {
        state.seed = wholeNumber(seed.value, 0, 2 ** 31 - 1, 0);
      }),
  });
  const seedField = html("label", { class: "field" }, html("span", { class: "field-name" }, "seed"), seed);
  app.views.push(() => {
    if (document.activeElement !== seed) seed.value = String(app.state.seed);
    seedField.hidden = app.state.order !== "shuffled";
  });
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
    seedField,
  );
}

export function editing(app) {
  const remove = button("Delete", "Delete the chosen point (Delete)", () => app.remove(chosen), {
    class: "remove quiet",
  });
  const undo = button("Undo", "Undo (Ctrl+Z)", () => app.undo(), { class: "undo quiet" });
  const redo = button("Redo", "Redo (Ctrl+Shift+Z)", () => app.redo(), { class: "redo quiet" });
  const clear = button(
    "Clear",
    "Remove all points",
    () =>
      app.change((state) => {
        state.points = [];
        state.labels = [];
      }),
    { class: "clear quiet" },
  );
  let chosen = null;
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
  const band = html(
    "button",
    {
      type: "button",
      class: "band quiet",
      title: "The widest band between the classes",
      onclick: () => {
        app.state.band = !app.state.band;
        app.redraw();
      },
    },
    "Margin",
  );
  app.views.push(() => {
    band.setAttribute("aria-pressed", String(app.state.band));
    band.disabled = !app.answer?.widest;
  });
  const zooming = html(
    "span",
    { class: "zooming" },
    button("−", "Zoom out", () => app.zoom(1.25), { class: "quiet" }),
    button("+", "Zoom in", () => app.zoom(0.8), { class: "quiet" }),
    button("Fit", "Show all points", () => app.fit(), { class: "fit quiet" }),
  );
  const edit = [
    segments(
      "click adds",
      [
        [1, "+", "Click adds + points"],
        [-1, "−", "Click adds − points"],
      ],
      () => app.label,
      (label) => {
        app.label = label;
        app.redraw();
      },
      app,
    ),
    remove,
    undo,
    redo,
    clear,
  ];
  return html(
    "div",
    { class: "editing", role: "group", "aria-label": "Points" },
    ...(app.isWide ? [] : edit),
    band,
    zooming,
  );
}

const PANES = [
  ["data", "Data space"],
  ["weights", "Weight space"],
  ["both", "Both"],
];

// Data space, weight space, or both. A free line has three weights, so that its weight space is no plane.
export function paneTabs(app) {
  const why = html("span", { class: "why" });
  const tabs = PANES.map(([pane, words]) => {
    const choose = () => {
      if (app.state.bias && pane !== "data") return app.tell(THREE_WEIGHTS);
      app.state.pane = pane;
      return app.redraw();
    };
    return html("button", { type: "button", role: "tab", "data-pane": pane, onclick: choose }, words);
  });
  app.views.push(() => {
    const { bias, pane } = app.state;
    for (const tab of tabs) {
      const isFlat = !bias || tab.dataset.pane === "data";
      set(tab, {
        "aria-selected": String(tab.dataset.pane === (bias ? "data" : pane)),
        "aria-disabled": String(!isFlat),
        title: isFlat ? null : THREE_WEIGHTS,
      });
    }
    why.textContent = bias ? "for lines through 0" : "";
  });
  return html("div", { class: "panes-of", role: "tablist", "aria-label": "What is drawn" }, ...tabs, why);
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
  const option = (preset) => html("option", { value: preset.name, title: preset.about }, preset.title);
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
    if (event.key !== " " && event.target.closest("select, [type=range]")) return null;
    if (event.key === "Enter" && event.target.closest("button, summary, a")) return null;
    const moves = { " ": event.shiftKey ? -1 : 1, ArrowRight: 1, ArrowLeft: -1 };
    if (event.key in moves) app.moveTo(app.state.k + moves[event.key]);
    else if (event.key === "Home") app.moveTo(0);
    else if (event.key === "End") app.moveTo(app.total);
    else if (event.key === "p") app.toggle();
    else return null;
    return event.preventDefault();
  });
  // The space bar always steps: what has the focus is pressed with Enter. (Firefox clicks when the key comes up.)
  place.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.closest("button, summary, select")) event.preventDefault();
  });
}
