// The page, put together.
import { App } from "./app.js";
import { codeView, equationView, storyView } from "./code-view.js";
import { editing, keys, presetPicker, runOptions, transport } from "./controls.js";
import { dataView } from "./data-view.js";
import { card, html } from "./dom.js";
import { dualView } from "./dual-view.js";
import { exportsMenu } from "./exports.js";
import { keepView } from "./keep-view.js";
import { tableView } from "./table-view.js";
import { proofView } from "./proof-view.js";
import { verdictView } from "./verdict-view.js";
import { weightView } from "./weight-view.js";

export function mount(root, host) {
  const app = new App(host);
  root.classList.toggle("embed", Boolean(host.embed));
  const weights = html("figure", { class: "pane weights-pane" }, html("figcaption", {}, "Weight space"), weightView(app));
  const points = () => [editing(app), html("div", { class: "panes" }, html("figure", { class: "pane" }, html("figcaption", {}, "Data space"), dataView(app)), weights)];
  const stage = html("section", { class: "card stage", "aria-label": "Data space" },
    ...(app.isWide ? [tableView(app)] : points()), transport(app), storyView(app), runOptions(app));
  app.views.push(() => {
    weights.hidden = app.state.bias || app.isWide;
    stage.classList.toggle("two", !weights.hidden);
  });
  const keep = html("details", { class: "card keep", ontoggle: () => { app.state.keep = keep.open; app.redraw(); } }, html("summary", {}, "Which weights to keep"), keepView(app));
  app.views.push(() => { keep.open = app.state.keep; });
  root.replaceChildren(
    header(app, root),
    html("main", {},
      stage,
      html("div", { class: "side-column" },
        card("verdict-card", "The verdict", verdictView(app)),
        card("proof-card", "The proof, live", proofView(app)),
        card("rule-card", "The rule", codeView(app), ...(app.isWide ? [] : [equationView(app)]))),
      html("div", { class: "below" },
        card("dual-card", "Corrections of each row", dualView(app)),
        ...(host.isRecorded || app.isWide ? [] : [keep]))),
  );
  keys(app, host.isWhole ? document : root); // in a notebook, other keys are not ours
  host.address?.listen?.((state) => app.restore(state));
  app.refresh();
  return app;
}

function header(app, root) {
  const theme = html("button", { type: "button", class: "theme quiet", title: "Light or dark", "aria-label": "Light or dark", onclick: () => {
    const dark = getComputedStyle(root).colorScheme.includes("dark") && !getComputedStyle(root).colorScheme.includes("light") || (root.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "light" : "dark";
    app.redraw();
  } }, "◐");
  return html("header", {}, html("h1", {}, html("span", { class: "mark" }, "linsep"), " explorer"), app.own ? html("span", { class: "own-title" }, app.own.title) : null, ...(app.isWide ? [] : [presetPicker(app)]), exportsMenu(app, root), theme);
}
