"""Checksums of arrays: as the slow obvious version has them, and different wherever the array is."""

import numpy as np
import pytest

from linsep.loops.checksums import checksum

P1, P2, TOP = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 2**64


def turned(value, by):
    return (value << by | value >> (64 - by)) % TOP


def slow(words):
    sums, whole = [(P1 + P2) % TOP, P2, 0, P1], len(words) // 4 * 4
    for k, word in enumerate(words):
        lane = k % 4 if k < whole else 0
        sums[lane] = turned((sums[lane] + word * P2) % TOP, 31) * P1 % TOP
    return sum([*map(turned, sums, (1, 7, 12, 18)), len(words)]) % TOP


@pytest.mark.parametrize("kind", [np.uint64, np.uint32, np.uint16])
@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 1001])
def test_the_compiled_sum_is_the_obvious_one(length, kind):
    words = np.random.default_rng(length).integers(0, 2 ** (8 * np.dtype(kind).itemsize) - 1, length, kind)
    assert int(checksum(words, 0, length)) == slow(words.tolist())


def test_every_flipped_bit_and_every_pair_of_flipped_top_bits_changes_the_sum():
    words = np.random.default_rng(0).integers(0, 2**63, 21, np.uint64)
    seen = {int(checksum(words, 0, 21))}
    flips = [(k, bit) for k in range(21) for bit in range(64)]
    pairs = [[flip] for flip in flips] + [[(j, 63), (k, 63)] for k in range(21) for j in range(k)]
    for flipped in pairs:
        other = words.copy()
        for k, bit in flipped:
            other[k] ^= np.uint64(1 << bit)
        seen.add(int(checksum(other, 0, 21)))
    assert len(seen) == 1 + len(pairs)
