"""The margin as an exact number: from the rows that matter to gamma² as a fraction.

Given the support of the widest hyperplane, its multipliers u and bias b solve a linear system with the rows' exact
inner products: every support row has y·(w·x + b) = 1, where w = Σ u y x, and Σ u y = 0. Then |w|² = Σ u, and
gamma² = 1/|w|². If floats named the right rows, all u are positive and no other row is nearer, which a check tells.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from linsep.exact import coprime, integer_rows, solve
from linsep.sources.base import Block


@dataclass(frozen=True, slots=True)
class ExactWidest:
    """Integer weights and bias of the widest hyperplane, integer multipliers of the rows, and gamma²."""

    weights: tuple[int, ...]
    bias_weight: int
    multipliers: tuple[int, ...]
    gamma_squared: Fraction


def exact_widest(support: Block) -> ExactWidest | None:
    """Solve for these support rows exactly; None if they are not the support after all."""
    table, power = _common_integers(support)
    signs = support.y.tolist()
    signed = fmpz_mat([[y * x for x in row] for row, y in zip(table, signs, strict=True)])
    gram = (signed * signed.transpose()).tolist()
    system = [[*line, y] for line, y in zip(gram, signs, strict=True)] + [[*signs, 0]]
    try:
        found, common = solve(fmpz_mat(system), fmpz_mat([[1]] * len(signs) + [[0]]))
    except ZeroDivisionError:  # more rows than are needed: the multipliers are not unique
        return None
    *multipliers, bias = (int(n) for n in found.entries())
    if min(multipliers) <= 0:
        return None
    weights = [int(n) for n in (fmpz_mat([multipliers]) * signed).entries()]
    # In units of the rows as given: w·x + b with w = weights·2^power and b = bias, both over `common`.
    scale = max(0, -power)
    whole = coprime([*(w << max(0, power) for w in weights), bias << scale])
    gamma_squared = Fraction(common, sum(multipliers)) / Fraction(4) ** power
    return ExactWidest(whole[:-1], whole[-1], coprime(multipliers), gamma_squared)


def _common_integers(support: Block) -> tuple[list[list[int]], int]:
    """The rows times one power of two, 2^power, as integers: the metric stays what it is."""
    values = support.values if isinstance(support.values, np.ndarray) else support.values.toarray()
    found = integer_rows(values)
    exponents = found.row_exponents[:, None] + found.column_exponents[None, :]
    power = int(exponents[found.rows != 0].max(initial=0)) if found.rows.any() else 0
    rows = [
        [int(n) << (power - e) if n else 0 for n, e in zip(row, line, strict=True)]
        for row, line in zip(found.rows.tolist(), exponents.tolist(), strict=True)
    ]
    return rows, power
