// @ts-check
// The point of a convex hull that is nearest to the origin, exactly (Wolfe, Finding the nearest point, 1976).
//
// For the signed rows Z = y·(x, 1) it is both halves of the theory at once. If it is not 0 it points along u*, the best
// W of Novikoff's theorem, and its length is gamma. If it is 0, the rows it is a mixture of are an obstruction.
import { bitLength, coprime, dot, isZero, proportions, shift, solveOnes } from "./exact.js";

/** @typedef {import("./exact.js").Vector} Vector */
/**
 * Vectors, as integers and as doubles of nearly the same proportions.
 * @typedef {{ exact: Vector[], rough: Float64Array[], largest: number[] }} Cloud
 */
/** @typedef {{ at: number[], vector: Vector }} Corner  a place in each of the clouds, and the sum of what stands there */
/** @typedef {{ corners: Corner[], weights: Vector, point: Vector, total: bigint }} Nearest  point/total is the nearest */

const DOUBT = 2 ** -46; // of a rough product: rounding does less
const UNDERFLOW = 1e-290;

/**
 * @param {Vector[]} exact
 * @param {number[][]} [doubles]  the same vectors times any number; they are made if they are not at hand
 * @returns {Cloud}
 */
export function cloudOf(exact, doubles) {
  const width = exact[0].length;
  const values = doubles ?? roughly(exact);
  const rough = Array.from({ length: width }, (_, j) => Float64Array.from(values, (vector) => vector[j]));
  return { exact, rough, largest: rough.map((column) => column.reduce((most, x) => Math.max(most, Math.abs(x)), 0)) };
}

/** @param {Vector[]} exact */
function roughly(exact) {
  const longest = exact.reduce((most, vector) => Math.max(most, ...vector.map(bitLength)), 0);
  const excess = Math.min(0, 900 - longest);
  return exact.map((vector) => vector.map((value) => Number(shift(value, excess))));
}

/**
 * The place in a cloud with the smallest product with p: floats look at all, exact numbers at those they cannot tell apart.
 * @param {Cloud} cloud
 * @param {Vector} p
 * @param {number[]} direction  p as doubles of the same proportions
 */
function lowest(cloud, p, direction) {
  const count = cloud.exact.length;
  const products = new Float64Array(count);
  cloud.rough.forEach((column, j) => {
    for (let i = 0; i < count; i += 1) products[i] += direction[j] * column[i];
  });
  const reach = direction.reduce((sum, value, j) => sum + Math.abs(value) * cloud.largest[j], 0);
  let least = Infinity;
  for (let i = 0; i < count; i += 1) if (products[i] < least) least = products[i];
  const doubt = least + 2 * (DOUBT * reach + UNDERFLOW);
  let best = -1;
  let bestProduct = 0n;
  for (let i = 0; i < count; i += 1) {
    if (products[i] > doubt) continue;
    const product = dot(p, cloud.exact[i]);
    if (best < 0 || product < bestProduct) [best, bestProduct] = [i, product];
  }
  return best;
}

/**
 * The nearest point of the sum of the clouds' hulls (of one cloud: of its hull).
 * @param {Cloud[]} clouds
 * @returns {Nearest}
 */
export function nearestPoint(clouds) {
  const cornerAt = (/** @type {number[]} */ at) => ({
    at,
    vector: clouds[0].exact[at[0]].map((_, j) => at.reduce((sum, i, n) => sum + clouds[n].exact[i][j], 0n)),
  });
  let corners = [cornerAt(clouds.map(shortest))];
  let weights = [1n];
  for (;;) {
    const point = mixture(corners, weights);
    const total = weights.reduce((sum, weight) => sum + weight, 0n);
    if (isZero(point)) return { corners, weights, point, total };
    const direction = proportions(point);
    const entering = cornerAt(clouds.map((cloud) => lowest(cloud, point, direction)));
    if (dot(point, entering.vector) * total >= dot(point, point)) return { corners, weights, point, total };
    [corners, weights] = settled([...corners, entering], [...weights, 0n]);
  }
}

/** @param {Cloud} cloud */
function shortest(cloud) {
  const squares = cloud.exact.map((_, i) => cloud.rough.reduce((sum, column) => sum + column[i] * column[i], 0));
  return squares.reduce((best, square, i) => (square < squares[best] ? i : best), 0);
}

/**
 * @param {Corner[]} corners
 * @param {Vector} weights
 */
function mixture(corners, weights) {
  return corners[0].vector.map((_, j) => corners.reduce((sum, { vector }, i) => sum + weights[i] * vector[j], 0n));
}

/**
 * Move to the nearest point of the flat through the corners; where that leaves their hull, stop at its edge and let the
 * corners go that are not needed there.
 * @param {Corner[]} corners
 * @param {Vector} weights
 * @returns {[Corner[], Vector]}
 */
function settled(corners, weights) {
  for (;;) {
    const wanted = solveOnes(corners.map((p) => corners.map((q) => dot(p.vector, q.vector) + 1n)));
    if (wanted.every((weight) => weight > 0n)) return [corners, coprime(wanted)];
    const moved = upToEdge(weights, wanted);
    corners = corners.filter((_, i) => moved[i]);
    weights = coprime(moved.filter((weight) => weight));
  }
}

/**
 * From the weights towards the wanted ones, until one of them is 0.
 * @param {Vector} weights
 * @param {Vector} wanted
 */
function upToEdge(weights, wanted) {
  const [all, allWanted] = [weights, wanted].map((values) => values.reduce((sum, value) => sum + value, 0n));
  let [top, bottom] = [1n, 1n];
  weights.forEach((weight, i) => {
    if (wanted[i] > 0n) return;
    const [own, way] = [weight * allWanted, weight * allWanted - wanted[i] * all];
    if (own * bottom < top * way) [top, bottom] = [own, way];
  });
  return weights.map((weight, i) => bottom * weight * allWanted + top * (wanted[i] * all - weight * allWanted));
}
