// The reasons of a verdict: the rows that it rests on, with their exact weights, and the sums that these make.
import { html, math } from "./dom.js";
import { exactly, fraction, plural, show } from "./numbers.js";

// What is to separate them.
export function lineWords(app) {
  const { features, bias } = app.state;
  return (
    lineNoun(app) + (features.length ? " of the rows with their features" : "") + (bias ? "" : " through the origin")
  );
}

export const lineNoun = (app) => (app.isWide || app.state.features.length ? "hyperplane" : "line");

// Why the verdict is what it is.
export function reasons(app, kind) {
  const line = lineWords(app);
  const { widest, obstruction } = app.answer;
  const about = app.state.kernel ? "This is about straight lines; the kernel’s run is another matter. " : "";
  if (kind === "separable") {
    const wide = widest ? ` The best ${line} keeps every row at least ${show(widest.margin)} away (its margin).` : "";
    const near = widest
      ? html("p", { class: "words" }, "On the edge of its band: ", ...links(app, widest.rows), ".")
      : null;
    return [
      html("p", { class: "words" }, `${about}Some ${line} has each row strictly on its side.${wide}`),
      near,
      app.isWide && widest ? namedRows(app, null) : null,
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
      ...links(app, obstruction.rows),
      ".",
    ),
    ...proof(app, obstruction),
  ];
}

function proof(app, obstruction) {
  if (app.isWide) return [html("p", { class: "words" }, wideProof(app, obstruction)), namedRows(app, obstruction)];
  if (!obstruction.point) {
    const all = obstruction.rows.map((row, n) => [row, obstruction.weights[n]]);
    return [
      sum(
        app,
        all,
        app.lift([0, 0]).map(() => "0"),
        true,
      ),
      html(
        "p",
        { class: "words" },
        `With these weights the signed rows sum to 0. A ${lineNoun(app)} through the origin would give each of them a positive score, and a sum of positive numbers is not 0.`,
      ),
    ];
  }
  const target = obstruction.point.map((c) => c.text);
  const half = (label) =>
    obstruction.rows.map((row, n) => [row, obstruction.weights[n]]).filter(([row]) => app.state.labels[row] === label);
  const isExact = [...obstruction.weights, ...obstruction.point].every((c) => c.exact);
  return [
    html(
      "div",
      { class: "sums" },
      sum(app, half(1), target, false, "plus"),
      sum(app, half(-1), target, false, "minus"),
    ),
    html(
      "p",
      { class: "words" },
      `A mix of + rows and a mix of − rows are the same point${isExact ? "" : " (rounded here; exact in the proof)"}. A ${lineNoun(app)} would need it on both sides at once.`,
    ),
  ];
}

function wideProof(app, obstruction) {
  return obstruction.point || app.state.bias
    ? "With these weights both classes have exactly the same mean."
    : "With these weights, and their signs, the rows sum to exactly 0.";
}

// The rows that the verdict rests on, with their values, and with their weights in the obstruction.
function namedRows(app, obstruction) {
  const { rows, ids, labels, columns, values } = app.answer.named;
  const head = ["row", ...(ids ? ["id"] : []), "label", ...(obstruction ? ["weight"] : []), ...columns];
  const line = (row, n) => [
    html("td", {}, rowLink(app, row)),
    ids ? html("td", {}, ids[n]) : null,
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

const rowLink = (app, row) =>
  html(
    "button",
    {
      type: "button",
      class: "row-link",
      "aria-label": `Row ${row}`,
      onclick: () => app.pointAt?.(row),
      onpointerenter: () => app.pointOut(row),
      onpointerleave: () => app.pointOut(null),
      onfocus: () => app.pointOut(row),
      onblur: () => app.pointOut(null),
    },
    String(row),
  );

// Row numbers that lead to the rows.
function links(app, rows) {
  const shown = rows.slice(0, 12);
  const links = shown.flatMap((row, n) => [
    " ",
    html("span", { class: "whole" }, rowLink(app, row), n + 1 < rows.length ? "," : ""), // no line begins with a comma
  ]);
  const rest = rows.length > shown.length ? ` and ${rows.length - shown.length} more` : "";
  return [rows.length > 1 ? "rows" : "row", ...links, rest];
}

// ½ (0, 1) + ½ (1, 0) = (½, ½): each term a formula of its own, so that a long sum is broken into lines.
function sum(app, terms, target, isSigned, name = "") {
  const { lift } = app;
  const added = terms.map(([i, weight], n) => {
    const minus = isSigned && app.state.labels[i] < 0;
    return math(
      "math",
      ...(minus || n ? [math("mo", minus ? "−" : "+")] : []),
      ...(weight.text === "1" ? [] : [fraction(weight.text)]),
      vectorOf(lift(app.state.points[i]).map((x) => fraction(exactly(x)))),
    );
  });
  const end = math("math", math("mo", "="), vectorOf(target.map(fraction)));
  return html("div", { class: `sum ${name}`, "data-rows": terms.map(([i]) => i).join(",") }, ...added, end);
}

function vectorOf(parts) {
  const row = math("mrow", math("mo", "("));
  for (const [i, part] of parts.entries()) row.append(...(i ? [math("mo", ","), part] : [part]));
  row.append(math("mo", ")"));
  return row;
}
