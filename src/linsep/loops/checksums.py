"""Checksums of arrays at the speed of memory: each word is multiplied, added, rotated and multiplied again (XXH64).

A round is one-to-one in the word and in the sum so far, so a change of a single word always changes the checksum; any
other change is missed with a chance of 2^-64. This protects against damage, not against deliberate changes.
"""

from typing import Any

import numpy as np

from linsep.loops.compiler import njit

P1, P2 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)


@njit(cache=True, nogil=True, inline="always")
def turned(value: Any, by: int) -> Any:
    """Sixty-four bits, rotated to the left."""
    return (value << np.uint64(by)) | (value >> np.uint64(64 - by))


@njit(cache=True, nogil=True, inline="always")
def onward(total: Any, word: Any) -> Any:
    """One round."""
    return turned(total + np.uint64(word) * P2, 31) * P1


@njit(cache=True, nogil=True, inline="always")
def mixed(value: Any) -> Any:
    """The bits of a double, stirred so that every bit counts; 0 for both zeros."""
    word = np.float64(value + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    word = (word ^ (word >> np.uint64(32))) * P1
    word = (word ^ (word >> np.uint64(29))) * P1
    return word ^ (word >> np.uint64(32))


@njit(cache=True, nogil=True)
def checksum(words: Any, start: int, stop: int) -> Any:
    """The checksum of the words from one place to another: four sums in parallel, combined at the end."""
    a, b, c, d = P1 + P2, P2, np.uint64(0), P1
    whole = start + (stop - start) // 4 * 4
    for k in range(start, whole, 4):
        a, b = onward(a, words[k]), onward(b, words[k + 1])
        c, d = onward(c, words[k + 2]), onward(d, words[k + 3])
    for k in range(whole, stop):
        a = onward(a, words[k])
    return turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18) + np.uint64(stop - start)


@njit(cache=True, nogil=True)
def checksums(words: Any, size: int, found: Any) -> None:
    """The checksums of every `size` words; the last group may be shorter."""
    for k in range(found.size):
        found[k] = checksum(words, k * size, min((k + 1) * size, words.size))
