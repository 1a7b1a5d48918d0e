// The numbers of the rows that the verdict names, beside their points, and a ring around the one that is pointed at.
import { fill, svg } from "./dom.js";
import { numberPlace } from "./label-places.js";

// `taken` are the boxes of other labels.
export function drawRowNumbers({ app, layers, at, size }, taken) {
  const { points } = app.state;
  const found = app.told?.obstruction ?? app.told?.widest;
  const rows = new Set([...(found?.rows ?? []), ...(app.told?.spread?.rows ?? [])]);
  const named = [...rows].filter((row) => points[row]);
  const places = new Map();
  for (const row of named) places.set(`${points[row]}`, [...(places.get(`${points[row]}`) ?? []), row]);
  const middle = [0, 1].map((j) => named.reduce((sum, row) => sum + at(points[row])[j] / named.length, 0));
  const number = (rows) => {
    const words = rows.join(", ");
    const place = numberPlace(at(points[rows[0]]), middle, words, size, taken);
    return svg("text", { class: "row-number", ...place, "data-rows": rows.join(",") }, words);
  };
  const pointed = points[app.litRow] && at(points[app.litRow]);
  fill(
    layers.numbers,
    ...[...places.values()].map(number),
    pointed && svg("circle", { class: "pointed-out", cx: pointed[0], cy: pointed[1], r: 20, "data-row": app.litRow }),
  );
}
