// Can a line separate them? The verdict, and for a hopeless set the few rows and the equation that make it hopeless.
import { fill, html, math } from "./dom.js";
import { exactly, fraction, plural, show } from "./numbers.js";

const TITLES = { separable: "Separable", touching: "Touching", overlapping: "Overlapping", undecided: "Undecided" };

export function verdictView(app) {
  const headline = html("p", { class: "headline", role: "status" });
  const reasons = html("div", {});
  const node = html("div", { class: "verdict" }, headline, reasons);
  let [drawnFor, drawnAt] = [null, ""];

  function draw() {
    if (!app.answer) {
      drawnFor = null;
      node.dataset.kind = "";
      headline.removeAttribute("data-name");
      fill(headline, "No verdict yet");
      return fill(reasons, html("p", { class: "words" }, app.note));
    }
    const { kind } = app.answer.verdict;
    if (drawnFor === app.answer && drawnAt === shownPlaces()) return node; // stepping changes nothing here
    [drawnFor, drawnAt] = [app.answer, shownPlaces()];
    node.dataset.kind = kind;
    if (headline.textContent !== TITLES[kind]) fill(headline, TITLES[kind]);
    headline.dataset.name = "verdict";
    return fill(reasons, ...reason(kind));
  }

  // The sums name the points' places, which a drag moves before the answer to it comes.
  const shownPlaces = () => (app.answer.obstruction?.rows ?? []).map((row) => app.state.points[row] ?? "").join(" ");

  function reason(kind) {
    const plain = app.state.features.length
      ? "hyperplane of the rows with their features"
      : app.isWide
        ? "hyperplane"
        : "line";
    const line = plain + (app.state.bias ? "" : " through the origin");
    const { widest, obstruction } = app.answer;
    const about = app.state.kernel ? "This is about straight lines; the kernel’s run is another matter. " : "";
    if (kind === "separable") {
      const wide = widest ? ` The best ${line} keeps every row at least ${show(widest.margin)} away (its margin).` : "";
      const near = widest
        ? html("p", { class: "words" }, "On the edge of its band: ", ...links(widest.rows), ".")
        : null;
      return [
        html("p", { class: "words" }, `${about}Some ${line} has each row strictly on its side.${wide}`),
        near,
        app.isWide && widest ? namedRows(null) : null,
      ];
    }
    if (!obstruction) return [html("p", { class: "words" }, app.answer.verdict.text)];
    const why =
      kind === "touching"
        ? `${app.isWide || app.isLifted ? `Some ${line}` : "The dashed line"} has no row on its wrong side, but some rows lie exactly on it, and no ${line} does better.`
        : `No ${line} separates them, not even with rows on it allowed.`;
    return [
      html(
        "p",
        { class: "words" },
        `${about}${why} ${plural(obstruction.rows.length, "row")} ${obstruction.rows.length === 1 ? "proves" : "prove"} it: `,
        ...links(obstruction.rows),
        ".",
      ),
      ...proof(obstruction),
    ];
  }

  function proof(obstruction) {
    if (app.isWide) return [html("p", { class: "words" }, wideProof(obstruction)), namedRows(obstruction)];
    if (!obstruction.point) {
      const all = obstruction.rows.map((row, n) => [row, obstruction.weights[n]]);
      return [
        sum(
          all,
          app.lift([0, 0]).map(() => "0"),
          true,
        ),
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
        `A mix of + rows and a mix of − rows are the same point${isExact ? "" : " (rounded here; exact in the proof)"}. A line would need it on both sides at once.`,
      ),
    ];
  }

  function wideProof(obstruction) {
    return obstruction.point || app.state.bias
      ? "With these weights both classes have exactly the same mean."
      : "With these weights, and their signs, the rows sum to exactly 0.";
  }

  // The rows that the verdict rests on, with their values, and with their weights in the obstruction.
  function namedRows(obstruction) {
    const { rows, labels, columns, values } = app.answer.named;
    const head = ["row", "label", ...(obstruction ? ["weight"] : []), ...columns];
    const line = (row, n) => [
      html("td", {}, rowLink(row)),
      html("td", {}, labels[n]),
      obstruction ? html("td", { class: "share" }, shareOf(obstruction.weights[n])) : null,
      ...values[n].map((value) => html("td", {}, show(value))),
    ];
    const isCut = app.own.columns.length > columns.length;
    const total = (obstruction ?? app.answer.widest).rows.length;
    const left = [
      total > rows.length ? `${plural(total - rows.length, "more row")}` : "",
      isCut ? `${plural(app.own.columns.length - columns.length, "more column")}` : "",
    ].filter(Boolean);
    return html(
      "div",
      { class: "named-rows", tabindex: 0, role: "region", "aria-label": "The rows that the verdict rests on" },
      html(
        "table",
        {},
        html("thead", {}, html("tr", {}, ...head.map((name) => html("th", { scope: "col" }, name)))),
        html(
          "tbody",
          {},
          ...rows.map((row, n) => html("tr", { "data-row": row }, ...line(row, n).filter((cell) => cell !== null))),
        ),
      ),
      left.length ? html("p", { class: "words" }, `and ${left.join(", ")}`) : null,
    );
  }

  const shareOf = (weight) => (weight.exact ? weight.text : `≈ ${weight.text}`);

  const rowLink = (row) =>
    html(
      "button",
      { type: "button", class: "row-link", "aria-label": `Row ${row}`, onclick: () => app.pointAt?.(row) },
      String(row),
    );

  // Row numbers that lead to the rows.
  function links(rows) {
    const shown = rows.slice(0, 12);
    const links = shown.flatMap((row, n) => [
      " ",
      html("span", { class: "whole" }, rowLink(row), n + 1 < rows.length ? "," : ""), // no line begins with a comma
    ]);
    const rest = rows.length > shown.length ? ` and ${rows.length - shown.length} more` : "";
    return [rows.length > 1 ? "rows" : "row", ...links, rest];
  }

  // ½ (0, 1) + ½ (1, 0) = (½, ½)
  function sum(terms, target, isSigned, name = "") {
    const row = math("mrow");
    const { lift } = app;
    terms.forEach(([i, weight], n) => {
      const minus = isSigned && app.state.labels[i] < 0;
      if (minus) row.append(math("mo", "−"));
      else if (n) row.append(math("mo", "+"));
      if (weight.text !== "1") row.append(fraction(weight.text));
      row.append(vectorOf(lift(app.state.points[i]).map((x) => fraction(exactly(x)))));
    });
    row.append(math("mo", "="), vectorOf(target.map(fraction)));
    return html("div", { class: `sum ${name}`, "data-rows": terms.map(([i]) => i).join(",") }, math("math", row));
  }

  app.panels.push(draw);
  return node;
}

function vectorOf(parts) {
  const row = math("mrow", math("mo", "("));
  for (const [i, part] of parts.entries()) row.append(...(i ? [math("mo", ","), part] : [part]));
  row.append(math("mo", ")"));
  return row;
}
