// Rows of one's own, of any width: along two of their columns, or across the hyperplane.

import { segments } from "./controls.js";
import { fill, fillOnce, html, surface, svg } from "./dom.js";
import { drawGrid } from "./marks.js";
import { plural } from "./numbers.js";

const TURNS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function tableView(app) {
  const { columns, rows, labels } = app.own;
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
  const layers = Object.fromEntries(["band", "grid", "rows", "named"].map((name) => [name, svg("g", { class: name })]));
  const facts = html("aside", { class: "facts", "aria-live": "polite" });
  const words = html("p", { class: "words" });
  const names = [html("span", { class: "axis-name across" }), html("span", { class: "axis-name up" })];
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
  let size = [0, 0];
  let seen = null;
  let shown = null;
  let asked = "";
  let isAsking = false;
  let pictures = 0;
  const node = surface(
    {
      class: "plot table-space",
      role: "group",
      "aria-label": "Your rows. Arrow keys go from row to row and tell its values.",
    },
    (width, height) => {
      size = [width, height];
      draw();
    },
  );
  node.append(...Object.values(layers));
  node.addEventListener("keydown", walk);
  fill(facts, html("p", { class: "words" }, "Point at a row for its values, or press Tab and then the arrow keys."));
  second.value = String(Math.min(1, columns.length - 1));

  function choose() {
    app.state.columns = kind.value === "columns" ? [Number(first.value), Number(second.value)] : null;
    app.redraw();
  }

  function showChoice() {
    const { columns: pair, now } = app.state;
    kind.value = pair ? "columns" : "separation";
    if (pair) [first.value, second.value] = pair.map(String);
    first.hidden = second.hidden = !pair;
    follow.hidden = Boolean(pair) || app.host.isRecorded;
    node.classList.toggle("following", now && !pair);
  }

  function question() {
    const { columns: pair, now, order, bias, seed, k } = app.state;
    if (pair || !now || app.host.isRecorded) return { columns: pair, bias };
    return { columns: null, order, bias, seed, update: k };
  }

  // Ask for what is to be seen. While the answer is on its way, only the latest wish is kept.
  async function look() {
    if (isAsking) return;
    isAsking = true;
    while (asked !== JSON.stringify(question())) {
      const body = question();
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
    showChoice();
    look();
    if (!seen || size[0] < 2) return fill(layers.rows);
    const box = boxAround(seen, size);
    const at = ([x, y]) => [
      ((x - box.left) / (box.right - box.left)) * size[0],
      ((box.top - y) / (box.top - box.bottom)) * size[1],
    ];
    drawGrid(layers.grid, box, at, size);
    fill(names[0], seen.axes[0], " →");
    fill(names[1], "↑ ", seen.axes[1]);
    drawSplit(box, at);
    const big = seen.rows.length <= 200;
    const focused = layers.rows.contains(document.activeElement) ? shown : null;
    fillOnce(layers.rows, `${pictures} ${size}`, () =>
      seen.rows.map((row, i) => mark(row, i, at([seen.x[i], seen.y[i]]), big)),
    );
    if (focused !== null && !layers.rows.contains(document.activeElement)) markOf(focused)?.focus();
    const place = new Map(seen.rows.map((row, i) => [row, i]));
    const ring = (name) => (row) => {
      const [cx, cy] = at([seen.x[place.get(row)], seen.y[place.get(row)]]);
      return svg("circle", { class: name, cx, cy, r: 11, "data-row": row });
    };
    const current = app.corrected();
    fill(
      layers.named,
      ...seen.support.map(ring("support")),
      ...seen.obstruction.map(ring("obstructing")),
      place.has(current) ? ring("halo current")(current) : null,
    );
    const left = seen.left_out
      ? ` ${plural(seen.left_out, "row")} of ${rows.toLocaleString("en-US")} are not drawn.`
      : "";
    const rings = seen.obstruction.length
      ? "Rings: the rows of the obstruction."
      : seen.support.length
        ? "Rings: the rows nearest to the hyperplane."
        : "";
    const dashed = place.has(current) ? " Dashed ring: the row just corrected." : "";
    return fill(words, `${seen.columns ? "" : `Looking across ${seen.side.what}. `}${rings}${dashed}${left}`);
  }

  // The hyperplane seen from its side: a line at 0, its two halves, and the band of its margin.
  function drawSplit(box, at) {
    if (seen.columns) return fill(layers.band);
    const edge = (x) => Math.max(0, Math.min(size[0], at([x, 0])[0]));
    const slab = (name, from, to) =>
      svg("rect", { class: name, x: edge(from), width: Math.max(0, edge(to) - edge(from)), y: 0, height: size[1] });
    const { margin } = seen.side;
    return fill(
      layers.band,
      slab("side minus", box.left, 0),
      slab("side plus", 0, box.right),
      margin ? slab("strip", -margin, margin) : null,
      svg("path", { class: "line", d: `M${edge(0)} 0V${size[1]}` }),
    );
  }

  /** @type {(row: number, i: number, place: number[], big: boolean) => Element} */
  function mark(row, i, [x, y], big) {
    const plus = seen.signs[i] > 0;
    const r = big ? 5 : 3;
    const shape = plus
      ? svg("circle", { class: "dot plus", cx: x, cy: y, r })
      : svg("rect", { class: "dot minus", x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8 });
    return svg(
      "g",
      {
        class: "own-row",
        "data-row": row,
        tabindex: row === (shown ?? seen.rows[0]) ? 0 : -1,
        role: "button",
        "aria-label": `Row ${row}, ${labels[plus ? 1 : 0]}`,
        onpointerenter: () => tell(row),
        onfocus: () => tell(row),
      },
      svg("circle", { class: "reach", cx: x, cy: y, r: 9 }),
      shape,
    );
  }

  const markOf = (row) => layers.rows.querySelector(`[data-row="${row}"]`);

  // One stop of the Tab key for all rows; from there the arrow keys lead to the nearest row that way.
  function walk(event) {
    const from = event.target.closest(".own-row");
    if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
    const marks = [...layers.rows.children];
    const here = marks.indexOf(from);
    let next = null;
    if (event.key === "Home") next = 0;
    else if (event.key === "End") next = marks.length - 1;
    else if (event.key in TURNS) next = nearestThatWay(here, TURNS[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere these keys move through the run
    marks[next ?? here].focus();
  }

  function nearestThatWay(here, [dx, dy]) {
    const box = boxAround(seen, size);
    const placeOf = (i) => [
      ((seen.x[i] - box.left) / (box.right - box.left)) * size[0],
      ((box.top - seen.y[i]) / (box.top - box.bottom)) * size[1],
    ];
    const [x, y] = placeOf(here);
    let best = [Infinity, null];
    seen.rows.forEach((_, i) => {
      const [px, py] = placeOf(i);
      const [ahead, aside] = [(px - x) * dx + (py - y) * dy, Math.abs((px - x) * dy + (py - y) * dx)];
      const cost = ahead + 2.5 * aside;
      if (i !== here && (ahead > 0 || (ahead === 0 && aside === 0 && i > here)) && cost < best[0]) best = [cost, i];
    });
    return best[1];
  }

  async function tell(row) {
    markOf(shown ?? seen.rows[0])?.setAttribute("tabindex", -1);
    markOf(row)?.setAttribute("tabindex", 0);
    shown = row;
    try {
      const found = await app.host.ask("row", { row });
      if (shown !== row) return;
      const lines = found.values.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", {}, value)));
      const named = seen.obstruction.includes(row)
        ? ", part of the obstruction"
        : seen.support.includes(row)
          ? ", nearest to the hyperplane"
          : "";
      fill(
        facts,
        html("p", {}, html("strong", {}, `Row ${row}`), `: ${found.label}${named}`),
        html("dl", {}, ...lines),
        found.more ? html("p", { class: "words" }, `and ${plural(found.more, "more column")}`) : null,
      );
    } catch (error) {
      fill(facts, error.message);
    }
  }

  app.pointAt = (row) => (markOf(row) ?? { focus: () => tell(row) }).focus();
  app.views.push(draw);
  const legend = html(
    "p",
    { class: "legend" },
    html("span", { class: "swatch minus" }),
    labels[0],
    html("span", { class: "swatch plus" }),
    labels[1],
  );
  return html(
    "div",
    { class: "table-pane" },
    html("div", { class: "editing" }, kind, first, second, follow, legend),
    html("div", { class: "frame" }, node, ...names),
    words,
    facts,
  );
}

/**
 * @param {any} seen
 * @param {number[]} size
 */
function boxAround(seen, [width, height]) {
  const range = (values, withZero, pixels) => {
    const [low, high] = [Math.min(...values, ...(withZero ? [0] : [])), Math.max(...values, ...(withZero ? [0] : []))];
    const pad = ((high - low || 1) * 34) / Math.max(pixels - 68, 60);
    return [low - pad, high + pad];
  };
  const [left, right] = range(seen.x, !seen.columns, width);
  const [bottom, top] = range(seen.y, false, height);
  return { left, right, bottom, top };
}
