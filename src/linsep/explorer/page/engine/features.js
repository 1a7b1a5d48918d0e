// @ts-check
// Columns made of others: products and distances, in which a set that no line separates may be separable.

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {"xy" | "xx" | "yy" | "r"} Feature */

/** @type {Record<Feature, string>} */
export const FEATURE_NAMES = { xy: "x₁·x₂", xx: "x₁²", yy: "x₂²", r: "distance to the centre" };

/**
 * What turns a place into a row: its two coordinates, and the features. The centre is the mean of the points.
 * @param {Point[]} points
 * @param {Feature[]} features
 * @returns {(place: Point) => Point}
 */
export function lifting(points, features) {
  if (!features.length) return (place) => place;
  const centre = [0, 1].map((j) => points.reduce((sum, point) => sum + point[j], 0) / (points.length || 1));
  /** @type {Record<Feature, (x: number, y: number) => number>} */
  const values = {
    xy: (x, y) => x * y,
    xx: (x) => x * x,
    yy: (_, y) => y * y,
    r: (x, y) => Math.hypot(x - centre[0], y - centre[1]),
  };
  return ([x, y]) => [x, y, ...features.map((name) => values[name](x, y))];
}
