"""The operations of a walk on one row, for any layout: `dense.py` and `csr.py` implement them with `@verb`.

`scans.py` is written once, with these names; Numba picks the implementation by the type of the table.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

from numba.extending import overload

Answer: TypeAlias = Callable[..., Any]

# Sums may be regrouped and fused (that is what makes them fast); NaN and infinity keep their meaning,
# because the walks find them by looking at the score.
FAST = {"fastmath": {"reassoc", "contract", "nsz"}}


def dot(table: Any, i: Any, w: Any) -> Any:
    """The product x_i·w, in the number type of w."""
    raise NotImplementedError


def add(table: Any, i: Any, factor: Any, w: Any) -> Any:
    """The update w += factor·x_i."""
    raise NotImplementedError


def norm2(table: Any, i: Any) -> Any:
    """The squared length |x_i|²."""
    raise NotImplementedError


def norm2_spread(table: Any, i: Any, spread: Any) -> Any:
    """The same with each squared entry times the spread of its column."""
    raise NotImplementedError


def add_spread(table: Any, i: Any, factor: Any, spread: Any, w: Any) -> Any:
    """The update w += factor·x_i with each entry times the spread of its column."""
    raise NotImplementedError


def shrink(table: Any, i: Any, by: Any, spread: Any) -> Any:
    """The spread s of each column of x_i falls by `by`·(s·x)²."""
    raise NotImplementedError


def reach(table: Any, i: Any, w: Any) -> Any:
    """The sum of |x_ij·w_j|, which measures the rounding error of the score."""
    raise NotImplementedError


def stirred(table: Any, i: Any, multipliers: Any, sign: Any) -> Any:
    """A hash of sign·x_i: its entries, stirred, times the multipliers of their columns, modulo 2^64."""
    raise NotImplementedError


def right_ahead(table: Any, y: Any, i: Any, w: Any, b: Any, near: Any) -> Any:
    """How many of the four rows from i on come before the first without y·score > near: of dense rows of floats."""
    raise NotImplementedError


def follow(table: Any, i: Any) -> Any:
    """Prefetch what comes some way after row i, in a walk in row order."""
    raise NotImplementedError


def fetch(table: Any, i: Any, later: Any) -> Any:
    """Prefetch row i, in an order that the hardware cannot predict, and the place of row `later`."""
    raise NotImplementedError


def lead(table: Any) -> Any:
    """How many rows before its turn a row is prefetched: as many as the memory can have in transit."""
    raise NotImplementedError


def verb(asked: Answer, kind: type, **options: Any) -> Callable[[Answer], Answer]:
    """Register the implementation of one of these for a layout with Numba; `options` are those of the compiler."""

    def teach(answer: Answer) -> Answer:
        @overload(asked, jit_options=options)
        @wraps(answer)  # Numba compares the signatures
        def chosen(table: Any, *_: Any) -> Answer | None:
            return answer if is_kind(table, kind) else None

        return answer

    return teach


def is_kind(table: Any, kind: type) -> bool:
    """Whether a Numba type stands for this named tuple."""
    return getattr(table, "instance_class", None) is kind
