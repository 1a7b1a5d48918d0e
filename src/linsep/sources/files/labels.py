"""Labels of a source in files: any two values, or one against the rest, as -1 and +1.

The first read collects the distinct values; what they mean is settled once all are known. Labels of a text file are
integers if all are, else numbers if all are, else text; whole floats are integers, whatever the format.
"""

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import (
    ArgumentError,
    CertificateError,
    ManyClassesError,
    MissingLabelError,
    NotNumericError,
    OneClassError,
)
from linsep.sources.base import Label, Signs

MOST = 1 << 16  # distinct values: more are no labels
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


class Labels:
    """The distinct labels of one file: each value has a code, in the order in which they first appear."""

    def __init__(self, path: str, from_text: bool, keys: Iterable[Any] = ()) -> None:
        self.path, self.from_text = path, from_text
        self.codes: dict[Any, int] = {key: code for code, key in enumerate(keys)}
        self.first: dict[Any, int] = {}  # the row where each value first stands, where this was seen

    def encode(self, labels: Any, first: int) -> npt.NDArray[np.uint16]:
        """The code of each label; new values get new codes."""
        places, values = distinct(labels)
        for value in values:
            if value is None or (isinstance(value, float) and not math.isfinite(value)):
                row = first + int(np.argmax(np.asarray(places) == values.index(value)))
                raise MissingLabelError(
                    f"{self.path}: the label of row {row} is {value}. Every row needs one.",
                    file=self.path,
                    row=row,
                    value=value,
                )
            if value not in self.codes:
                self.codes[value] = len(self.codes)
                self.first[value] = first + int(np.argmax(np.asarray(places) == values.index(value)))
        if len(self.codes) > MOST:
            raise ManyClassesError(
                f"{self.path}: the label column has more than {MOST:,} different values: {_few(self.codes)}.",
                file=self.path,
            )
        return np.asarray(np.array([self.codes[value] for value in values], np.uint16)[places])

    def quick_signs(self, labels: Any, sign: dict[Label, int]) -> Signs | None:
        """The signs of numbers that take the two values known from the first read; None if that is not so simple."""
        import pyarrow as pa

        if len(self.codes) != 2 or self.from_text:
            return None
        if not isinstance(labels, np.ndarray):
            if not (pa.types.is_integer(labels.type) or pa.types.is_floating(labels.type)) or labels.null_count:
                return None
            labels = np.asarray(labels)
        (a, b), (first, second) = self.codes, (sign[value] for value in self.values())
        is_first = labels == a
        if not (is_first | (labels == b)).all():
            return None
        signs: Signs = is_first.view(np.int8) * np.int8(first - second)
        signs += np.int8(second)
        return signs

    def values(self) -> list[Label]:
        """What each code means."""
        keys = list(self.codes)
        if self.from_text:
            return _as_numbers(keys)
        if keys and all(
            isinstance(key, float) and math.isfinite(key) and key == int(key) and abs(key) < 2**53 for key in keys
        ):
            return [int(key) for key in keys]
        return keys


def distinct(labels: Any) -> tuple[npt.NDArray[Any], list[Any]]:
    """The distinct labels, and for each row which of them it has."""
    import pyarrow as pa

    array = pa.array(labels) if isinstance(labels, np.ndarray) else labels
    encoded = array.dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return np.asarray(encoded.indices), encoded.dictionary.to_pylist()


def known_classes(labels: Iterable[Labels], classes: tuple[Label, Label]) -> dict[Label, int]:
    """The signs of the values that a proof knows; a row with any other value refutes it."""
    sign = {classes[0]: -1, classes[1]: 1}
    for of_file in labels:
        for key, value in zip(of_file.codes, of_file.values(), strict=True):
            if value not in sign:
                where = f"Row {of_file.first[key]}" if key in of_file.first else f"{of_file.path}: a row"
                known = f"{classes[0]!r} and {classes[1]!r}"
                raise CertificateError(f"{where} has the label {value!r}; the proof knows {known}.")
    return sign


def two_classes(values: Iterable[Label], positive: Any, rows: int) -> tuple[tuple[Label, Label], dict[Label, int]]:
    """What the classes -1 and +1 are called, and the sign of each value."""
    known = list(dict.fromkeys(values))
    if positive is not None:
        return _against_the_rest(known, positive)
    try:
        known.sort()
    except TypeError as error:
        raise NotNumericError(f"The labels cannot be ordered: {error}.") from error
    if len(known) == 1:
        raise OneClassError(
            f"All {rows} labels are {known[0]!r}: there is nothing to separate. Two labels are needed.", value=known[0]
        )
    if len(known) > 2:
        fix = "Pit one of them against the rest: positive=VALUE, --positive VALUE."
        raise ManyClassesError(
            f"There are more than two labels ({_few(known)}): pit one of them against the rest, for instance "
            f"with positive={known[-1]!r} (--positive {known[-1]}).",
            fix=fix,
        )
    return (known[0], known[1]), {known[0]: -1, known[1]: 1}


def _against_the_rest(known: list[Label], positive: Any) -> tuple[tuple[Label, Label], dict[Label, int]]:
    chosen = [value for value in known if value == positive or str(value) == str(positive)]
    if not chosen:
        raise ArgumentError(f"No label is {positive!r}. The labels are {_few(known)}.", value=positive)
    rest = [value for value in known if value not in chosen]
    if not rest:
        raise OneClassError(f"All labels are {chosen[0]!r}: there is nothing to separate.", value=chosen[0])
    negative: Label = rest[0] if len(rest) == 1 else f"not {chosen[0]}"
    return (negative, chosen[0]), {value: 1 if value in chosen else -1 for value in known}


def signs_of(codes: npt.NDArray[np.uint16], values: list[Label], sign: dict[Label, int]) -> Signs:
    """The sign of each code."""
    return np.array([sign[value] for value in values], np.int8)[codes]


def _as_numbers(texts: list[str]) -> list[Label]:
    if all(_INTEGER.fullmatch(text) for text in texts):
        return [int(text) for text in texts]
    if all(_NUMBER.fullmatch(text) and math.isfinite(float(text)) for text in texts):
        numbers = [float(text) for text in texts]
        return [int(n) for n in numbers] if all(n == int(n) and abs(n) < 2**53 for n in numbers) else list(numbers)
    return list(texts)


def _few(values: Iterable[Any]) -> str:
    listed = list(values)
    return ", ".join(repr(value) for value in listed[:5]) + (", ..." if len(listed) > 5 else "")
