// The page, put together.
import { App } from "./app.js";
import { challengeView } from "./challenge-view.js";
import { codeView, equationView, storyView } from "./code-view.js";
import { classInLegend, editing, keys, paneTabs, presetPicker, runOptions, whyNot } from "./controls.js";
import { dataView } from "./data-view.js";
import { lettersView } from "./definitions.js";
import { button, card, fill, fillOnce, html } from "./dom.js";
import { dualView } from "./dual-view.js";
import { exportsMenu } from "./exports.js";
import { fewestView } from "./fewest-view.js";
import { keepView } from "./keep-view.js";
import { liftedView } from "./lifted-view.js";
import { noticeView, takePasted, textView } from "./own-points.js";
import { proofView } from "./proof-view.js";
import { tellStory } from "./story/story.js";
import { tableView } from "./table-view.js";
import { transport } from "./transport.js";
import { verdictView } from "./verdict-view.js";
import { weightView } from "./weight-view.js";

const WEIGHTS_WORDS =
  "In weight space each row is a line, and w gets the row right when it is on the side of the row’s number. ";
const CONE_WORDS = "In the green cone w gets every row right; the run walks until it is inside.";
const NO_CONE_WORDS = "Here no w gets every row right: there is no cone for the run to walk into.";

export function mount(root, host) {
  const app = new App(host);
  root.classList.toggle("embed", Boolean(host.embed));
  const stage = html(
    "section",
    { class: "card stage", "aria-label": "Data space" },
    ...(app.isWide ? [tableView(app)] : [editing(app), paneTabs(app), ...panes(app)]),
    noticeView(app),
    transport(app),
    storyView(app),
    runOptions(app),
    hint(app),
  );
  const [verdict, proof] = [
    card("verdict-card", "The verdict", verdictView(app), fewestView(app)),
    card("proof-card", "The proof, live", proofView(app), lettersView(app, ["k", "W", "u", "gamma", "R"])),
  ];
  const rule = card(
    "rule-card",
    "The rule",
    codeView(app),
    ...(app.isWide ? [] : [equationView(app)]),
    lettersView(app, ["w", "b", "y", "alpha"]),
  );
  const dual = card("dual-card", "How often each row was corrected", dualView(app));
  root.replaceChildren(
    header(app, root),
    html(
      "main",
      {},
      html(
        "div",
        { class: "column" },
        stage,
        dual,
        ...(app.isWide ? [] : [challengeView(app), keepCard(app), textView(app)]),
      ),
      html("div", { class: "column" }, verdict, proof, rule),
    ),
  );
  keys(app, host.isWhole ? document : root); // in a notebook, other keys are not ours
  takePasted(app, root, host.isWhole ? document : root);
  host.address?.listen?.((hash) => app.follow(hash));
  if (!host.embed) tellStory(app, root);
  const { notice } = app;
  app.refresh();
  app.tell(notice); // of a damaged link
  return app;
}

// The data space, and beside it or instead of it the weight space or the lifted one.
function panes(app) {
  const pane = (name, title, ...views) => {
    const frame = html("div", { class: "frame" }, ...views);
    return html("figure", { class: `pane ${name}-pane` }, html("figcaption", {}, title), frame);
  };
  const data = pane("data", "Data space", dataView(app), ...namesView(app));
  const weights = pane("weights", "Weight space", weightView(app));
  const lifted = pane("lifted", "Lifted space (drag to turn it)", liftedView(app));
  const all = html("div", { class: "panes" }, data, weights, lifted);
  const about = html("p", { class: "words about-weights" });
  app.views.push(() => {
    const chosen = app.state.pane;
    const isShown = (name) => whyNot(app, name) === "" && (chosen === name || chosen === "both");
    weights.hidden = !isShown("weights");
    lifted.hidden = !isShown("lifted");
    const isAlone = weights.hidden && lifted.hidden;
    data.hidden = !isAlone && chosen !== "both";
    about.hidden = weights.hidden;
    const isCone = (app.told?.verdict.kind ?? "separable") === "separable";
    fillOnce(about, String(isCone), () => [WEIGHTS_WORDS, isCone ? CONE_WORDS : NO_CONE_WORDS]);
    all.classList.toggle("two", !isAlone && !data.hidden);
  });
  return [all, about];
}

// The names of the columns at the axes, and those of the classes: where points have any.
function namesView(app) {
  const [across, up] = ["across", "up"].map((name) => html("span", { class: `axis-name ${name}` }));
  const legend = html("p", { class: "legend in-plot" });
  app.views.push(() => {
    const [{ columns }, classes] = [app, app.state.names?.classes];
    across.hidden = up.hidden = !columns;
    legend.hidden = !classes;
    if (columns) fill(across, columns[0], " →") && fill(up, "↑ ", columns[1]);
    if (!classes) return;
    fillOnce(legend, classes.join("\n"), () => classes.flatMap(classInLegend));
  });
  return [across, up, legend];
}

function keepCard(app) {
  const open = (event) => {
    event.preventDefault(); // the state opens it, so that a link does too
    app.state.keep = !app.state.keep;
    app.redraw();
  };
  const summary = html("summary", { onclick: open }, "Which weights to keep");
  const node = html("details", { class: "card keep" }, summary, keepView(app));
  app.views.push(() => {
    node.open = app.state.keep;
  });
  return node;
}

function hint(app) {
  const edit =
    "Click adds a point, Shift+click one of the other class; drag to move it, or empty space to move the view; the wheel zooms. On a point Delete removes, Enter flips, n goes to the next. ";
  const keysToPress = "Space steps, Shift+space goes back, p plays.";
  return html(
    "p",
    { class: "hint words" },
    `${app.isWide ? "" : edit}${keysToPress}${app.isWide ? "" : " An outline marks a mistake, a ring the row just corrected."}`,
  );
}

function header(app, root) {
  const switchLight = () => {
    const seen = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = seen === "dark" ? "light" : "dark";
  };
  const theme = button("◐", "Light or dark", switchLight, { class: "theme quiet" });
  return html(
    "header",
    {},
    html("h1", {}, html("span", { class: "mark" }, "linsep"), " explorer"),
    app.own ? html("span", { class: "own-title" }, app.own.title) : null,
    ...(app.isWide ? [] : [presetPicker(app)]),
    exportsMenu(app, root),
    theme,
  );
}
