// @ts-check
// NumPy's random numbers: default_rng(seed), which is PCG64 (O'Neill 2014), so that a seed gives the library's orders.

const LIMBS = 8; // of 16 bits: products of two and sums of eight stay whole in a double
const FACTOR = limbs(0x2360ed051fc65da44385df649fccf645n);

/** @param {bigint} value */
function limbs(value) {
  return Array.from({ length: LIMBS }, (_, i) => Number((value >> BigInt(16 * i)) & 0xffffn));
}

/**
 * NumPy's SeedSequence: eight words of 32 bits from a seed below 2^32.
 * @param {number} seed
 */
function seedWords(seed) {
  let constant = 0x43b0d7e5;
  const hash = (/** @type {number} */ value) => {
    let mixed = value ^ constant;
    constant = Math.imul(constant, 0x931e8875);
    mixed = Math.imul(mixed, constant);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const pool = [seed, 0, 0, 0].map(hash);
  for (let from = 0; from < 4; from += 1) {
    for (let to = 0; to < 4; to += 1) {
      if (from === to) continue;
      const mixed = (Math.imul(0xca01f9dd, pool[to]) - Math.imul(0x4973f715, hash(pool[from]))) | 0;
      pool[to] = (mixed ^ (mixed >>> 16)) >>> 0;
    }
  }
  let later = 0x8b51f9dd;
  return Array.from({ length: 8 }, (_, i) => {
    let word = pool[i % 4] ^ later;
    later = Math.imul(later, 0x58f38ded);
    word = Math.imul(word, later);
    return (word ^ (word >>> 16)) >>> 0;
  });
}

/**
 * A source of doubles from 0 up to 1, as `numpy.random.default_rng(seed).random()` gives them.
 * @param {number} seed  a whole number below 2^32
 * @returns {() => number}
 */
export function generator(seed) {
  const words = seedWords(seed).map(BigInt);
  const pair = (/** @type {number} */ i) => (words[i + 1] << 32n) | words[i];
  const mask = (1n << 128n) - 1n;
  const step = limbs(((((pair(4) << 64n) | pair(6)) << 1n) & mask) | 1n);
  let [state, spare] = [new Float64Array(LIMBS), new Float64Array(LIMBS)];
  const advance = () => {
    for (let i = 0, carry = 0; i < LIMBS; i += 1) {
      let total = step[i] + carry;
      for (let j = 0; j <= i; j += 1) total += state[j] * FACTOR[i - j];
      carry = Math.floor(total / 65536);
      spare[i] = total - carry * 65536;
    }
    [state, spare] = [spare, state];
  };
  const whole = (/** @type {number[]} */ parts) =>
    parts.reduceRight((total, part) => (total << 16n) | BigInt(part), 0n);
  state.set(limbs((whole(step) + ((pair(0) << 64n) | pair(2))) & mask));
  advance();
  return () => {
    advance();
    const turn = state[7] >>> 10;
    const word = (/** @type {number} */ i) => ((state[i] ^ state[i + 4]) | ((state[i + 1] ^ state[i + 5]) << 16)) >>> 0;
    const [low, high] = rotated(word(0), word(2), turn);
    return (high * 2 ** 21 + (low >>> 11)) / 2 ** 53;
  };
}

/**
 * Two words of 32 bits, the low one first, turned to the right.
 * @param {number} low
 * @param {number} high
 * @param {number} turn  below 64
 */
function rotated(low, high, turn) {
  const [a, b] = turn < 32 ? [low, high] : [high, low];
  const bits = turn % 32;
  if (!bits) return [a, b];
  return [((a >>> bits) | (b << (32 - bits))) >>> 0, ((b >>> bits) | (a << (32 - bits))) >>> 0];
}

/**
 * The numbers below `count` in random order: Fisher and Yates, dealt out as it is drawn, as in the library.
 * @param {() => number} random
 * @param {number} count
 */
export function shuffled(random, count) {
  const order = new Int32Array(count);
  for (let last = 0; last < count; last += 1) {
    const place = Math.floor(random() * (last + 1));
    order[last] = order[place];
    order[place] = last;
  }
  return order;
}
