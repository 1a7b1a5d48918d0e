// Rows of one's own, of any width: along two of their columns, or across the hyperplane.
import { fill, html, plotOf } from "./dom.js";
import { plural } from "./numbers.js";
import { lookControls } from "./table-controls.js";
import { drawTable, nearestThatWay, wordsAbout } from "./table-picture.js";

const TURNS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const TABLE_SPACE = {
  class: "plot table-space",
  role: "group",
  "aria-label": "Your rows. Arrow keys go from row to row and tell its values.",
};

export function tableView(app) {
  const facts = html("aside", { class: "facts", "aria-live": "polite" });
  const words = html("p", { class: "words" });
  const names = [html("span", { class: "axis-name across" }), html("span", { class: "axis-name up" })];
  const plot = plotOf(app, TABLE_SPACE, ["band", "grid", "rows", "named"], draw);
  const rows = tellingRows(app, plot, facts);
  let [seen, asked, isAsking, pictures] = [null, "", false, 0];
  fill(facts, html("p", { class: "words" }, "Point at a row for its values, or press Tab and then the arrow keys."));

  // Ask for what is to be seen. While the answer is on its way, only the latest wish is kept.
  async function look() {
    if (isAsking) return;
    isAsking = true;
    while (asked !== JSON.stringify(lookOf(app))) {
      const body = lookOf(app);
      asked = JSON.stringify(body);
      try {
        seen = await app.host.ask("view", body);
        pictures += 1;
      } catch (error) {
        seen = null;
        fill(facts, error.message);
      }
      draw();
    }
    isAsking = false;
  }

  function draw() {
    look();
    plot.node.classList.toggle("following", app.state.now && !app.state.columns);
    if (!seen || plot.size[0] < 2) return fill(plot.layers.rows);
    drawTable(plot, seen, pictures, rows);
    fill(names[0], seen.axes[0], " →");
    fill(names[1], "↑ ", seen.axes[1]);
    return fill(words, wordsAbout(plot));
  }

  app.views.push(draw);
  const frame = html("div", { class: "frame" }, plot.node, ...names);
  return html("div", { class: "table-pane" }, lookControls(app), frame, words, facts);
}

function lookOf(app) {
  const { columns, now, order, bias, seed, k } = app.state;
  if (columns || !now || app.host.isRecorded) return { columns, bias };
  return { columns: null, order, bias, seed, update: k };
}

// The rows that can be pointed at: each tells its values. One stop of the Tab key for all of them; from there the arrow
// keys lead to the nearest row that way.
function tellingRows(app, plot, facts) {
  const markOf = (row) => plot.layers.rows.querySelector(`[data-row="${row}"]`);
  const rows = { shown: null, tell, markOf };

  async function tell(row) {
    markOf(rows.shown ?? plot.seen.rows[0])?.setAttribute("tabindex", -1);
    markOf(row)?.setAttribute("tabindex", 0);
    rows.shown = row;
    try {
      const found = await app.host.ask("row", { row });
      if (rows.shown === row) fill(facts, ...factsOf(row, found, plot.seen));
    } catch (error) {
      fill(facts, error.message);
    }
  }

  plot.node.addEventListener("keydown", (event) => {
    const from = event.target.closest(".own-row");
    if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
    const marks = [...plot.layers.rows.children];
    const here = marks.indexOf(from);
    let next = null;
    if (event.key === "Home") next = 0;
    else if (event.key === "End") next = marks.length - 1;
    else if (event.key in TURNS) next = nearestThatWay(plot, here, TURNS[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys move through the run
    marks[next ?? here].focus();
  });
  app.pointAt = (row) => (markOf(row) ?? { focus: () => tell(row) }).focus();
  return rows;
}

function factsOf(row, found, seen) {
  const lines = found.values.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
  const named = seen.obstruction.includes(row)
    ? ", part of the obstruction"
    : seen.support.includes(row)
      ? ", nearest to the hyperplane"
      : "";
  return [
    html("p", {}, html("strong", {}, found.id ? `Row ${row}, ${found.id}` : `Row ${row}`), `: ${found.label}${named}`),
    html("dl", {}, ...lines),
    found.more ? html("p", { class: "words" }, `and ${plural(found.more, "more column")}`) : null,
  ];
}
