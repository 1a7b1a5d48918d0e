"""Decimals read exactly: a column of them times a power of ten is a column of integers.

0.1 is one tenth here, which no double is. The power is the same for a whole column, so the classes are separable
after it exactly when they are before: weights for the column times the same power are weights for the decimals.
"""

import re
from decimal import Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import InputError
from linsep.faults import fault

EXACTLY = Context(prec=1000)  # no number that is looked at has so many digits
MOST_PLACES = 18  # digits after the point: 10^18 still fits 64 bits
CERTAINLY_SHORT = 20  # characters: times 10^18 they are at most 38 digits
SHORT = r"^-?[0-9]{0,19}(\.[0-9]{0,18})?$"  # anything longer is no integer of 64 bits times 10^-18
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?[ \t]*")


def places_of(column: Any, bound: int | None = None) -> int:
    """How many digits after the point the longest number of a text column has; more than 18 count as 19.

    With a bound, numbers that have more are passed over: their rows will be rejected.
    """
    most = _most_places(column)
    if bound is None or most <= bound:
        return most
    return max((known for known in map(_places, column.to_pylist()) if known <= bound), default=0)


def _most_places(column: Any) -> int:
    import pyarrow.compute as pc

    text = pc.utf8_trim(column, " \t")
    most = 0
    if pc.any(pc.match_substring_regex(text, "[eE]")).as_py():
        with_exponent = text.filter(pc.match_substring_regex(text, "[eE]"))
        most = max(map(_places, pc.unique(with_exponent).to_pylist()))
        text = text.filter(pc.invert(pc.match_substring_regex(text, "[eE]")))
    point = pc.find_substring(text, ".")
    digits = pc.subtract(pc.utf8_length(pc.utf8_rtrim(text, "0")), pc.add(point, 1))
    longest = pc.max(pc.if_else(pc.greater_equal(point, 0), digits, 0)).as_py() or 0
    return min(max(most, longest), MOST_PLACES + 1)


def _places(text: str | None) -> int:
    if text is None or not NUMBER.fullmatch(text):
        return 0  # the reading proper says what is wrong with it
    number = Decimal(text)
    if not number or number.adjusted() > 2 * MOST_PLACES:  # 0, or too large whatever follows
        return 0
    if number.adjusted() < -2 * MOST_PLACES:
        return MOST_PLACES + 1
    exponent = number.normalize(EXACTLY).as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, min(-exponent, MOST_PLACES + 1))


def scaled(column: Any, places: int) -> npt.NDArray[np.int64] | None:
    """The numbers of a text column times 10^places, as integers; None where one does not fit 64 bits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if places > MOST_PLACES:
        return None
    text = pc.replace_substring_regex(pc.utf8_trim(column, " \t"), pattern=r"^\+([0-9.])", replacement=r"\1")
    has_exponent = pc.match_substring_regex(text, "[eE]")
    if pc.any(has_exponent).as_py():
        values = [None if t is None else plain(t) for t in text.to_pylist()]
        if None in values:
            return None
        text = pa.array(values, pa.string())
    short = _short(text)
    if short is None:
        return None
    try:
        decimals = short.cast(pa.decimal128(38, places))
    except pa.ArrowInvalid:
        return None
    array = decimals.combine_chunks() if isinstance(decimals, pa.ChunkedArray) else decimals
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)[array.offset : array.offset + len(array)]
    if (words[:, 1] != words[:, 0] >> 63).any():
        return None
    return np.ascontiguousarray(words[:, 0])


def _short(text: Any) -> Any | None:
    """The same numbers, of at most 38 digits: Arrow wraps longer ones around in silence. None if one is longer."""
    import pyarrow.compute as pc

    longest = pc.max(pc.binary_length(text)).as_py() or 0
    if longest <= CERTAINLY_SHORT:
        return text
    text = _without_zeros(text)  # which say nothing
    return text if pc.all(pc.match_substring_regex(text, SHORT)).as_py() is not False else None


def _without_zeros(text: Any) -> Any:
    """Numbers without zeros before them, and without those that end their fractions."""
    import pyarrow.compute as pc

    text = pc.replace_substring_regex(text, pattern=r"^(-?)0*([0-9])", replacement=r"\1\2")
    text = pc.replace_substring_regex(text, pattern=r"^(-?)\.", replacement=r"\10.")
    return pc.replace_substring_regex(text, pattern=r"(\.[0-9]*?)0*$", replacement=r"\1")


def _trimmed(text: str) -> str:
    """The same for one number."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    if "." in digits and "e" not in digits.lower():
        digits = digits.rstrip("0")
    digits = digits.lstrip("0")
    return sign + (digits if digits[:1].isdigit() else f"0{digits}")


def plain(text: str) -> str | None:
    """A number without its exponent; None where that would be longer than any integer of 64 bits, or is not a number.

    (Arrow takes 1e0x1 for 10.)
    """
    if not NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    if not number:
        return "0"
    return format(number, "f") if len(text) < 1000 and -40 < number.adjusted() < 40 else None


def does_not_fit(text: str, places: int) -> bool:
    """Whether a number times 10^places is not an integer of 64 bits."""
    if places > MOST_PLACES:
        return _places(text) > MOST_PLACES
    bare = plain(_trimmed(text.strip()))
    if bare is None or len(bare) > 100:
        return True
    integer = Decimal(bare).scaleb(places, EXACTLY)
    return not -(2**63) <= integer < 2**63 or integer != integer.to_integral_value(context=EXACTLY)


def too_many_digits(path: str, row: int, column: str, value: str, places: int) -> InputError:
    """A decimal that its column cannot hold exactly."""
    kind = "too long" if places <= MOST_PLACES else "digits"
    return fault(kind, path, row=row, column=column, value=value, places=places, most=MOST_PLACES)
