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
  const { obstruction, verdict } = app.answer;
  if (kind === "separable") return separableReasons(app);
  if (!obstruction) return [sentence(verdict.text)];
  const count = obstruction.count ?? obstruction.rows.length; // of wide rows not all are sent
  const proved = `${plural(count, "row")} ${count === 1 ? "proves" : "prove"} that no ${lineWords(app)} has every row strictly on its side: `;
  const what = kind === "touching" ? touchingWords(app) : overlapWords(app);
  return [
    sentence(`${kernelWords(app)}${what} ${proved}`, ...links(app, obstruction.rows, count), "."),
    ...proof(app, obstruction),
    kind === "overlapping" ? spreadWords(app) : null,
  ];
}

const sentence = (...parts) => html("p", { class: "words" }, ...parts);

const kernelWords = (app) =>
  app.state.kernel ? "This is about straight lines; the kernel’s run is another matter. " : "";

function separableReasons(app) {
  const [line, { widest }] = [lineWords(app), app.answer];
  const wide = widest ? ` The best ${line} keeps every row at least ${show(widest.margin)} away (its margin).` : "";
  return [
    sentence(`${kernelWords(app)}Some ${line} has each row strictly on its side.${wide}`),
    widest ? sentence("On the edge of its band: ", ...links(app, widest.rows), ".") : null,
    app.isWide && widest ? namedRows(app, null) : null,
  ];
}

const touchingWords = (app) =>
  `${app.isWide || app.isLifted ? `Some ${lineWords(app)}` : "The dashed line"} has no row on its wrong side, though some rows lie exactly on it.`;

// Where some line has all rows on it, it has none on its wrong side. (Of wide rows it is not known whether one has.)
const overlapWords = (app) =>
  `Every ${lineWords(app)} has a row on its wrong side${app.answer.spread?.isFlat === false ? "" : ", or all rows on it"}.`;

// What is left to prove: that no line does even if rows may lie on it.
function spreadWords(app) {
  const { obstruction, spread } = app.answer;
  if (!spread) return null;
  const count = spread.rows.length;
  if (count === 1) return sentence("All rows are the origin, where every score is 0.");
  const more = spread.rows.filter((row) => !obstruction.rows.includes(row)).sort((p, q) => p - q);
  const [all, noun] = [`${count === 2 ? "both" : `all ${count}`} on it`, lineNoun(app)];
  const s = obstruction.rows.length === 1 ? "s" : "";
  const end =
    spread.isFlat !== false
      ? ` prove${s} the rest: a ${noun} with none of these ${count} rows on its wrong side has ${all}, and then every row.`
      : ` rule${s} out ${noun}s that rows may lie on: one with none of these ${count} rows on its wrong side would have ${all}, and no ${noun} does.`;
  const they = s ? "this row" : "these rows";
  return sentence(...(more.length ? ["Together with ", ...links(app, more), `, ${they}`] : ["These rows also"]), end);
}

function proof(app, obstruction) {
  if (app.isWide) return [sentence(wideProof(app, obstruction)), namedRows(app, obstruction)];
  const isExact = [...obstruction.weights, ...(obstruction.point ?? [])].every((c) => c.exact);
  const rounded = isExact ? "" : " (rounded here; exact in the proof)";
  if (!obstruction.point) return signedProof(app, obstruction, rounded);
  const target = obstruction.point.map((c) => c.text);
  const half = (label) =>
    obstruction.rows.map((row, n) => [row, obstruction.weights[n]]).filter(([row]) => app.state.labels[row] === label);
  return [
    html(
      "div",
      { class: "sums" },
      sum(app, half(1), target, false, "plus"),
      sum(app, half(-1), target, false, "minus"),
    ),
    sentence(
      `A mix of + rows and a mix of − rows are the same point${rounded}. A ${lineNoun(app)} would need it on both sides at once.`,
    ),
  ];
}

// For lines through the origin: the signed rows, and the 0 that they sum to.
function signedProof(app, { rows, weights }, rounded) {
  const origin = app.lift([0, 0]).map(() => "0");
  return [
    sum(
      app,
      rows.map((row, n) => [row, weights[n]]),
      origin,
      true,
    ),
    sentence(
      `With these weights${rounded} the signed rows sum to 0. A ${lineNoun(app)} through the origin would give each of them a positive score, and a sum of positive numbers is not 0.`,
    ),
  ];
}

function wideProof(app, obstruction) {
  const isMean = obstruction.point || app.state.bias;
  if (obstruction.definite)
    return `With these weights ${isMean ? "both classes have nearly the same mean" : "the rows, with their signs, nearly sum to 0"}. What is left is so small that every hyperplane still has one of these rows on its wrong side, or all of them on it.`;
  return isMean
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
  const total = obstruction ? (obstruction.count ?? obstruction.rows.length) : app.answer.widest.rows.length;
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
function links(app, rows, count = rows.length) {
  const shown = rows.slice(0, 12);
  const links = shown.flatMap((row, n) => [
    " ",
    html("span", { class: "whole" }, rowLink(app, row), n + 1 < rows.length ? "," : ""), // no line begins with a comma
  ]);
  const rest = count > shown.length ? ` and ${count - shown.length} more` : "";
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
