// The parts of a link: what each may say. One that says something else is left out, and told.
import { CHALLENGES } from "./engine/challenges.js";
import { FEATURE_NAMES } from "./engine/features.js";

export const ORDERS = ["cyclic", "restart", "shuffled", "worst"];
export const LARGEST_SEED = 2 ** 31 - 1;

/** @typedef {{ name: string, words: string, isRight: (text: string) => boolean }} Part */

const oneOf = (name, values, words = values.join(", ")) => ({ name, words, isRight: (text) => values.includes(text) });

const whole = (name, least, most) => ({
  name,
  words: `a whole number from ${least} to ${most.toLocaleString("en")}`,
  isRight: (text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most,
});

const numbers = (name, words, isRight) => ({
  name,
  words,
  isRight: (text) => isRight(text.split(",").map((part) => (part.trim() ? Number(part) : Number.NaN))),
});

/** @returns {Record<string, Part>} */
function partsOf({ limits, own }) {
  const flag = (name) => oneOf(name, ["0", "1"], "0 or 1");
  const isPlace = (x) => Number.isFinite(x) && Math.abs(x) < 1e10;
  const isColumn = (x) => Number.isInteger(x) && x >= 0 && x < own?.columns?.length;
  return {
    o: oneOf("order", ORDERS),
    b: flag("bias b"),
    s: whole("seed s", 0, LARGEST_SEED),
    n: whole("length n of the run", 1, limits.updates),
    k: whole("update k", 0, limits.updates),
    told: flag("mark “told”"),
    band: flag("mark “band”"),
    keep: flag("mark “keep”"),
    now: flag("mark “now”"),
    challenge: oneOf("challenge", Object.keys(CHALLENGES)),
    a: oneOf("part a", ["run", "wall"]),
    pane: oneOf("pane", ["data", "weights", "lifted", "both"]),
    names: { name: "list of names", words: "four names", isRight: (text) => Boolean(namesIn(text)) },
    f: {
      name: "list f of features",
      words: `a list of ${Object.keys(FEATURE_NAMES).join(", ")}`,
      isRight: (text) => text.split(",").every((name) => Object.hasOwn(FEATURE_NAMES, name)),
    },
    kernel: { name: "kernel", words: "poly:1 to poly:9 or gauss:WIDTH", isRight: (text) => Boolean(kernelIn(text)) },
    z: numbers("scaling z", "two centres and two scales", (all) => all.length === 4 && isScaling(all)),
    c: numbers("pair c of columns", "two of the columns", (all) => all.length === 2 && all.every(isColumn)),
    v: numbers("view v", "a centre and a size", (all) => all.length === 3 && all.every(isPlace) && all[2] > 0),
    p: { name: "list p of points", words: "", isRight: () => true }, // whoever reads the points judges them
  };
}

const isScaling = (all) => all.every(Number.isFinite) && all[2] > 0 && all[3] > 0;

// The names of two columns and two classes; null where a text holds none.
export function namesIn(text) {
  try {
    const [across, up, ...classes] = text.split(",").map(decodeURIComponent);
    return classes.length === 2 ? { columns: [across, up], classes } : null;
  } catch {
    return null; // a damaged name
  }
}

export function kernelIn(text) {
  const [kind, number] = text.split(":");
  const value = Number(number);
  const isKernel = kind === "poly" ? /^[1-9]$/.test(number) : kind === "gauss" && isWidth(value);
  return isKernel ? { kind, value } : null;
}

// Whether a Gaussian may have this width.
export function isWidth(value) {
  return value > 0 && value < 1e9;
}

/**
 * The parts of a link that can be used, and a sentence about each of the others.
 * @param {string} link
 * @param {any} start  what the page begins with
 */
export function readLink(link, start) {
  const known = partsOf(start);
  const [fields, faults] = [new Map(), []];
  for (const part of link.replace(/^#/, "").split("&").filter(Boolean)) {
    const [key, text = ""] = part.split(/=(.*)/s);
    const { name, words, isRight } = Object.hasOwn(known, key) ? known[key] : {};
    if (isRight?.(text)) fields.set(key, text);
    else if (!name) faults.push(`The page knows no part “${short(key)}” of a link: it is left out.`);
    else faults.push(`The ${name} of this link is “${short(text)}”, not ${words}: it is left out.`);
  }
  if (fields.has("kernel") && fields.delete("f"))
    faults.push("This link has features and a kernel, and a run has one or the other: the features are left out.");
  return { fields, faults };
}

const short = (text) => (text.length > 30 ? `${text.slice(0, 30)}…` : text);
