// @ts-check
// Points from text: what people paste, drop or type. Two columns of numbers and one of labels, in any usual spelling.

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {{ points: Point[], labels: number[], columns: string[], classes: [string, string] }} PointTable */

export const LARGEST_COORDINATE = 1e9; // beyond it a picture says nothing
/** What people mean as a number, though it is none here: 1,5 and 1 000 and −2 and 50%, nan and inf. Not a column's name. */
const LIKE_NUMBER = /^[-+−–]?([.,'’\s]*\d[\d.,'’\s]*(e[-+]?\d+)?%?|nan|inf(inity)?)$/i;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** As files have them: docs/files.md. */
const MISSING = /^(#N\/A( N\/A)?|#NA|-?1\.#(IND|QNAN)|-?nan|-?NaN|N\/A|n\/a|NA|NULL|null|)$/;
const isMissing = (/** @type {string} */ cell) => MISSING.test(cell);
const WIDE = "More columns need the library: linsep explore FILE.";

/**
 * @param {number} count
 * @param {string} things
 * @param {number} most
 */
export const tooMany = (count, things, most) =>
  `${count.toLocaleString("en-US")} ${things}: the page holds at most ${most.toLocaleString("en-US")} points. linsep explore FILE shows larger files.`;

/** @param {string} cell */
export const tooLarge = (cell) => `${cell.slice(0, 30)} is too large for a picture (at most 10⁹).`;

/**
 * The points of a text; an Error with a sentence for people where it has none.
 * @param {string} text
 * @param {number} most  points
 * @returns {PointTable}
 */
export function pointsFrom(text, most) {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/)
    .map((words, i) => ({ words, number: i + 1 }));
  const filled = lines.filter(({ words }) => words.trim() && !words.trim().startsWith("#"));
  if (!filled.length) throw new RangeError("There is no text to read points from.");
  if (filled.length > most + 1) throw new RangeError(tooMany(filled.length, "lines", most));
  const split = splitterFor(filled[0].words);
  const rows = filled.map(({ words, number }) => ({ cells: split(words), number }));
  const width = rows[0].cells.length;
  const [first] = rows;
  const isOfValues = first.cells.some((cell) => LIKE_NUMBER.test(cell)) || first.cells.slice(0, 2).every(isMissing);
  const head = isOfValues ? null : rows.shift()?.cells;
  if (width !== 3)
    throw new RangeError(
      `There ${width === 1 ? "is 1 column" : `are ${width} columns`}, not three: x1, x2 and the label. ${width > 3 ? WIDE : ""}`.trim(),
    );
  if (!rows.length) throw new RangeError("The only line holds names: there is no point below it.");
  if (rows.length > most) throw new RangeError(tooMany(rows.length, "points", most));
  const short = rows.find(({ cells }) => cells.length !== width);
  if (short)
    throw new RangeError(
      `Line ${short.number} has ${short.cells.length === 1 ? "1 cell" : `${short.cells.length} cells`}, not ${width}.`,
    );
  const bare = rows.find(({ cells }) => MISSING.test(cells[2]));
  if (bare) throw new RangeError(`Line ${bare.number}: the label is missing.`);
  const points = rows.map(
    ({ cells, number }) => /** @type {Point} */ ([0, 1].map((j) => coordinate(cells[j], number, j))),
  );
  return { points, columns: head?.slice(0, 2) ?? ["x1", "x2"], ...signed(rows.map(({ cells }) => cells[2])) };
}

/**
 * By the first of these signs that the line has: a tab, a semicolon, a comma, else spaces. Not within quotes.
 * @param {string} line
 * @returns {(words: string) => string[]}
 */
function splitterFor(line) {
  const sign = ["\t", ";", ","].find((one) => line.replace(/"[^"]*"/g, "").includes(one));
  return (words) => (sign ? textCells(words, sign) : words.trim().split(/\s+/)).map(unquoted);
}

/**
 * @param {string} words
 * @param {string} sign
 */
function textCells(words, sign) {
  /** @type {string[]} */
  const cells = [];
  let isOpen = false; // within quotes, where the sign is a character like any other
  for (const piece of words.split(sign)) {
    if (isOpen) cells.push(`${cells.pop()}${sign}${piece}`);
    else cells.push(piece);
    if ((isOpen || piece.trimStart().startsWith('"')) && piece.split('"').length % 2 === 0) isOpen = !isOpen;
  }
  return cells;
}

/** @param {string} cell */
const unquoted = (cell) => cell.trim().replace(/^"(.*)"$/, (_, inner) => inner.replaceAll('""', '"').trim());

/**
 * @param {string} text
 * @param {number} line
 * @param {number} column
 */
function coordinate(text, line, column) {
  const cell = text.replace(/^−/, "-"); // the sign that the page itself prints
  const value = Number(cell);
  const where = `Line ${line}, column ${column + 1}`;
  if (!cell) throw new RangeError(`${where}: the value is missing.`);
  if (/^[+-]?\d+,\d+$/.test(cell))
    throw new RangeError(`${where}: “${cell.slice(0, 30)}” is not a number: write decimals with a point.`);
  if (!NUMBER.test(cell) || !Number.isFinite(value))
    throw new RangeError(`${where}: “${cell.slice(0, 30)}” is not a finite number.`);
  if (Math.abs(value) > LARGEST_COORDINATE) throw new RangeError(`${where}: ${tooLarge(cell)}`);
  return value;
}

/**
 * Whether one text comes before another by code points, as in Python; `<` compares halves of those beyond U+FFFF.
 * @param {string} one
 * @param {string} other
 */
export function isBefore(one, other) {
  const [own, theirs] = [one, other].map((text) => Array.from(text, (sign) => sign.codePointAt(0) ?? 0));
  const at = own.findIndex((code, i) => code !== theirs[i]);
  return at < 0 ? own.length < theirs.length : at < theirs.length && own[at] < theirs[at];
}

/**
 * Two classes as -1 and +1: the larger label is +1, as in the library; but + is + and - is -, though "+" < "-".
 * @param {string[]} names
 * @returns {{ labels: number[], classes: [string, string] }}
 */
function signed(names) {
  const known = [...new Set(names)];
  if (known.length !== 2) {
    const shown = known
      .slice(0, 4)
      .map((name) => `“${name.slice(0, 20)}”`)
      .join(", ");
    const told =
      known.length === 1
        ? `only the class ${shown}`
        : `${known.length} classes: ${shown}${known.length > 4 ? ", …" : ""}`;
    throw new RangeError(`The last column has ${told}. The page needs exactly two.`);
  }
  const areNumbers = known.every((name) => NUMBER.test(name));
  const minus = known.find((name) => name === "-" || name === "−");
  const [low, high] =
    minus && known.includes("+")
      ? [minus, "+"]
      : known.sort((p, q) => (areNumbers ? Number(p) - Number(q) : isBefore(p, q) ? -1 : 1));
  return { labels: names.map((name) => (name === high ? 1 : -1)), classes: [low, high] };
}
