"""The costs of mistakes as the user gives them: a number for each row or for each class, taken exactly as written."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from math import gcd, isfinite, lcm
from numbers import Rational, Real
from typing import Any

import numpy as np

from linsep.arguments import refused
from linsep.errors import ArgumentError, shown
from linsep.sources.base import Block, Signs, Source
from linsep.tables.handed_over import column_of

LARGEST = 2**900  # of coprime costs: floats must hold them, and their sums


def costs_of(cost: Any, source: Source) -> tuple[tuple[int, ...] | None, Fraction]:
    """The costs of the rows as coprime whole numbers, and the value of the unit; None if each row costs 1."""
    if cost is None:
        return None, Fraction(1)
    if isinstance(cost, Mapping):
        _require_labels(cost, source.facts.pair)
        pair = [as_written(_of_label(cost, label)[0]) for label in source.facts.pair]
        signs = np.concatenate(list(source.each(_labels_in)))
        given = [pair[int(sign > 0)] for sign in signs.tolist()]
    else:
        given = [as_written(one) for one in _listed(cost)]
    if len(given) != source.n_rows:
        raise ArgumentError(f"cost has {len(given):,} numbers; there are {source.n_rows:,} rows.")
    common = lcm(*(one.denominator for one in given))
    whole = [int(one * common) for one in given]
    divisor = gcd(*whole) or 1
    if max(whole) // divisor > LARGEST:
        raise ArgumentError("cost holds numbers that differ too much in size: scale or round them.")
    return tuple(one // divisor for one in whole), Fraction(divisor, common)


def _labels_in(block: Block) -> Signs:
    return block.y


def _listed(cost: Any) -> list[Any]:
    column = None if hasattr(cost, "tolist") or isinstance(cost, Sequence) else column_of(cost)
    found = cost.tolist() if hasattr(cost, "tolist") else cost if column is None else column.to_list()
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise refused("cost", cost, "a number for each row, or for each of the two labels")
    return list(found)


def _require_labels(cost: Mapping[Any, Any], labels: tuple[Any, Any]) -> None:
    """Refuse a key that is not a label, and a label without a cost or with two."""
    strange = [key for key in cost if not any(_is_meant(key, label) for label in labels)]
    odd = [label for label in labels if len(_of_label(cost, label)) != 1]
    if not strange and not odd:
        return
    if strange:
        told = f"cost names {shown(strange[0])}, which is not a label."
    else:
        told = f"cost has {'two numbers' if _of_label(cost, odd[0]) else 'no number'} for the label {shown(odd[0])}."
    raise ArgumentError(told, fix=f"Give a number for each of the two labels, {' and '.join(map(shown, labels))}.")


def _of_label(cost: Mapping[Any, Any], label: Any) -> list[Any]:
    """The costs of a label, of which there should be one."""
    return [value for key, value in cost.items() if _is_meant(key, label)]


def _is_meant(key: Any, label: Any) -> bool:
    """Whether this is the label, which may be given as text, as in files and on command lines: 1.50 is 1.5."""
    return bool(key == label or _meaning(key) == _meaning(label))


def _meaning(label: Any) -> Any:
    with suppress(ValueError):
        return Fraction(str(label))
    return str(label)


def as_written(cost: Any) -> Fraction:
    """A cost as it is written: 0.1 is one tenth, and an integer of any length is itself."""
    value = cost.item() if isinstance(cost, np.generic) else cost
    if isinstance(value, Rational) or (isinstance(value, Decimal) and value.is_finite()):
        found = Fraction(value)
    elif isinstance(value, Real) and isfinite(value):
        found = Fraction(repr(float(value)))
    else:
        raise refused("cost", cost, "a finite number, 0 or more")
    if found < 0:
        raise refused("cost", cost, "a finite number, 0 or more")
    return found
