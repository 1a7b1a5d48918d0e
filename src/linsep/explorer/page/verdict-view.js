// Can a line separate them? The verdict, and for a hopeless set the few rows and the equation that make it hopeless.
import { fill, html, math } from "./dom.js";
import { exactly, fraction, plural, show } from "./numbers.js";

const TITLES = { separable: "Separable", touching: "Touching", overlapping: "Overlapping", undecided: "Undecided" };

export function verdictView(app) {
  const node = html("div", { class: "verdict" });

  function draw() {
    if (!app.answer) {
      node.dataset.kind = "";
      return fill(node, html("p", { class: "headline" }, "No verdict yet"), html("p", { class: "words" }, app.note));
    }
    const { kind } = app.answer.verdict;
    node.dataset.kind = kind;
    return fill(node, html("p", { class: "headline", "data-name": "verdict" }, TITLES[kind]), ...reason(kind));
  }

  function reason(kind) {
    const line = (app.isWide ? "hyperplane" : "line") + (app.state.bias ? "" : " through the origin");
    const { widest, obstruction } = app.answer;
    if (kind === "separable") {
      const wide = widest ? ` The best ${line} keeps every row at least ${show(widest.margin)} away (its margin).` : "";
      const near = widest
        ? html("p", { class: "words" }, "On the edge of its band: ", ...links(widest.rows), ".")
        : null;
      return [html("p", { class: "words" }, `Some ${line} has each row strictly on its side.${wide}`), near];
    }
    if (!obstruction) return [html("p", { class: "words" }, app.answer.verdict.text)];
    const why =
      kind === "touching"
        ? `A ${line} can have no row on its wrong side, but then some lie on it.`
        : `No ${line} separates them, not even with rows on it allowed.`;
    return [
      html(
        "p",
        { class: "words" },
        `${why} ${plural(obstruction.rows.length, "row")} ${obstruction.rows.length === 1 ? "proves" : "prove"} it:`,
      ),
      ...proof(obstruction),
    ];
  }

  function proof(obstruction) {
    if (app.isWide) return [html("p", { class: "words" }, ...wideProof(obstruction))];
    if (!obstruction.point) {
      const all = obstruction.rows.map((row, n) => [row, obstruction.weights[n]]);
      return [
        sum(all, ["0", "0"], true),
        html(
          "p",
          { class: "words" },
          "With these weights the signed rows sum to 0. A line through the origin would give each of them a positive score, and a sum of positive numbers is not 0.",
        ),
      ];
    }
    const target = obstruction.point.map((c) => c.text);
    const half = (label) =>
      obstruction.rows
        .map((row, n) => [row, obstruction.weights[n]])
        .filter(([row]) => app.state.labels[row] === label);
    const isExact = [...obstruction.weights, ...obstruction.point].every((c) => c.exact);
    return [
      html("div", { class: "sums" }, sum(half(1), target, false, "plus"), sum(half(-1), target, false, "minus")),
      html(
        "p",
        { class: "words" },
        `The same mix of each class is one and the same point${isExact ? "" : " (rounded here; exact in the proof)"}. A line would need it on both sides at once.`,
      ),
    ];
  }

  function wideProof(obstruction) {
    const end = app.state.bias
      ? " Weighted, the rows of one class have exactly the mean of the other’s."
      : " Weighted and signed, they sum to exactly 0.";
    return [...links(obstruction.rows), ".", end];
  }

  // Row numbers that lead to the rows.
  function links(rows) {
    const shown = rows
      .slice(0, 12)
      .flatMap((row, n) => [
        n ? ", " : rows.length > 1 ? "rows " : "row ",
        html("button", { type: "button", class: "row-link", onclick: () => app.pointAt?.(row) }, String(row)),
      ]);
    return rows.length > 12 ? [...shown, `, and ${rows.length - 12} more`] : shown;
  }

  // ½ (0, 1) + ½ (1, 0) = (½, ½)
  function sum(terms, target, isSigned, name = "") {
    const row = math("mrow");
    terms.forEach(([i, weight], n) => {
      const minus = isSigned && app.state.labels[i] < 0;
      if (minus) row.append(math("mo", "−"));
      else if (n) row.append(math("mo", "+"));
      if (weight.text !== "1") row.append(fraction(weight.text));
      row.append(vectorOf(app.state.points[i].map((x) => fraction(exactly(x)))));
    });
    row.append(math("mo", "="), vectorOf(target.map(fraction)));
    return html("div", { class: `sum ${name}`, "data-rows": terms.map(([i]) => i).join(",") }, math("math", row));
  }

  app.views.push(draw);
  return node;
}

function vectorOf(parts) {
  const row = math("mrow", math("mo", "("));
  parts.forEach((part, i) => row.append(...(i ? [math("mo", ","), part] : [part])));
  row.append(math("mo", ")"));
  return row;
}
