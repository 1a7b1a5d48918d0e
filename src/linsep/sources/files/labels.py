"""Labels of a source in files: any two values, or one against the rest, as -1 and +1.

The first read collects the distinct values; what they mean is settled once all are known. Labels of a text file are
integers if all are, else numbers if all are, else text; whole floats are integers, whatever the format.
"""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import CertificateError, shown
from linsep.faults import fault, few
from linsep.sources.base import Label, Signs
from linsep.sources.files.values import EXACT, NUMBER, mark_first, numbers_of

MOST_LABELS = 1 << 16  # distinct values: more than this are not labels
ENDLESS = re.compile("[eE][+-]?[0-9]{10}")
_INTEGER = re.compile(r"[ \t]*[+-]?[0-9]{1,400}[ \t]*")


class Labels:
    """The distinct labels of one file: each value has a code, in the order in which they first appear."""

    is_coded = False  # whether rows were converted, so that their labels are already codes

    def __init__(self, path: str, from_text: bool, keys: Iterable[Any] = ()) -> None:
        self.path, self.from_text = path, from_text
        self.codes: dict[Any, int] = dict(zip(keys, count(), strict=False))
        self.first: dict[Any, int] = {}  # the row of the first occurrence of each value, if this object has seen it

    def encode(self, labels: Any, first: int) -> npt.NDArray[Any]:
        """The code of each label; new values get new codes."""
        if self.is_coded:
            return np.asarray(labels)
        is_first = self._is_first_of_two(labels)
        if is_first is not None:
            return np.logical_not(is_first, out=is_first).view(np.uint8)
        places, values = distinct(self._plain(labels, first), self.path)
        if not all(value in self.codes for value in values):
            self._add(places, values, first)
        return np.asarray(np.array([self.codes.get(value, 0) for value in values], np.uint16)[places])

    def _add(self, places: npt.NDArray[Any], values: list[Any], first: int) -> None:
        """Give codes to the new ones of these values; `places` says which of them each row has."""
        rows = np.full(len(values), -1)  # the first occurrence of each value: the last one written stays
        rows[places[::-1]] = first + np.arange(len(places))[::-1]
        for row, value in zip(rows.tolist(), values, strict=True):
            if row < 0:  # a dictionary may list values that no row has
                continue
            if value is None or (isinstance(value, float) and not math.isfinite(value)) or value == "":
                kind = "label not finite" if isinstance(value, float) else "no label"
                raise fault(kind, self.path, row=row, value=value)
            self._know(value, row)

    def _know(self, value: Any, row: int) -> None:
        """Give a code to a value that has none yet."""
        if value in self.codes:
            return
        self.codes[value] = len(self.codes)
        self.first[value] = row
        if len(self.codes) > MOST_LABELS:
            raise fault("many labels", self.path, most=MOST_LABELS, seen=few(self.codes))

    def copy(self) -> "Labels":
        """The same values with the same codes, for another thread to continue from."""
        return Labels(self.path, self.from_text, tuple(self.codes))

    def join(self, later: "Labels") -> None:
        """Add what was seen in later rows by an object that began as a copy of this one, now or earlier."""
        for value, row in later.first.items():
            self._know(value, row)

    def _plain(self, labels: Any, first: int) -> Any:
        """Labels of a NumPy array in a type that Arrow has; only numbers and text can be labels."""
        if not isinstance(labels, np.ndarray):
            return labels
        if labels.dtype.kind not in "biufU":
            raise fault("label type", self.path, seen=labels.dtype)
        native = labels.astype(labels.dtype.newbyteorder("="), copy=False)
        if native.dtype.kind != "f" or native.dtype.itemsize <= 8:
            return native
        with np.errstate(over="ignore"):  # a number that is too large is refused by name
            doubles = native.astype(np.float64)
        wrong = np.flatnonzero((doubles != native) & (native == native))
        if wrong.size:
            raise fault("label rounded", self.path, row=first + int(wrong[0]), value=str(native[wrong[0]]))
        return doubles

    def _is_first_of_two(self, labels: Any) -> npt.NDArray[np.bool_] | None:
        """For each label, whether it is the first of the two that are known; None if some label is neither."""
        import pyarrow as pa

        if len(self.codes) != 2 or self.from_text:
            return None
        if not isinstance(labels, np.ndarray):
            if not (pa.types.is_integer(labels.type) or pa.types.is_floating(labels.type)) or labels.null_count:
                return None
            labels = numbers_of(labels)
        first, second = self.codes
        if labels.dtype not in (np.int64, np.int32, np.float64) or not labels.dtype.isnative:
            is_first: npt.NDArray[np.bool_] = labels == first
            return is_first if (is_first | (labels == second)).all() else None
        is_first, kind = np.empty(len(labels), np.bool_), labels.dtype.type
        return is_first if mark_first(labels, kind(first), kind(second), is_first) else None

    def values(self) -> list[Label]:
        """What each code means."""
        keys = list(self.codes)
        if self.from_text:
            return _as_numbers(keys)
        if keys and all(
            isinstance(key, float) and math.isfinite(key) and key == int(key) and abs(key) < EXACT for key in keys
        ):
            return [int(key) for key in keys]
        return keys


def distinct(labels: Any, path: str) -> tuple[npt.NDArray[Any], list[Any]]:
    """The distinct labels, and for each row which of them it has."""
    import pyarrow as pa

    try:
        array = pa.array(labels) if isinstance(labels, np.ndarray) else labels
        encoded = array.dictionary_encode(null_encoding="encode")
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        return numbers_of(encoded.indices), encoded.dictionary.to_pylist()
    except (UnicodeError, pa.ArrowInvalid) as error:
        raise fault("labels not text", path, seen=error) from error


def known_classes(labels: Iterable[Labels], classes: tuple[Label, ...]) -> dict[Label, int]:
    """The marks of the values that a proof knows, signs if there are two; a row with any other value refutes it."""
    mark: dict[Label, int] = {}
    for of_file in labels:
        for key, value in zip(of_file.codes, of_file.values(), strict=True):
            same = [is_label(key, known) if of_file.from_text else is_same(value, known) for known in classes]
            if sum(same) != 1:
                where = f"Row {of_file.first[key]}" if key in of_file.first else f"{of_file.path}: a row"
                known = " and ".join(filter(None, [", ".join(map(shown, classes[:-1])), shown(classes[-1])]))
                raise CertificateError(f"{where} has the label {shown(value)}; the proof knows {known}.")
            place = same.index(True)
            mark[value] = 2 * place - 1 if len(classes) == 2 else place
    return mark


def is_label(cell: str, label: Label) -> bool:
    """Is this cell of a text file that label? Text is compared literally, numbers by value, booleans as words."""
    if isinstance(label, str):
        return cell == label
    if isinstance(label, bool):
        return cell.strip().lower() == str(label).lower()
    if _INTEGER.fullmatch(cell):
        return int(cell) == label
    return bool(NUMBER.fullmatch(cell)) and float(cell) == label and is_its_double(cell)


def is_same(label: Label, other: Label) -> bool:
    """Are two labels equal, and both text, both boolean, or both numbers?"""
    return label == other and all(isinstance(label, kind) == isinstance(other, kind) for kind in (str, bool))


def classes_of(
    values: Iterable[Label], positive: Any, files: Sequence[str], order: Sequence[Label] | None = None, **known: Any
) -> tuple[tuple[Label, ...], dict[Label, int]]:
    """What the classes are called, and the mark of each value: a sign for two classes, else a position among them.

    The classes are in increasing order, or in `order`. A single one is refused where it is asked about, not here:
    counts may all be the same.
    """
    labels, known = list(dict.fromkeys(values)), {"more": len(files) - 1, **known}
    if positive is not None:
        chosen = [value for value in labels if value == positive or str(value) == str(positive)]
        if not chosen:
            raise fault("no such class", files[0], value=positive, seen=few(labels), **known)
        rest = [value for value in labels if value not in chosen]
        if not rest:
            raise fault("one class", files[0], value=chosen[0], **known)
        negative: Label = rest[0] if len(rest) == 1 else f"not {chosen[0]}"
        return (negative, chosen[0]), {value: 1 if value in chosen else -1 for value in labels}
    try:
        labels.sort(key=None if order is None else order.index)
    except TypeError as error:
        kinds = {type(value): value for value in labels}
        raise fault("mixed labels", files[0], seen=" and ".join(map(repr, kinds.values())), **known) from error
    return tuple(labels), {value: 2 * k - 1 if len(labels) == 2 else k for k, value in enumerate(labels)}


def marks_of(codes: npt.NDArray[Any], marks: npt.NDArray[Any]) -> Any:
    """The mark of each code; `marks` has one for every code."""
    if len(marks) != 2 or marks.dtype != np.int8:
        return marks[codes]
    signs: Signs = codes.astype(np.int8)  # takes a third of the time
    signs *= marks[1] - marks[0]
    signs += marks[0]
    return signs


def _as_numbers(texts: list[str]) -> list[Label]:
    if all(_INTEGER.fullmatch(text) for text in texts):
        return [int(text) for text in texts]
    if all(NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in texts):
        numbers = [float(text) for text in texts]
        if not all(map(is_its_double, texts)):
            return list(texts)
        return [int(n) for n in numbers] if all(n == int(n) and abs(n) < EXACT for n in numbers) else list(numbers)
    return list(texts)


def is_its_double(text: str) -> bool:
    """Whether a number is the shortest decimal of its double: not 1e-400, which is not 0, nor 0.1000...01.

    A number with an exponent of ten digits or more does not count, even if it is 0: the checker treats it the same way.
    """
    if ENDLESS.search(text):
        return False
    try:
        return Decimal(text.strip()) == Decimal(repr(float(text)))
    except InvalidOperation:  # an exponent that is far too large
        return False
