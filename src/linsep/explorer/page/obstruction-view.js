// Why no line can do it: both hulls, the few rows with their exact weights, and the point they have in common.

import { fill, svg } from "./dom.js";
import { hull, path } from "./geometry.js";
import { textBox, weightPlace } from "./label-places.js";

// Without a bias the proof is about signed rows: a − row stands at its mirror image, and the common point is the origin. The boxes of the labels are
// returned: others keep off them.
export function drawObstruction(layers, app, at) {
  const found = app.told?.obstruction;
  const { points, labels } = app.state;
  if (!found || app.isLifted || found.rows.some((i) => !points[i])) {
    fill(layers.hulls);
    fill(layers.proof, ...(found && app.state.features.length ? ringed(found, points, at) : []));
    return [];
  }
  const signed = (i) => (found.point ? points[i] : points[i].map((x) => x * labels[i]));
  const common = at(found.point ? found.point.map((c) => c.value) : [0, 0]);
  fill(layers.hulls, ...outlines(found, labels, (rows) => hull(rows.map(signed)).map(at)));
  const { width } = layers.proof.ownerSVGElement.viewBox.baseVal;
  const words = found.weights.map((weight) => (weight.exact ? weight.text : `≈ ${weight.text}`));
  const places = found.rows.map((i, n) => weightPlace(at(signed(i)), common, words[n], width));
  const tags = found.rows.map((i, n) => weightTag(i, words[n], places[n]));
  const mirrored = found.point
    ? []
    : found.rows
        .filter((i) => labels[i] < 0)
        .map((i) => {
          const [cx, cy] = at(signed(i));
          return svg("circle", { class: "mirrored", cx, cy, r: 7 });
        });
  const isRow = found.rows.some((i) => Math.hypot(at(signed(i))[0] - common[0], at(signed(i))[1] - common[1]) < 2);
  const star = svg(
    "g",
    { class: "common", transform: `translate(${common[0].toFixed(2)} ${common[1].toFixed(2)})` },
    svg("circle", { r: isRow ? 13 : 9 }),
    isRow ? null : svg("circle", { class: "heart", r: 3.5 }),
  );
  fill(layers.proof, ...mirrored, ...tags, star);
  return places.map((place, n) => textBox(place, words[n], 8));
}

// With features the proof is in another space: here are its rows alone.
function ringed(found, points, at) {
  return found.rows.map((i) => {
    const [cx, cy] = at(points[i]);
    return svg("circle", { class: "obstructing", cx, cy, r: 13, "data-row": i });
  });
}

function outlines(found, labels, shapeOf) {
  const outline = (kind, name, rows) => {
    const shape = shapeOf(rows);
    return shape.length ? svg("path", { class: `${kind} ${name}`, d: path(shape, shape.length > 2) }) : null;
  };
  if (!found.point) return [outline("witness", "both", found.rows)];
  const all = labels.map((_, i) => i);
  const ofClass = (rows, label) => rows.filter((i) => labels[i] === label);
  const kinds = [
    ["plus", 1],
    ["minus", -1],
  ];
  return [
    ...kinds.map(([name, label]) => outline("hull", name, ofClass(all, label))),
    ...kinds.map(([name, label]) => outline("witness", name, ofClass(found.rows, label))),
  ];
}

function weightTag(row, words, { x, y, side }) {
  return svg("text", { class: `weight${side}`, x, y, "data-row": row }, words);
}
