// @ts-check
// The points of the story.

/** @typedef {{ points: [number, number][], labels: number[] }} TalePoints */

/** @type {TalePoints}  eight points for the first line */
export const EIGHT = {
  points: [
    [-2, 1],
    [-1, 2.5],
    [0.5, 2],
    [-0.5, 0.5],
    [0.5, -1.5],
    [2, 0.5],
    [2.5, -1],
    [-1, -2.5],
  ],
  labels: [1, 1, 1, 1, -1, -1, -1, -1],
};

/** @type {TalePoints}  Cornwell's four points */
export const FOUR = {
  points: [
    [-1, 3],
    [-1, -1],
    [3, -1],
    [0, 1.5],
  ],
  labels: [-1, -1, 1, 1],
};

/** @type {TalePoints}  seven points that a line through the origin separates: R² = 10.25, γ² = 1/2, a wall at 20.5 */
export const SEVEN = {
  points: [
    [-1.5, 2.5],
    [1.5, 1.5],
    [-0.5, 1.5],
    [1.5, 0],
    [-2.5, -2],
    [-2.5, 1.5],
    [-1, -2],
  ],
  labels: [1, 1, 1, 1, -1, -1, -1],
};

/** @type {TalePoints}  the four corners of a square, opposite ones alike */
export const CORNERS = {
  points: [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ],
  labels: [-1, 1, 1, -1],
};
