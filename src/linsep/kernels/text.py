"""Lines "label<TAB>text" as the rows that scikit-learn's HashingVectorizer makes of them, many lines at a time.

    HashingVectorizer(n_features=2**bits, norm=None)      lower case; words are runs of two or more of \\w; each adds
                                                          +1 or -1 to the column that its MurmurHash3 names

Bytes go in, a CSR matrix comes out, and no string is made on the way. `folds` says what becomes of a character beyond
ASCII (see `linsep.sources.hashing`); the two whose lower case is not one character for one leave their line to
scikit-learn.
"""

from typing import Any

import numpy as np
from numba import njit

TAB, NEWLINE, RETURN = 9, 10, 13
NO_WORD, ASK_PYTHON = 0, 0xFFFFFFFF  # what `folds` says besides a character
LINE, LABEL_START, LABEL_END, TEXT_END = range(4)  # what is written down of a line: its number, and where it lies
UNKNOWN = -1  # the code of a label that is not known yet
NO_LABEL = -2  # of a line without a tab, or with nothing before it
SHORT = 48  # words: up to here a row is sorted by insertion
MASK = np.uint64(0xFFFFFFFF)
C1, C2, M5 = np.uint64(0xCC9E2D51), np.uint64(0x1B873593), np.uint64(0xE6546B64)


@njit(cache=True, nogil=True)
def lines(block: Any, names: Any, ends: Any, spans: Any, codes: Any) -> int:
    """Find the lines of a block that ends with a newline, and the code of each label; returns how many there are.

    Blank lines are none. The known labels stand one after the other in `names`, each to its place in `ends`.
    """
    row, start, number, code = 0, 0, 0, 0
    tab = -1
    for place in range(block.size):
        byte = block[place]
        if byte == TAB and tab < 0:
            tab = place
        if byte != NEWLINE:
            continue
        stop = place
        while stop > start and block[stop - 1] == RETURN:
            stop -= 1
        if stop > start:
            spans[row, LINE], spans[row, TEXT_END] = number, stop
            has_label = tab > start
            spans[row, LABEL_START] = start
            spans[row, LABEL_END] = tab if tab >= 0 else start - 1
            if not has_label:
                codes[row] = NO_LABEL
            else:
                if not is_same(block, start, tab, names, ends, code):
                    code = find(block, start, tab, names, ends)
                codes[row] = code
                code = max(code, 0)
            row += 1
        start, tab, number = place + 1, -1, number + 1
    return row


@njit(cache=True, nogil=True)
def is_same(block: Any, start: int, stop: int, names: Any, ends: Any, code: int) -> bool:
    """Whether these bytes are the label with this code."""
    if code >= ends.size:
        return False
    first = ends[code - 1] if code > 0 else 0
    if ends[code] - first != stop - start:
        return False
    same = True
    for k in range(stop - start):
        same &= names[first + k] == block[start + k]
    return same


@njit(cache=True, nogil=True)
def find(block: Any, start: int, stop: int, names: Any, ends: Any) -> int:
    """The code of these bytes among the known labels."""
    for code in range(ends.size):
        if is_same(block, start, stop, names, ends, code):
            return code
    return UNKNOWN


@njit(cache=True, nogil=True)
def hash_words(
    block: Any, spans: Any, rows: int, bits: int, folds: Any, keys: Any, indptr: Any, indices: Any, values: Any
) -> int:
    """The words of each line as a sorted row of a CSR matrix; returns how many lines were left to Python.

    Such a line is an empty row, and its text ends where it begins in `spans`. `keys` is room for the words of a line.
    """
    left, filled = 0, 0
    for row in range(rows):
        start, stop = spans[row, LABEL_END] + 1, spans[row, TEXT_END]
        count = words(block, start, stop, bits, folds, keys)
        if count < 0:
            left, count = left + 1, 0
            spans[row, LINE] = -1 - spans[row, LINE]
        sort(keys, count)
        first = filled
        for k in range(count):
            column, sign = keys[k] >> np.uint32(1), 1.0 - 2.0 * (keys[k] & np.uint32(1))
            if filled > first and indices[filled - 1] == column:
                values[filled - 1] += sign
            else:
                indices[filled], values[filled] = column, sign
                filled += 1
        indptr[row + 1] = filled
    return left


@njit(cache=True, nogil=True)
def words(block: Any, start: int, stop: int, bits: int, folds: Any, keys: Any) -> int:
    """Write 2·column + (1 if the sign is minus) for each word of the text; returns how many, or -1 to ask Python.

    A word is hashed while it is read: `hashed` has its whole groups of four bytes, `tail` the bytes since.
    """
    count, letters, length = 0, 0, np.uint64(0)
    hashed, tail = np.uint64(0), np.uint64(0)
    place = start
    while place < stop:
        byte = block[place]
        if byte < 128:
            folded = np.uint64(folds[byte])
            place += 1
        else:
            width = 2 if byte < 0xE0 else (3 if byte < 0xF0 else 4)
            folded = np.uint64(folds[character(block, place, width)])
            if folded == ASK_PYTHON:
                return -1
            place += width
        if folded == NO_WORD:
            keys[count] = key(finish(hashed, tail, length), bits)  # written anyway, counted if it is a word:
            count += letters >= 2  # a branch here would be guessed wrong too often
            letters, length, hashed, tail = 0, np.uint64(0), np.uint64(0), np.uint64(0)
            continue
        letters += 1
        if folded < 128:
            hashed, tail, length = feed(hashed, tail, length, folded)
            continue
        for one in utf8(folded):
            if one != 0:
                hashed, tail, length = feed(hashed, tail, length, one)
    keys[count] = key(finish(hashed, tail, length), bits)
    return count + (letters >= 2)


@njit(cache=True, nogil=True, inline="always")
def feed(hashed: Any, tail: Any, length: Any, byte: Any) -> tuple[Any, Any, Any]:
    """One byte more of a word."""
    tail |= byte << (np.uint64(8) * (length & np.uint64(3)))
    length += np.uint64(1)
    if length & np.uint64(3) == 0:
        hashed = ((rotated(hashed ^ mixed(tail), 13) * np.uint64(5)) + M5) & MASK
        tail = np.uint64(0)
    return hashed, tail, length


@njit(cache=True, nogil=True, inline="always")
def utf8(character: Any) -> tuple[Any, Any, Any, Any]:
    """The bytes of a character, then zeros."""
    zero, low, ten = np.uint64(0), np.uint64(0x3F), np.uint64(0x80)
    if character < 0x80:
        return character, zero, zero, zero
    last = ten | (character & low)
    if character < 0x800:
        return np.uint64(0xC0) | (character >> np.uint64(6)), last, zero, zero
    middle = ten | ((character >> np.uint64(6)) & low)
    if character < 0x10000:
        return np.uint64(0xE0) | (character >> np.uint64(12)), middle, last, zero
    return np.uint64(0xF0) | (character >> np.uint64(18)), ten | ((character >> np.uint64(12)) & low), middle, last


@njit(cache=True, nogil=True, inline="always")
def character(block: Any, place: int, width: int) -> Any:
    """The character that begins here. The block is UTF-8: that was made sure of before."""
    code = np.int64(block[place]) & (0x7F >> width)
    for k in range(1, width):
        code = (code << 6) | (np.int64(block[place + k]) & 0x3F)
    return code


@njit(cache=True, nogil=True, inline="always")
def rotated(value: Any, by: int) -> Any:
    """Thirty-two bits, rotated to the left."""
    return ((value << np.uint64(by)) | (value >> np.uint64(32 - by))) & MASK


@njit(cache=True, nogil=True, inline="always")
def mixed(group: Any) -> Any:
    """Four bytes, as MurmurHash3 scatters them."""
    return (rotated((group * C1) & MASK, 15) * C2) & MASK


@njit(cache=True, nogil=True, inline="always")
def finish(hashed: Any, tail: Any, length: Any) -> Any:
    """The end of MurmurHash3: the bytes left over, the length, and a last scattering."""
    if length & np.uint64(3):
        hashed ^= mixed(tail)
    hashed ^= length
    hashed ^= hashed >> np.uint64(16)
    hashed = (hashed * np.uint64(0x85EBCA6B)) & MASK
    hashed ^= hashed >> np.uint64(13)
    hashed = (hashed * np.uint64(0xC2B2AE35)) & MASK
    return hashed ^ (hashed >> np.uint64(16))


@njit(cache=True, nogil=True, inline="always")
def key(hashed: Any, bits: int) -> Any:
    """The column, |hash| mod 2^bits of the hash as a signed number, and its sign in the last bit."""
    is_negative = hashed >> np.uint64(31)
    size = hashed if is_negative == 0 else (np.uint64(1) << np.uint64(32)) - hashed
    column = size & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1))
    return np.uint32((column << np.uint64(1)) | is_negative)


@njit(cache=True, nogil=True)
def sort(keys: Any, count: int) -> None:
    """Sort the first keys: by insertion where they are few."""
    if count > SHORT:
        keys[:count].sort()
        return
    for k in range(1, count):
        one, place = keys[k], k
        while place > 0 and keys[place - 1] > one:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = one
