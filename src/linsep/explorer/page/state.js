// What the page shows, as one value: it fits into the address, so that a link reproduces the picture.
import { LARGEST_COORDINATE, tooLarge, tooMany } from "./engine/table.js";
import { viewOf } from "./geometry.js";
import { kernelIn, namesIn, readLink } from "./link-parts.js";

const DAMAGED = "This link is damaged: it holds no points that can be read.";
const POINT = /^(-?[\d.]+(?:e-?\d+)?),(-?[\d.]+(?:e-?\d+)?)([+-])$/;

/** @typedef {import("./engine/run.js").Order} Order */

export function freshState() {
  return {
    points: /** @type {[number, number][]} */ ([]),
    labels: /** @type {number[]} */ ([]),
    names: /** @type {{ columns: string[], classes: string[] } | null} */ (null), // where the points came with any
    features: /** @type {import("./engine/features.js").Feature[]} */ ([]),
    kernel: /** @type {import("./engine/kernel.js").Kernel | null} */ (null),
    scaling: /** @type {import("./engine/scaling.js").Scaling | null} */ (null), // of points that are shown centred and scaled
    order: /** @type {Order} */ ("cyclic"),
    bias: true,
    seed: 0,
    updates: 500,
    k: 0,
    told: false, // whether the verdict was asked for or reached
    band: false,
    keep: false,
    challenge: "", // its name
    axes: "auto",
    pane: /** @type {"data" | "weights" | "lifted" | "both"} */ ("both"), // what is drawn of lines through the origin
    view: { cx: 0, cy: 0, half: 2 },
    columns: null, // of a wide table: the two looked along; null for the separation view
    now: false, // of a wide table: whether the separation view follows the run
  };
}

// Where the page begins with rows of one's own that are too wide to be moved.
export function wideState(own) {
  return { ...freshState(), bias: own.bias, told: true };
}

export function presetState(preset) {
  return {
    ...freshState(),
    points: preset.points.map((p) => [...p]),
    labels: [...preset.labels],
    names: preset.names ?? null,
    bias: preset.bias,
    told: Boolean(preset.told) || preset.name === "own", // whoever brings rows wants the answer
    view: viewOf(preset.points, !preset.bias),
  };
}

function toRows({ points, labels }) {
  return points.map((p, i) => `${p[0]},${p[1]}${labels[i] > 0 ? "+" : "-"}`).join(";");
}

export function toHash(state) {
  const rows = toRows(state);
  const { cx, cy, half } = state.view;
  const fields = { o: state.order, b: Number(state.bias), s: state.seed, n: state.updates, k: state.k };
  if (state.told) fields.told = 1;
  if (state.band) fields.band = 1;
  if (state.keep) fields.keep = 1;
  if (state.challenge) fields.challenge = state.challenge;
  if (rows && state.names) fields.names = [...state.names.columns, ...state.names.classes].map(encodeURIComponent);
  if (state.features.length) fields.f = state.features;
  if (state.scaling) fields.z = [...state.scaling.centres, ...state.scaling.scales];
  if (state.kernel) fields.kernel = `${state.kernel.kind}:${state.kernel.value}`;
  if (state.axes !== "auto") fields.a = state.axes;
  if (state.pane !== "both") fields.pane = state.pane;
  if (state.columns) fields.c = state.columns;
  if (state.now) fields.now = 1;
  if (rows) Object.assign(fields, { p: rows, v: [cx, cy, half].map((x) => Number(x.toPrecision(6))) });
  return Object.entries(fields)
    .map(([key, value]) => `${key}=${value}`)
    .join("&");
}

// A state from an address; null where the address holds none, or none that makes sense. Wide rows are not in it.
export function fromHash(text, start) {
  const { limits, own } = start;
  const { fields } = readLink(text, start);
  const isWide = own && !own.preset;
  if (isWide ? !fields.size : !fields.get("p")) return null;
  const state = isWide ? wideState(own) : freshState();
  if (!isWide && readPoints(fields.get("p"), state, limits)) return null;
  if (!isWide) Object.assign(state, readSpace(fields), { names: readNames(fields) ?? own?.preset?.names ?? null });
  const whole = (key, otherwise) => Number(fields.get(key) ?? otherwise);
  const isOn = (key) => fields.get(key) === "1";
  Object.assign(state, {
    order: fields.get("o") ?? state.order,
    axes: fields.get("a") ?? state.axes,
    pane: fields.get("pane") ?? state.pane,
    bias: fields.has("b") ? isOn("b") : state.bias,
    seed: whole("s", 0),
    updates: whole("n", 500),
    k: whole("k", 0),
    band: isOn("band"),
    told: state.told || isOn("band") || isOn("told"),
    keep: isOn("keep"),
    challenge: fields.get("challenge") ?? "",
    now: isWide && isOn("now"),
    columns: isWide ? numbersIn(fields.get("c")) : null,
  });
  const view = numbersIn(fields.get("v"));
  state.view = view ? { cx: view[0], cy: view[1], half: view[2] } : viewOf(state.points, !state.bias);
  return state;
}

const numbersIn = (text) => text?.split(",").map(Number) ?? null;
const readNames = (fields) => (fields.has("names") ? namesIn(fields.get("names")) : null);

// The features, or the kernel, that an address names.
function readSpace(fields) {
  const scaling = numbersIn(fields.get("z"));
  return {
    features: [...new Set(fields.get("f")?.split(","))],
    kernel: fields.has("kernel") ? kernelIn(fields.get("kernel")) : null,
    scaling: scaling && { centres: scaling.slice(0, 2), scales: scaling.slice(2) },
  };
}

// Why an address holds no points, or nothing about wide rows, in words.
export function linkFault(text, start) {
  const { fields, faults } = readLink(text, start);
  if (start.own && !start.own.preset) return faults.join(" ");
  const points = fields.get("p");
  return (points && readPoints(points, freshState(), start.limits)) || DAMAGED;
}

// Read the points of a link into a state; what is wrong with them, or "".
function readPoints(text, state, limits) {
  const parts = text.split(";").map((part) => POINT.exec(part) ?? []);
  if (parts.some(([, x, y]) => Number.isNaN(Number(x)) || Number.isNaN(Number(y)))) return DAMAGED;
  if (parts.length > limits.points) return `This link has ${tooMany(parts.length, "points", limits.points)}`;
  for (const [row, [, x, y, sign]] of parts.entries()) {
    const far = [x, y].find((number) => Math.abs(Number(number)) > LARGEST_COORDINATE);
    if (far) return `This link cannot be shown. Row ${row}: ${tooLarge(far)}`;
    state.points.push([Number(x), Number(y)]);
    state.labels.push(sign === "+" ? 1 : -1);
  }
  return "";
}

// Whether a preset is shown as it was given: with its own bias, no other order, no feature and no kernel.
export function isAsGiven(state, preset) {
  const given = presetState(preset);
  return (
    state.bias === given.bias &&
    state.order === given.order &&
    !state.features.length &&
    !state.kernel &&
    toRows(state) === toRows(given)
  );
}

export function wholeNumber(text, least, most, otherwise) {
  const value = Number(text);
  return Number.isInteger(value) && value >= least && value <= most ? value : otherwise;
}

export function copyOf(state) {
  return { ...state, points: state.points.map((p) => [...p]), labels: [...state.labels], view: { ...state.view } };
}

// Undo and redo over whole states.
export class Past {
  constructor() {
    this.before = [];
    this.after = [];
  }

  remember(state) {
    this.before.push(copyOf(state));
    if (this.before.length > 200) this.before.shift();
    this.after = [];
  }

  back(state) {
    if (!this.before.length) return null;
    this.after.push(copyOf(state));
    return this.before.pop();
  }

  forward(state) {
    if (!this.after.length) return null;
    this.before.push(copyOf(state));
    return this.after.pop();
  }
}
