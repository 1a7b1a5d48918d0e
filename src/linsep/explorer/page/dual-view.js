// The dual form: how often each row was corrected. w is the sum of the rows, each as often, with its sign.
import { fill, html, plotOf, svg } from "./dom.js";
import { plural, show } from "./numbers.js";

export function dualView(app) {
  const plot = plotOf(
    app,
    { class: "chart dual-chart", role: "img", "aria-label": "Corrections of each row" },
    ["bars"],
    draw,
  );

  function rowsShown(counts) {
    const all = app.isWide ? null : app.state.points.map((_, i) => i);
    if (all && all.length <= 60) return all;
    const used = new Set(app.steps.row);
    return [...used]
      .sort((p, q) => (counts.get(q) ?? 0) - (counts.get(p) ?? 0) || p - q)
      .slice(0, 60)
      .sort((p, q) => p - q);
  }

  function draw() {
    const [width, height] = plot.size;
    const node = plot.layers.bars;
    if (width < 2 || !app.answer) return fill(node);
    const counts = app.counts();
    const rows = rowsShown(counts);
    const largest = Math.max(1, ...rows.map((i) => counts.get(i) ?? 0));
    const pitch = Math.min(56, (width - 8) / Math.max(rows.length, 1));
    const y = (count) => height - 22 - (count / largest) * (height - 46);
    const isPlus = (i) => app.labelOf(i) > 0;
    const room = (words) => 7 * words.length + 4; // pixels: beside its neighbours
    const every = Math.ceil(Math.max(...rows.map((row) => room(String(row)))) / pitch); // so many bars have a number
    return fill(
      node,
      ...rows.map((row, n) => {
        const count = counts.get(row) ?? 0;
        const x = 4 + n * pitch;
        const name = `bar ${isPlus(row) ? "plus" : "minus"}${row === app.corrected() ? " current" : ""}`;
        return svg(
          "g",
          { "data-row": row, "data-count": count },
          svg("title", {}, `Row ${row}: ${plural(count, "correction")}`),
          svg("rect", {
            class: name,
            x: x + pitch * 0.14,
            width: pitch * 0.72,
            y: count ? y(count) : height - 23.5,
            height: count ? height - 22 - y(count) : 1.5,
            rx: Math.min(3, pitch * 0.2),
          }),
          n % every === 0 ? svg("text", { class: "tick", x: x + pitch / 2, y: height - 7 }, String(row)) : null,
          count && pitch > room(show(count))
            ? svg("text", { class: "count", x: x + pitch / 2, y: y(count) - 5 }, show(count))
            : null,
        );
      }),
    );
  }

  app.panels.push(draw);
  return html("div", {}, plot.node);
}
