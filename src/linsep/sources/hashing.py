"""Rows whose features have names instead of positions: words of a text or keys of a dict, hashed into 2^bits columns.

A feature that appears late needs no new column: scikit-learn's FeatureHasher gives every name a column and a sign by
its MurmurHash3. Text is hashed by a compiled loop that gives the same matrix as `HashingVectorizer(norm=None)`.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError, NotNumericError, shown
from linsep.faults import fault
from linsep.loops import text_hash
from linsep.tables import as_double
from linsep.tables.exact_numbers import exact_number

MOST_BITS = 28  # 2 GiB of weights for each class
CHARACTERS = 0x110000
SURROGATES = range(0xD800, 0xE000)  # not characters, and never in UTF-8
CONTEXTUAL = "\u0130\u03a3"  # in lower case İ becomes two characters, and Σ depends on whether it ends a word
BLANKS = {ord("\n"): " ", ord("\r"): " "}

Ints = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """Hashed lines: their rows, the codes of their labels, the bytes of those, and the number of each line."""

    X: Any
    codes: Ints
    labels: list[bytes]  # all known labels, in the order of their codes
    numbers: Ints  # counted from 0 in the block


def require_bits(bits: int) -> int:
    """Refuse a number of hash bits that is out of range."""
    if isinstance(bits, bool) or not isinstance(bits, (int, np.integer)) or not 1 <= bits <= MOST_BITS:
        raise ArgumentError(f"bits is {shown(bits)}: it must be a whole number from 1 to {MOST_BITS}.")
    return int(bits)


def hash_texts(texts: Sequence[str], bits: int) -> Any:
    """The words of each text as a row of a CSR matrix with 2^bits columns.

    >>> from linsep.sources.hashing import hash_texts
    >>> hash_texts(["one word, one more word", ""], 4).toarray().astype(int).tolist()
    [[-2, 0, 0, 0, -2, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]
    """
    for row, value in enumerate(texts):
        if not isinstance(value, str):
            raise fault("mixed rows", row=row, value=value, kind="text")
        if not value.isprintable() and any("\ud800" <= character <= "\udfff" for character in value):
            raise NotNumericError("half a surrogate pair, which is not text", row=row)
    # A line break ends a word just as a space does; the space is there because a row needs at least one byte.
    block = "".join(f"\t{value.translate(BLANKS)} \n" for value in texts).encode()
    return hash_lines(block, [], bits).X


def hash_dicts(dicts: Sequence[Mapping[str, Any]], bits: int) -> Any:
    """Each dict as a row of a CSR matrix with 2^bits columns; a text value makes a feature together with its name.

    >>> from linsep.sources.hashing import hash_dicts
    >>> hash_dicts([{"length": 2.5, "colour": "red"}], 3).toarray().tolist()
    [[0.0, 3.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    from sklearn.feature_extraction import FeatureHasher

    for row, features in enumerate(dicts):
        if not isinstance(features, Mapping):
            raise fault("mixed rows", row=row, value=features, kind="a dict")
        _require_features(row, features)
    return sp.csr_array(FeatureHasher(n_features=1 << bits).transform(dicts))


def hash_lines(block: bytes, labels: list[bytes], bits: int) -> Lines:
    """Lines "label<TAB>text" in UTF-8, the last one ended by a newline; new labels are added to `labels`.

    A line without a label has a negative code (`linsep.loops.text_hash.NO_LABEL`), and all of it is text.
    """
    data = np.frombuffer(block, np.uint8)
    n_lines = block.count(b"\n")
    spans, codes = np.empty((n_lines, 4), np.int64), np.empty(n_lines, np.int64)
    names = np.frombuffer(b"".join(labels), np.uint8)
    ends = np.cumsum([len(label) for label in labels], dtype=np.int64)
    rows = text_hash.lines(data, names, ends, spans, codes)
    spans, codes = spans[:rows], codes[:rows]
    labels = _name(block, spans, codes, labels)
    most = len(block) // 3 + 1  # words: each has at least two letters and a separator
    indptr, keys = np.zeros(rows + 1, np.int64), np.empty(most, np.uint32)
    indices, values = np.empty(most, np.int32), np.empty(most)
    folds = _ascii_folds() if block.isascii() else _folds()
    folded = np.zeros(len(block) + 8, np.uint8)
    left = text_hash.hash_words(data, spans, rows, bits, folds, folded, keys, indptr, indices, values)
    filled = int(indptr[-1])
    X = sp.csr_array((values[:filled], indices[:filled], indptr), shape=(rows, 1 << bits))
    if left:
        X = _with_python(block, spans, X, bits)
    X.has_sorted_indices = X.has_canonical_format = True
    return Lines(X, codes, labels, spans[:, text_hash.LINE])


def _name(block: bytes, spans: Ints, codes: Ints, labels: list[bytes]) -> list[bytes]:
    """Give each new label a code."""
    known = {label: code for code, label in enumerate(labels)}
    for row in np.flatnonzero(codes == text_hash.UNKNOWN).tolist():
        label = block[spans[row, text_hash.LABEL_START] : spans[row, text_hash.LABEL_END]]
        codes[row] = known.setdefault(label, len(known))
    return list(known)


def _with_python(block: bytes, spans: Ints, X: Any, bits: int) -> Any:
    """The same rows; those that the compiled loop left out are made by scikit-learn."""
    from sklearn.feature_extraction.text import HashingVectorizer

    rows = np.flatnonzero(spans[:, text_hash.LINE] < 0)
    spans[rows, text_hash.LINE] = -1 - spans[rows, text_hash.LINE]
    texts = [
        block[spans[row, text_hash.LABEL_END] + 1 : spans[row, text_hash.TEXT_END]].decode() for row in rows.tolist()
    ]
    made = sp.csr_array(HashingVectorizer(n_features=1 << bits, norm=None).transform(texts))
    places = np.arange(len(spans))
    places[rows] = len(spans) + np.arange(len(rows))
    return sp.vstack([X, made], format="csr")[places]


@cache
def _ascii_folds() -> npt.NDArray[np.uint32]:
    """What each ASCII character becomes: itself in lower case, or nothing if it cannot be part of a word."""
    return np.array(
        [ord(c.lower()) if c.isalnum() or c == "_" else text_hash.NO_WORD for c in map(chr, range(128))], "u4"
    )


@cache
def _folds() -> npt.NDArray[np.uint32]:
    """The same for every character; lower case works character by character, with two exceptions."""
    plain = np.arange(CHARACTERS, dtype=np.uint32)
    plain = plain[~np.isin(plain, [*SURROGATES, *map(ord, CONTEXTUAL)])]
    lower = plain.tobytes().decode("utf-32-le").lower()
    folded = np.frombuffer(lower.encode("utf-32-le"), np.uint32)
    is_word = np.strings.isalnum(folded.view("U1")) | (folded == ord("_"))
    folds = np.full(CHARACTERS, text_hash.ASK_PYTHON, np.uint32)
    folds[plain] = np.where(is_word, folded, text_hash.NO_WORD)
    return folds


def _require_features(row: int, features: Mapping[str, Any]) -> None:
    for name, value in features.items():
        if not isinstance(name, str):
            raise NotNumericError("names of features must be text", row=row, value=name)
        if isinstance(value, str):
            continue
        if not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
            raise fault("not a feature", row=row, column=name, value=value)
        double = as_double(exact_number(value) or 0)
        if double is None:
            raise fault("inexact", row=row, column=name, value=value)
        if not math.isfinite(double):
            raise fault("not finite", row=row, column=name, value=double)
