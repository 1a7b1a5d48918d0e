// @ts-check
// Exact numbers: doubles as integers times a power of two, ratios of integers, and small linear systems.

/** @typedef {bigint[]} Vector */
/** @typedef {{ top: bigint, bottom: bigint }} Ratio  bottom is above 0 */

const BITS = new DataView(new ArrayBuffer(8));
const ZERO = 0n;
const DOUBTED = 2 ** -45; // of the sum of sizes: rounding does less to a score
const LARGEST_POWER = 1000; // of two, in a BigInt that is turned into a double: beyond it is infinity

/**
 * A double as `whole`·2^`power`.
 * @param {number} value
 * @returns {{ whole: bigint, power: number }}
 */
export function parts(value) {
  BITS.setFloat64(0, value);
  const bits = BITS.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const whole = exponent ? fraction | 0x10000000000000n : fraction;
  return { whole: value < 0 ? -whole : whole, power: (exponent || 1) - 1075 };
}

/**
 * Doubles as integers: each is its integer times 2^`power`, the same for all, and no larger than it need be.
 * @param {number[]} values
 * @returns {{ wholes: bigint[], power: number }}
 */
export function wholeNumbers(values) {
  const scale = commonScale(values);
  if (scale) return { wholes: values.map((value) => BigInt(value * scale)), power: -Math.log2(scale) };
  const split = values.map(parts);
  const used = split.filter(({ whole }) => whole !== ZERO);
  const power = Math.min(0, ...used.map(({ whole, power: own }) => own + trailing(whole)));
  return { wholes: split.map(({ whole, power: own }) => shift(whole, own - power)), power };
}

/**
 * The power of two that makes short numbers whole, quickly; 0 for numbers with too many digits for it.
 * @param {number[]} values
 */
function commonScale(values) {
  let scale = 1;
  for (const value of values) {
    while (!Number.isInteger(value * scale) && scale < 2 ** 60) scale *= 2;
  }
  return values.every((value) => Number.isSafeInteger(value * scale)) ? scale : 0;
}

/** @param {bigint} whole  not 0 */
function trailing(whole) {
  let count = 0;
  for (; !(whole & 0xffffn); whole >>= 16n) count += 16;
  for (; !(whole & 1n); whole >>= 1n) count += 1;
  return count;
}

/**
 * value·2^power, rounded down where power is negative.
 * @param {bigint} value
 * @param {number} power
 */
export function shift(value, power) {
  return power < 0 ? value >> BigInt(-power) : value << BigInt(power);
}

/** @param {bigint} value */
export function size(value) {
  return value < ZERO ? -value : value;
}

/** @param {bigint} value */
export function bitLength(value) {
  return value
    ? size(value).toString(16).length * 4 - Math.clz32(Number.parseInt(size(value).toString(16)[0], 16)) + 28
    : 0;
}

/**
 * @param {bigint} a
 * @param {bigint} b
 */
export function commonDivisor(a, b) {
  let [p, q] = [size(a), size(b)];
  while (q) [p, q] = [q, p % q];
  return p;
}

/**
 * The same integers without their common divisor.
 * @param {Vector} values
 */
export function coprime(values) {
  let divisor = ZERO;
  for (const value of values) {
    divisor = commonDivisor(divisor, value);
    if (divisor === 1n) return values;
  }
  return divisor ? values.map((value) => value / divisor) : values;
}

/**
 * @param {Vector} a
 * @param {Vector} b
 */
export function dot(a, b) {
  let total = ZERO;
  for (let j = 0; j < a.length; j += 1) total += a[j] * b[j];
  return total;
}

/** @param {Vector} vector */
export function isZero(vector) {
  return vector.every((value) => value === ZERO);
}

/**
 * Integers as doubles of the same proportions, the largest of size 1.
 * @param {Vector} values
 */
export function proportions(values) {
  const longest = Math.max(...values.map(bitLength));
  const excess = Math.min(0, LARGEST_POWER - longest);
  const doubles = values.map((value) => Number(shift(value, excess)));
  const largest = Math.max(...doubles.map(Math.abs)) || 1;
  return doubles.map((value) => value / largest);
}

/**
 * The double nearest to a ratio.
 * @param {bigint} top
 * @param {bigint} bottom  above 0
 */
export function nearest(top, bottom) {
  if (!top) return 0;
  const lift = 66 - (bitLength(top) - bitLength(bottom)); // the quotient has 65 to 67 bits: more than a double
  const [a, b] = lift > 0 ? [size(top) << BigInt(lift), bottom] : [size(top), bottom << BigInt(-lift)];
  const quotient = a / b;
  const sticky = quotient * b === a ? quotient : quotient | 1n; // what is cut off must not look like a tie
  const value = timesPower(Number(sticky), -lift);
  return top < ZERO ? -value : value;
}

/**
 * value·2^power, in two steps: a power alone may leave the range that the product stays in.
 * @param {number} value
 * @param {number} power
 */
export function timesPower(value, power) {
  const half = Math.trunc(power / 2);
  return value * 2 ** half * 2 ** (power - half);
}

/**
 * The largest double whose square is at most top/bottom.
 * @param {bigint} top
 * @param {bigint} bottom
 */
export function rootBelow(top, bottom) {
  let root = nearRoot(top, bottom);
  while (root > 0 && isSquareAbove(root, top, bottom) > 0) root = next(root, -1);
  return root;
}

/**
 * A double whose square is at least top/bottom, and hardly more.
 * @param {bigint} top
 * @param {bigint} bottom
 */
export function rootAbove(top, bottom) {
  let root = nearRoot(top, bottom);
  while (root < Infinity && isSquareAbove(root, top, bottom) < 0) root = next(root, 1);
  return root;
}

/**
 * @param {bigint} top
 * @param {bigint} bottom
 */
function nearRoot(top, bottom) {
  const half = Math.trunc((bitLength(top) - bitLength(bottom)) / 2);
  const [a, b] = half > 0 ? [top, bottom << BigInt(2 * half)] : [top << BigInt(-2 * half), bottom];
  return timesPower(Math.sqrt(nearest(a, b)), half);
}

/**
 * The sign of root² - top/bottom.
 * @param {number} root
 * @param {bigint} top
 * @param {bigint} bottom
 */
function isSquareAbove(root, top, bottom) {
  const { whole, power } = parts(root);
  const [square, wanted] = [whole * whole * bottom, top];
  const difference = power < 0 ? square - (wanted << BigInt(-2 * power)) : (square << BigInt(2 * power)) - wanted;
  return difference > ZERO ? 1 : difference < ZERO ? -1 : 0;
}

/**
 * A double that is not below top/bottom, and hardly above it.
 * @param {bigint} top
 * @param {bigint} bottom
 */
export function roundedUp(top, bottom) {
  const value = nearest(top, bottom);
  if (value === Infinity) return value;
  const { whole, power } = parts(value);
  const isBelow = power < 0 ? whole * bottom < top << BigInt(-power) : (whole << BigInt(power)) * bottom < top;
  return isBelow ? next(value, 1) : value;
}

/**
 * The double after a positive one, or the one before it.
 * @param {number} value
 * @param {1 | -1} step
 */
export function next(value, step) {
  BITS.setFloat64(0, value);
  BITS.setBigUint64(0, BITS.getBigUint64(0) + BigInt(step));
  return BITS.getFloat64(0);
}

/**
 * w·x + b, with the right sign: exactly where rounding could change it.
 * @param {number[]} w
 * @param {number[]} x
 * @param {number} b
 */
export function signedScore(w, x, b) {
  let [score, reach] = [0, Math.abs(b)];
  for (let j = 0; j < w.length; j += 1) {
    score += w[j] * x[j];
    reach += Math.abs(w[j] * x[j]);
  }
  score += b;
  return Math.abs(score) > DOUBTED * reach + 1e-300 ? score : exactScore(w, x, b);
}

/**
 * w·x + b without rounding, and then the double nearest to it.
 * @param {number[]} w
 * @param {number[]} x
 * @param {number} b
 */
export function exactScore(w, x, b) {
  const terms = [...w.map((value, j) => [parts(value), parts(x[j])]), [parts(b), parts(1)]];
  const products = terms.map(([p, q]) => ({ whole: p.whole * q.whole, power: p.power + q.power }));
  const least = Math.min(...products.map(({ power }) => power));
  const total = products.reduce((sum, { whole, power }) => sum + shift(whole, power - least), ZERO);
  const score = least < 0 ? nearest(total, 1n << BigInt(-least)) : nearest(shift(total, least), 1n);
  return score || (total > ZERO ? Number.MIN_VALUE : total < ZERO ? -Number.MIN_VALUE : 0); // what vanishes keeps its sign
}

/**
 * x with matrix·x = (1, ..., 1) times its determinant, by fraction-free elimination (Bareiss 1968).
 * @param {Vector[]} matrix  symmetric and positive definite: no pivot is 0
 */
export function solveOnes(matrix) {
  const rows = matrix.map((row) => [...row, 1n]);
  let before = 1n;
  for (let k = 0; k < rows.length; k += 1) {
    const pivot = rows[k][k];
    for (let i = 0; i < rows.length; i += 1) {
      const factor = rows[i][k];
      if (i !== k) rows[i] = rows[i].map((value, j) => (pivot * value - factor * rows[k][j]) / before);
    }
    before = pivot;
  }
  return rows.map((row) => row[rows.length]);
}

/**
 * A basis of the vectors that are orthogonal to all of these, in integers.
 * @param {Vector[]} vectors
 * @param {number} width
 */
export function orthogonal(vectors, width) {
  /** @type {{ column: number, row: Vector }[]} */
  const pivots = [];
  for (const vector of vectors) {
    let row = vector;
    for (const { column, row: known } of pivots) row = cancelled(row, known, column);
    const column = row.findIndex((value) => value !== ZERO);
    if (column < 0) continue;
    for (const pivot of pivots) pivot.row = cancelled(pivot.row, row, column);
    pivots.push({ column, row: coprime(row) });
  }
  const free = Array.from({ length: width }, (_, j) => j).filter((j) => pivots.every(({ column }) => column !== j));
  const product = pivots.reduce((all, { column, row }) => all * row[column], 1n);
  return free.map((j) => {
    const found = Array.from({ length: width }, () => ZERO);
    found[j] = product;
    for (const { column, row } of pivots) found[column] = (-row[j] * product) / row[column];
    return coprime(found);
  });
}

/**
 * A multiple of `row` minus one of `other`, with a 0 in this column.
 * @param {Vector} row
 * @param {Vector} other
 * @param {number} column
 */
function cancelled(row, other, column) {
  if (!row[column]) return row;
  return coprime(row.map((value, j) => value * other[column] - other[j] * row[column]));
}

/**
 * The ratio in lowest terms, as people write it: 1/2, -3, 0.
 * @param {bigint} top
 * @param {bigint} bottom
 */
export function fractionText(top, bottom) {
  const divisor = commonDivisor(top, bottom) || 1n;
  return bottom === divisor ? String(top / divisor) : `${top / divisor}/${bottom / divisor}`;
}
