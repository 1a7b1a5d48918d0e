"""Lines "label<TAB>text" as the rows that scikit-learn's HashingVectorizer makes of them, many lines at a time.

    HashingVectorizer(n_features=2**bits, norm=None)      lower case; words are runs of two or more of \\w; each adds
                                                          +1 or -1 to the column that its MurmurHash3 names

Bytes go in, a CSR matrix comes out, and no string is made on the way. `folds` says what a character beyond ASCII
becomes (see `linsep.sources.hashing`); lines with one of the few whose lower case has another number of bytes, or
depends on the letters around it, are left to scikit-learn.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from linsep.loops.compiler import njit

TAB, NEWLINE, RETURN = 9, 10, 13
NO_WORD, ASK_PYTHON = 0, 0xFFFFFFFF  # what `folds` says besides a character
LINE, LABEL_START, LABEL_END, TEXT_END = range(4)  # what is written down of a line: its number, and where it lies
UNKNOWN = -1  # the code of a label that is not known yet
NO_LABEL = -2  # of a line without a tab, or with nothing before it
SHORT = 48  # words: up to here a row is sorted by insertion
MASK = np.uint64(0xFFFFFFFF)
ONES, HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
C1, C2, M5 = np.uint64(0xCC9E2D51), np.uint64(0x1B873593), np.uint64(0xE6546B64)


@njit(cache=True, nogil=True)
def lines(block: Any, names: Any, ends: Any, spans: Any, codes: Any) -> int:
    """Find the lines of a block that ends with a newline, and the code of each label; returns how many there are.

    Blank lines do not count. The known labels are stored one after the other in `names`; `ends` says where each ends.
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
    block: Any,
    spans: Any,
    rows: int,
    bits: int,
    folds: Any,
    folded: Any,
    keys: Any,
    indptr: Any,
    indices: Any,
    values: Any,
) -> int:
    """The words of each line as a sorted row of a CSR matrix; returns how many lines were left to Python.

    Such a line is an empty row, and its number in `spans` becomes negative. `folded` is room for the block in lower
    case with eight zeros after it, `keys` for the words of a line.
    """
    left, filled = 0, 0
    for row in range(rows):
        start, stop = spans[row, LABEL_END] + 1, spans[row, TEXT_END]
        count = 0
        if fold(block, start, stop, folds, folded):
            count = words(folded, start, stop, bits, keys)
        else:
            left += 1
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
def fold(block: Any, start: int, stop: int, folds: Any, folded: Any) -> bool:
    """The text in lower case, byte for byte, zeros where no word is; False where that cannot be."""
    place = start
    while place < stop:
        byte = block[place]
        if byte < 128:
            folded[place] = folds[byte]
            place += 1
            continue
        width = letter_width(byte)
        one = np.int64(folds[character(block, place, width)])
        is_word = one != NO_WORD
        if is_word and (one == ASK_PYTHON or utf8_width(one) != width):
            return False
        for k in range(width - 1, 0, -1):
            folded[place + k] = 0x80 | (one & 0x3F) if is_word else 0
            one >>= 6
        folded[place] = (0xF00 >> width) & 0xFF | one if is_word else 0
        place += width
    folded[stop] = 0
    return True


@njit(cache=True, nogil=True)
def words(folded: Any, start: int, stop: int, bits: int, keys: Any) -> int:
    """Write 2·column + (1 if the sign is minus) for each word of the folded text; returns how many.

    Eight bytes are looked at together: the first that is not zero begins a word, the next zero ends it.
    """
    count, place = 0, start
    while place < stop:
        eight = load64(folded, place)
        if eight == 0:
            place += 8
            continue
        place += first_byte(eight)
        begin = place
        if begin >= stop:
            break
        zeros = zero_bytes(load64(folded, place))
        while zeros == 0:
            place += 8
            zeros = zero_bytes(load64(folded, place))
        place += first_byte(zeros)
        keys[count] = key(murmur(folded, begin, place), bits)  # written anyway, counted if it is a word:
        count += place - begin > letter_width(folded[begin])  # a branch here would be guessed wrong too often
    return count


@njit(cache=True, nogil=True, inline="always")
def murmur(folded: Any, begin: int, end: int) -> Any:
    """MurmurHash3 of these bytes, 32 bits, seed 0 (Appleby 2011)."""
    hashed, length = np.uint64(0), end - begin
    whole = begin + (length & ~3)
    for place in range(begin, whole, 4):
        group = load64(folded, place) & MASK
        hashed = ((rotated(hashed ^ mixed(group), 13) * np.uint64(5)) + M5) & MASK
    tail = load64(folded, whole) & ((np.uint64(1) << np.uint64(8 * (length & 3))) - np.uint64(1))
    hashed ^= mixed(tail)  # of no bytes it is 0
    hashed ^= np.uint64(length)
    hashed ^= hashed >> np.uint64(16)
    hashed = (hashed * np.uint64(0x85EBCA6B)) & MASK
    hashed ^= hashed >> np.uint64(13)
    hashed = (hashed * np.uint64(0xC2B2AE35)) & MASK
    return hashed ^ (hashed >> np.uint64(16))


@intrinsic
def load64(typing_context: Any, values: Any, place: Any) -> Any:
    """Eight bytes of an array as one number, the first in its lowest bits. (Of a little-endian machine.)"""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        whole = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(whole, align=1)

    return types.uint64(values, types.int64), emit


@intrinsic
def first_byte(typing_context: Any, eight: Any) -> Any:
    """Which of eight bytes, not all zero, is the first that is not."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.lshr(builder.cttz(args[0], ir.IntType(1)(1)), ir.IntType(64)(3))

    return types.int64(types.uint64), emit


@njit(cache=True, nogil=True, inline="always")
def zero_bytes(eight: Any) -> Any:
    """A number whose first byte that is not zero stands where the first zero of these is."""
    return (eight - ONES) & ~eight & HIGHS


@njit(cache=True, nogil=True, inline="always")
def letter_width(byte: Any) -> Any:
    """How many bytes a character has that begins with this one."""
    return 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)


@njit(cache=True, nogil=True, inline="always")
def utf8_width(code: Any) -> Any:
    """How many bytes a character has."""
    return 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)


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
