// @ts-check
// The run as an SVG that moves by itself, for slides and web pages; `linsep animate` adds the curves of the proof.
import { across, corners, cut } from "./geometry.js";

/** @typedef {{ left: number, right: number, bottom: number, top: number }} FilmBox */
/** @typedef {{ points: number[][], labels: number[], view: { cx: number, cy: number, half: number } }} FilmState */
/** @typedef {{ row: number[], score: number[], w: number[][], b: number[] }} FilmSteps */

const FILM_SIDE = 360;
const FILM_HEAD = 32;
const FILM_MOST = 100; // updates shown
const FILM_SECONDS = 0.8; // each
const FILM_LASTING = 4; // times as long for the last
const FILM_COLOURS = { plus: "#c8511b", minus: "#2463b8" };

/**
 * @param {FilmState} state
 * @param {FilmSteps} steps
 * @param {string[] | null} classes  what the user calls − and +
 */
export function filmSvg({ points, labels, view }, steps, classes) {
  const box = {
    left: view.cx - view.half,
    right: view.cx + view.half,
    bottom: view.cy - view.half,
    top: view.cy + view.half,
  };
  const place = (/** @type {number[]} */ [x, y]) => [
    (FILM_SIDE * (x - box.left)) / (2 * view.half),
    FILM_HEAD + (FILM_SIDE * (box.top - y)) / (2 * view.half),
  ];
  const lines = [{ w: [0, 0], b: 0 }, ...steps.w.slice(0, FILM_MOST).map((w, k) => ({ w, b: steps.b[k] }))];
  const change = filmChanger(lines.length);
  const listed = (/** @type {number[][]} */ spots) =>
    spots
      .map((spot) =>
        place(spot)
          .map((x) => x.toFixed(1))
          .join(","),
      )
      .join(" ") || "0,0";
  const side = (/** @type {number} */ sign) =>
    change(
      "points",
      lines.map(({ w, b }) => listed(filmSide(box, w, b, sign))),
    );
  const ends = change(
    "points",
    lines.map(({ w, b }) => listed(across({ ...box }, w, b) ?? [])),
  );
  const rings = [[-99, -99], ...steps.row.slice(0, FILM_MOST).map((row) => place(points[row]))];
  const ring = ["cx", "cy"]
    .map((name, j) =>
      change(
        name,
        rings.map((spot) => spot[j].toFixed(1)),
      ),
    )
    .join("");
  const dots = points.map((point, row) => filmDot(place(point), labels[row])).join("");
  const frame = `<clipPath id="frame"><rect y="${FILM_HEAD}" width="${FILM_SIDE}" height="${FILM_SIDE}"/></clipPath>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${FILM_SIDE} ${FILM_SIDE + FILM_HEAD}"><rect width="100%" height="100%" fill="#fffefb"/>${frame}<g clip-path="url(#frame)"><polygon fill="${FILM_COLOURS.plus}" fill-opacity=".14">${side(1)}</polygon><polygon fill="${FILM_COLOURS.minus}" fill-opacity=".14">${side(-1)}</polygon><polyline stroke="#1f2733" stroke-width="2.5" fill="none">${ends}</polyline>${dots}<circle r="11" fill="none" stroke="#1f2733" stroke-width="1.5">${ring}</circle></g>${filmCaptions(steps, labels, classes ?? ["−", "+"], lines.length)}</svg>`;
}

/**
 * @param {FilmBox} box
 * @param {number[]} w
 * @param {number} b
 * @param {number} sign
 */
function filmSide(box, w, b, sign) {
  const isLine = w[0] || w[1] || b;
  const turned = w.map((x) => sign * x);
  return isLine ? cut(corners(box), turned, sign * b) : [];
}

// An element that gives the one around it a value for each frame, the last for longer, for ever.
/** @param {number} frames */
function filmChanger(frames) {
  const all = frames - 1 + FILM_LASTING;
  const times = Array.from({ length: frames }, (_, k) => (k / all).toFixed(5)).join(";");
  return (/** @type {string} */ name, /** @type {string[]} */ values) =>
    `<animate attributeName="${name}" values="${values.join(";")}" keyTimes="${times}" calcMode="discrete" dur="${(all * FILM_SECONDS).toFixed(1)}s" repeatCount="indefinite"/>`;
}

/**
 * @param {number[]} place
 * @param {number} label
 */
function filmDot([x, y], label) {
  if (label < 0) return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="5" fill="${FILM_COLOURS.minus}"/>`;
  return `<rect x="${(x - 4.5).toFixed(1)}" y="${(y - 4.5).toFixed(1)}" width="9" height="9" fill="${FILM_COLOURS.plus}"/>`;
}

const FILM_SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A name as text of the film, cut where it is too long for a caption. */
const filmName = (/** @type {string} */ name) => {
  const signs = [...name];
  const short = signs.length > 12 ? `${signs.slice(0, 11).join("")}…` : name;
  return short.replace(/[&<>]/g, (sign) => FILM_SIGNS[sign]).replace(/\p{Cc}/gu, " ");
};

/**
 * @param {FilmSteps} steps
 * @param {number[]} labels
 * @param {string[]} classes
 * @param {number} frames
 */
function filmCaptions(steps, labels, classes, frames) {
  const all = frames - 1 + FILM_LASTING;
  const words = Array.from({ length: frames }, (_, k) => {
    if (!k) return "Start: w = 0, and every row is a mistake.";
    const row = steps.row[k - 1];
    return `Update ${k}: row ${row} (${filmName(classes[labels[row] > 0 ? 1 : 0])}) had score ${Number(steps.score[k - 1].toPrecision(4))}.`;
  });
  const during = (/** @type {number} */ k) => {
    const spans = [
      ...(k ? [["hidden", 0]] : []),
      ["visible", k / all],
      ...(k < frames - 1 ? [["hidden", (k + 1) / all]] : []),
    ];
    const [values, times] = [0, 1].map((j) =>
      spans.map((span) => (j ? Number(span[1]).toFixed(5) : span[0])).join(";"),
    );
    return `<animate attributeName="visibility" values="${values}" keyTimes="${times}" calcMode="discrete" dur="${(all * FILM_SECONDS).toFixed(1)}s" repeatCount="indefinite"/>`;
  };
  const looks = 'x="8" y="21" font-family="system-ui,sans-serif" font-size="13" fill="#1f2733" visibility="hidden"';
  return words.map((text, k) => `<text ${looks}>${text}${during(k)}</text>`).join("");
}
