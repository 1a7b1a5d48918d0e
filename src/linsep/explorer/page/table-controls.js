// How wide rows are looked at: along two columns, or across a hyperplane.
import { classInLegend, segments } from "./controls.js";
import { html } from "./dom.js";

export function lookControls(app) {
  const { columns, labels } = app.own;
  const pick = (name) =>
    html(
      "select",
      { "aria-label": name, onchange: choose },
      ...columns.map((column, j) => html("option", { value: j }, column)),
    );
  const [first, second] = [pick("Across"), pick("Up")];
  const kind = html(
    "select",
    { class: "view-kind", "aria-label": "View", onchange: choose },
    html("option", { value: "separation" }, "separation view"),
    html("option", { value: "columns" }, "two columns"),
  );
  const follow = segments(
    "across",
    [
      [false, "the final hyperplane", "The hyperplane that the verdict names"],
      [true, "this update’s", "The Perceptron’s hyperplane after the current update"],
    ],
    () => app.state.now,
    (now) => {
      app.state.now = now;
      app.redraw();
    },
    app,
  );
  second.value = String(Math.min(1, columns.length - 1));

  function choose() {
    app.state.columns = kind.value === "columns" ? [Number(first.value), Number(second.value)] : null;
    app.redraw();
  }

  app.views.push(() => {
    const { columns: pair } = app.state;
    kind.value = pair ? "columns" : "separation";
    if (pair) [first.value, second.value] = pair.map(String);
    first.hidden = second.hidden = !pair;
    follow.hidden = Boolean(pair) || app.host.isRecorded;
  });
  const swatches = labels.flatMap(classInLegend);
  return html("div", { class: "editing" }, kind, first, second, follow, html("p", { class: "legend" }, ...swatches));
}
