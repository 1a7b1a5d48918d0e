// Numbers as people read them: 4, −0.5, 1/2, 9,530; and the same in MathML.
import { math } from "./dom.js";

export function show(value, digits = 4) {
  if (value === null || value === undefined) return "∞";
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e7) text = grouped(size);
  else if (size >= 1e7 || size < 1e-4) text = shortPower(size);
  else if (size >= 10 ** (digits - 1)) text = grouped(Math.round(size));
  else text = String(Number(size.toPrecision(digits)));
  return (value < 0 ? "−" : "") + text;
}

// Whether a number is shown with all its digits.
export const isInFull = (value) =>
  value === 0 || (show(value) === show(value, 17) && Math.abs(value) < 1e7 && Math.abs(value) >= 1e-4);

// (R/γ)², which may be beyond the doubles: null then.
export function showBound(bound) {
  return bound === null ? "more than 10³⁰⁸" : show(bound);
}

// 9,530: a locale does the same, a hundred times as slowly.
function grouped(whole) {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ",");
}

function shortPower(size) {
  const [digits, exponent] = size.toExponential(2).split("e");
  const raised = [...String(Number(exponent))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
  return `${Number(digits)}·10${raised}`;
}

export function pair(values) {
  return `(${values.map((value) => show(value)).join(", ")})`;
}

export function plural(count, word) {
  return `${show(count)} ${word}${count === 1 ? "" : "s"}`;
}

export function signOf(label) {
  return label > 0 ? "+" : "−";
}

// A coordinate without rounding: 31/32 where that is short, else all the digits it has.
export function exactly(value) {
  for (let bottom = 1; bottom <= 4096; bottom *= 2) {
    if (Number.isInteger(value * bottom)) return bottom === 1 ? String(value) : `${value * bottom}/${bottom}`;
  }
  return String(value);
}

// A fraction such as "-1/2", in MathML.
export function fraction(text) {
  const negative = text.startsWith("-");
  const [top, bottom] = text.replace("-", "").split("/");
  const body = bottom ? math("mfrac", math("mn", top), math("mn", bottom)) : math("mn", top);
  return negative ? math("mrow", math("mo", "−"), body) : body;
}

// The equation w·x + b = 0, term by term, terms with weight 0 left out.
export function equation(w, b) {
  const row = math("mrow");
  const term = (value, name) => {
    if (!value) return;
    if (value < 0) row.append(math("mo", "−"));
    else if (row.childElementCount) row.append(math("mo", "+"));
    const size = Math.abs(value);
    if (!name || size !== 1) row.append(math("mn", show(size)));
    if (name) row.append(name);
  };
  for (const [j, value] of w.entries()) term(value, math("msub", math("mi", "x"), math("mn", String(j + 1))));
  term(b, null);
  if (!row.childElementCount) row.append(math("mn", "0"));
  row.append(math("mo", "="), math("mn", "0"));
  return math("math", row);
}

// The same of columns with names, as text that can be broken into lines.
export function namedEquation(w, b, names) {
  const terms = [...w.map((value, j) => [value, names[j]]), [b, ""]].filter(([value]) => value);
  const written = terms.map(([value, name], n) => {
    const size = show(Math.abs(value));
    const sign = value < 0 ? "− " : n ? "+ " : "";
    return `${sign}${!name ? size : size === "1" ? name : `${size}·${name}`}`;
  });
  return `${written.join(" ") || "0"} = 0`;
}
