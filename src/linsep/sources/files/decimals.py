"""Decimals read exactly: a column of decimals times a power of ten is a column of integers.

Here 0.1 is one tenth, which no double is. The power is the same for a whole column, so multiplying by it does not
change whether the classes are separable: the weight found for such a column, times the same power, is the weight for
the decimals.
"""

import re
from decimal import Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import InputError
from linsep.faults import fault
from linsep.tables.exact_numbers import are_doubles

MOST_PLACES = 18  # digits after the point: 10^18 still fits 64 bits
CERTAINLY_SHORT = 20  # characters: times 10^18 the number has at most 38 digits, which Arrow holds
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?[ \t]*")


def places_of(column: Any, bound: int | None = None) -> int:
    """How many digits after the point the longest number of a text column has; more than 18 count as 19.

    With a bound, numbers that have more are ignored: their rows will be rejected.
    """
    import pyarrow.compute as pc

    text, most = pc.utf8_trim(column, " \t"), 0
    has_exponent = pc.match_substring_regex(text, "[eE]")
    if pc.any(has_exponent).as_py():
        most = max(map(_places, pc.unique(text.filter(has_exponent)).to_pylist()))
        text = text.filter(pc.invert(has_exponent))
    point = pc.find_substring(text, ".")
    digits = pc.subtract(pc.utf8_length(pc.utf8_rtrim(text, "0")), pc.add(point, 1))
    longest = pc.max(pc.if_else(pc.greater_equal(point, 0), digits, 0)).as_py() or 0
    most = min(max(most, longest), MOST_PLACES + 1)
    if bound is None or most <= bound:
        return most
    return max((known for known in map(_places, column.to_pylist()) if known <= bound), default=0)


def _places(text: str | None) -> int:
    if text is None or not NUMBER.fullmatch(text):
        return 0  # the main read reports what is wrong with it
    number = Decimal(text)
    if not number or number.adjusted() > 2 * MOST_PLACES:  # 0, or too large in any case
        return 0
    if number.adjusted() < -2 * MOST_PLACES:
        return MOST_PLACES + 1
    exponent = number.normalize(Context(prec=len(text))).as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, min(-exponent, MOST_PLACES + 1))


def scaled(column: Any, places: int) -> npt.NDArray[np.int64] | None:
    """The numbers of a text column times 10^places, as integers; None where one does not fit 64 bits."""
    import pyarrow.compute as pc

    if places > MOST_PLACES:
        return None
    text = pc.utf8_trim(column, " \t")
    is_short = (pc.max(pc.binary_length(text)).as_py() or 0) <= CERTAINLY_SHORT
    if not is_short or pc.any(pc.match_substring_regex(text, "[eE]")).as_py():  # Arrow reads 1e0x1 as 10
        integers = [None if number is None else integer_of(number, places) for number in text.to_pylist()]
        return None if None in integers else np.array(integers, np.int64)
    return in_words(pc.replace_substring_regex(text, pattern=r"^\+([0-9.])", replacement=r"\1"), places)


def in_words(column: Any, places: int) -> npt.NDArray[np.int64] | None:
    """The integers, decimals or short texts of a column times 10^places; None where one is not an integer of 64 bits.

    It has no nulls.
    """
    import pyarrow as pa

    if not len(column):
        return np.zeros(0, np.int64)
    try:
        decimals = column.cast(pa.decimal128(38, places))
    except pa.ArrowInvalid:
        return None
    array = decimals.combine_chunks() if isinstance(decimals, pa.ChunkedArray) else decimals
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)[array.offset : array.offset + len(array)]
    return None if (words[:, 1] != words[:, 0] >> 63).any() else np.ascontiguousarray(words[:, 0])


def places_in(column: Any, least: int) -> int:
    """How many digits after the point the numbers of a column of decimals need, at least `least`."""
    most = max(least, min(column.type.scale, MOST_PLACES))
    return next((places for places in range(least, most) if in_words(column, places) is not None), most)


def are_all_doubles(column: Any, places: int) -> bool:
    """Whether decimals with this many digits after the point are doubles: n/10^k is one only if 5^k divides n."""
    integers = in_words(column, places)
    if integers is None or (integers % 5**places).any():
        return False
    return bool(are_doubles(integers // 5**places).all())


def integer_of(text: str, places: int) -> int | None:
    """A number times 10^places as an integer of 64 bits; None where it is not one."""
    if not NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    if not number:
        return 0
    if not -40 < number.adjusted() < 40:
        return None
    exactly = Context(prec=len(text) + 100)
    integer = number.scaleb(places, exactly)
    is_integer = -(2**63) <= integer < 2**63 and integer == integer.to_integral_value(context=exactly)
    return int(integer) if is_integer else None


def fault_of(path: str, row: int, column: str, value: str, places: int) -> InputError | None:
    """What is wrong with a decimal that its column, times 10^places, cannot hold exactly."""
    known: dict[str, Any] = {"row": row, "column": column, "value": value, "places": places, "most": MOST_PLACES}
    if places > MOST_PLACES:
        return fault("digits", path, **known) if _places(value) > MOST_PLACES else None
    return fault("too long", path, **known) if integer_of(value, places) is None else None
