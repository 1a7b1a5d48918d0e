// @ts-check
// Points centred and scaled, column by column, rounded as the library's `--standardise` rounds: the same doubles.

/** @typedef {import("./verdict.js").Point} Point */
/** @typedef {{ centres: number[], scales: number[] }} Scaling  what is subtracted from each column, and its divisor */

/**
 * Columns of mean 0 and standard deviation 1; not centred, of mean square 1. A column of one value becomes 0.
 * Lines through the origin must not have their points centred: that would move the origin.
 * @param {Point[]} points
 * @param {boolean} isCentred
 * @returns {Scaling}
 */
export function scalingOf(points, isCentred) {
  const columns = points[0].map((_, j) =>
    columnScaling(
      points.map((point) => point[j]),
      isCentred,
    ),
  );
  return { centres: columns.map(({ centre }) => centre), scales: columns.map(({ scale }) => scale) };
}

/**
 * @param {number[]} values
 * @param {boolean} isCentred
 */
function columnScaling(values, isCentred) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const middle = isCentred ? low / 2 + high / 2 : 0;
  const reach = (isCentred ? high / 2 - low / 2 : Math.max(Math.abs(low), Math.abs(high))) || 1;
  const moved = values.map((value) => (value - middle) / reach); // within [-1, 1]
  const mean = isCentred ? moved.reduce((sum, x) => sum + x, 0) / values.length : 0;
  const square = moved.reduce((sum, x) => sum + x * x, 0) / values.length;
  const deviation = reach * Math.sqrt(Math.max(square - mean * mean, 0));
  const centre = isCentred ? (low === high ? low : middle + reach * mean) : 0;
  return { centre, scale: deviation > 0 ? deviation : 1 };
}

/**
 * @param {Scaling} scaling
 * @returns {(point: Point) => Point}
 */
export const scaledBy =
  ({ centres, scales }) =>
  (point) =>
    point.map((x, j) => (x - centres[j]) / scales[j]);

/**
 * The way back, to fifteen digits: what was typed in decimals comes back as it was.
 * @param {Scaling} scaling
 * @returns {(point: Point) => Point}
 */
export const inOwnUnits =
  ({ centres, scales }) =>
  (point) =>
    point.map((x, j) => Number((x * scales[j] + centres[j]).toPrecision(15)));
