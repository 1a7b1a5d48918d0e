// The numbers of the rows that the verdict names, beside their points, and a ring around the one that is pointed at.
import { fill, svg } from "./dom.js";
import { away } from "./marks.js";

const OFF = 19; // pixels from the point

export function drawRowNumbers({ app, layers, at, size }) {
  const { points } = app.state;
  const found = app.told?.obstruction ?? app.told?.widest;
  const named = (found?.rows ?? []).filter((row) => points[row]);
  const places = new Map();
  for (const row of named) places.set(`${points[row]}`, [...(places.get(`${points[row]}`) ?? []), row]);
  const middle = named.length ? [0, 1].map((j) => named.reduce((sum, row) => sum + at(points[row])[j], 0)) : [];
  const [cx, cy] = middle.map((sum) => sum / named.length);
  const number = (rows) => {
    const [x, y] = at(points[rows[0]]);
    const [ux, uy] = away([x, y], [cx, cy]);
    const turn = ux * uy < 0 ? -1 : 1; // at a right angle to the way from the middle: segments and weights are on it
    const place = {
      x: insideOf(x - turn * uy * OFF, 8, size[0] - 8),
      y: insideOf(y + turn * ux * OFF, 14, size[1] - 8),
    };
    return svg("text", { class: "row-number", ...place, "data-rows": rows.join(",") }, rows.join(", "));
  };
  const pointed = points[app.litRow] && at(points[app.litRow]);
  fill(
    layers.numbers,
    ...[...places.values()].map(number),
    pointed && svg("circle", { class: "pointed-out", cx: pointed[0], cy: pointed[1], r: 20, "data-row": app.litRow }),
  );
}

const insideOf = (x, low, high) => Math.min(Math.max(x, low), high);
