"""The cone C of weak separators, and which signs a coordinate takes in it. All exact.

C = {w : z_i·w >= 0 for every row}. Some rows are 0 under every w in C; all others, the strict rows, are positive under
one common w. So C lies in the linear space of the w that are 0 on the former, and there it has an interior:

    a linear form is positive somewhere on C  <=>  the strict rows and the form, on that space, are separable

because a w with a positive form may be moved a little towards the interior. If they are not, then by Gordan's theorem
a few rows and the form cancel each other. Either answer is proved in integers: by a w that is checked on every row, or
by the rows that cancel, which further rows cannot change.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from linsep.exact import (
    coprime,
    independent_rows,
    integer_rows,
    lengths,
    null_combination,
    nullspace,
    original_weights,
    seconds_to_solve,
    to_doubles,
)
from linsep.signs import form_of
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact.exact_lp import ExactLP
from linsep.solvers.exact.exact_outcomes import Stopped
from linsep.solvers.exact.exact_search import violated
from linsep.solvers.min_norm import Shortest, nearest_to_zero, shortest
from linsep.solvers.scaling import Frame
from linsep.solvers.working_set import SUPPORT
from linsep.sources.base import Block, Floats, Source

Signs: TypeAlias = Literal["finite", "+inf", "-inf", "undetermined", "unknown"]
Weights: TypeAlias = tuple[int, ...]  # of the columns in use, the bias last
Row: TypeAlias = list[int]

SAMPLE = 2  # rows per column that the questions begin with
SHORT = 64  # bits of the coordinates of a row in a basis that is good enough
TOO_LONG = 300.0  # estimated seconds, which rows that are simple combinations of others take a small part of


class Cone:
    """The weak separators of rows whose columns are linearly independent.

    `contact` holds rows that span those that are 0 under every weak separator, `strict` all other rows. `span` is a
    basis of the space that C lies in, as columns: w = span·t. Forms and the rows used so far are in terms of t. `last`
    are the rows that mattered in the last question.
    """

    def __init__(self, strict: Source, frame: Frame, contact: Block, clock: Clock) -> None:
        self.strict, self.frame, self.clock = strict, frame, clock
        first = strict.sample(SAMPLE * frame.width, seed=1)
        self.exponents = frame.integers(first + contact).column_exponents
        self.span = self._span(first, contact)
        self.rows: list[Row] = []
        self.parts: list[fmpz_mat] = []
        self.last = np.zeros(0, np.int64)
        self.floats = np.zeros((0, self.span.ncols()))
        self._add(first)

    def _span(self, first: Block, contact: Block) -> fmpz_mat:
        """A basis of the w that are 0 on the contact rows, as columns; in it, rows have short integers."""
        identity = fmpz_mat([[int(i == j) for j in range(self.frame.width)] for i in range(self.frame.width)])
        if not len(contact):
            return identity
        basis, nullity = nullspace(fmpz_mat(self.frame.integers(contact, self.exponents).rows.tolist()))
        columns = fmpz_mat([coprime(basis[i, k] for i in range(self.frame.width)) for k in range(nullity)])
        rows = fmpz_mat(self.frame.integers(first, self.exponents).rows.tolist()) * columns.transpose()
        if lengths(rows)[0] <= SHORT:
            return columns.transpose()
        return _of_scores(columns, rows) or columns.lll().transpose()

    def _add(self, rows: Block) -> None:
        """Add more of the strict rows: as integers, for flint, and as floats."""
        integers = fmpz_mat(self.frame.integers(rows, self.exponents).rows.tolist())
        new = [list(coprime(row)) for row in (integers * self.span).tolist()]
        self.rows += new
        self.parts.append(fmpz_mat(new))
        self.floats = np.vstack([self.floats, [to_doubles(row) for row in new]])

    def signs(self, inside: Weights, asked: Iterable[int]) -> list[Signs]:
        """For each coefficient j, the signs that w_j takes on C; `inside` is positive on all strict rows.

        For coefficients that are not in `asked` the answer may be wrong. Those for which there was no time are unknown.

        Where w_j is 0 inside but not everywhere on C, both signs occur. Where it is positive inside, one question is
        left: is it negative elsewhere?
        """
        directions = [[int(n) for n in row] for row in self.span.tolist()]
        states = [_state(weight) if any(row) else "finite" for weight, row in zip(inside, directions, strict=True)]
        open_ones = [j for j in asked if states[j] in ("+inf", "-inf")]
        try:
            while open_ones:
                j = open_ones.pop(0)
                other = self.member([-n if inside[j] > 0 else n for n in directions[j]])
                crossed = [] if other is None else [k for k, n in enumerate(other) if n * inside[k] < 0]
                for k in crossed:
                    states[k] = "undetermined"
                open_ones = [k for k in open_ones if k not in crossed]
        except OutOfTime:
            for k in (j, *open_ones):
                states[k] = "unknown"
        return states

    def member(self, form: Row) -> Weights | None:
        """Some w in C where the form (in the coordinates of span(C)) is positive; None if there is none."""
        while True:
            self.clock.check()
            t = self._separator(form)
            if t is None:
                return None  # rows that cancel with the form rule it out, whatever the other rows are
            scaled = (self.span * fmpz_mat([[n] for n in t])).entries()
            w = original_weights([int(n) for n in scaled], self.exponents)
            against = violated(self.strict, form_of(*self.frame.spread_out(w)), 0)
            self.clock.reads += 1
            if not len(against):
                return w
            self._add(self.strict.take(against[: 2 * self.frame.width + 10]))

    def _separator(self, form: Row) -> Row | None:
        """Integers t with form·t > 0 and z·t >= 0 for the rows so far; None if it is proved that there are none.

        Floats guess, integers confirm. Guesses that they cannot confirm are settled by the exact LP.
        """
        z, exponents = _levelled(np.vstack([to_doubles(form), self.floats]))
        support: list[int] = []
        for solve in (self._from_the_last, nearest_to_zero):
            answer = solve(z)
            t = whole(_shifted(answer.w, exponents))
            if answer.is_solved and self._is_separator(t, form):
                return t
            support = np.flatnonzero(answer.multipliers > SUPPORT * answer.multipliers.max(initial=0.0)).tolist()
            if not answer.is_solved and _is_obstruction([self.rows[i - 1] if i else form for i in support]):
                return None
        return self._exact_separator(form, support)

    def _from_the_last(self, z: Floats) -> Shortest:
        """The shortest vector, started from the rows that mattered in the last question, which was similar."""
        start = np.zeros(len(z), np.bool_)
        start[self.last] = True
        answer = shortest(z, start, clock=self.clock)
        self.last = np.flatnonzero(answer.multipliers[1:]) + 1
        return answer

    def _is_separator(self, t: Row, form: Row) -> bool:
        column = fmpz_mat([[n] for n in t])
        if (fmpz_mat([form]) * column)[0, 0] <= 0:
            return False
        return all(min((part * column).entries()) >= 0 for part in self.parts)

    def _exact_separator(self, form: Row, hint: list[int]) -> Row | None:
        """The same by the exact LP, started from rows that seem to matter in floats."""
        lp = ExactLP(len(form), should_stop=self.clock.is_over)
        lp.add([form, *self.rows])
        try:
            found = lp.solve(hint)
        except Stopped:
            raise OutOfTime from None
        return list(found) if isinstance(found, tuple) else None


def _of_scores(columns: fmpz_mat, rows: fmpz_mat) -> fmpz_mat | None:
    """The basis in which coordinates are the scores of some of the rows, if the other rows are short in it.

    A table of categories has few distinct rows, or rows that are simple combinations of others, however many digits its
    columns have: contrasts such as orthogonal polynomials are a change of basis, which this one undoes. None if these
    rows do not determine w, or are about as long in this basis as they were, or if finding out would take too long.
    """
    chosen = independent_rows([[int(n) for n in row] for row in rows.tolist()])
    if len(chosen) < rows.ncols():
        return None
    scores = fmpz_mat([rows.tolist()[i] for i in chosen]).transpose()
    if seconds_to_solve(scores.nrows(), *lengths(scores), rows.nrows()) > TOO_LONG:
        return None
    combinations, common = scores.solve(rows.transpose()).numer_denom()
    if max(lengths(combinations)[0], int(common).bit_length()) > SHORT:
        return None
    made, _ = scores.solve(columns).numer_denom()
    return made.transpose()


def _levelled(z: Floats) -> tuple[Floats, npt.NDArray[np.int32]]:
    """The table with rows and columns multiplied by powers of two, and the exponents of the columns."""
    exponents = -np.frexp(np.abs(z).max(axis=0))[1]
    z = np.ldexp(z, exponents)
    return np.ldexp(z, -np.frexp(np.abs(z).max(axis=1))[1][:, None]), exponents


def _shifted(w: Floats, exponents: npt.NDArray[np.int32]) -> Floats:
    """w·2^exponents, times one more power of two: no more than 1, so that nothing overflows."""
    highest = (np.frexp(w)[1] + exponents).max(initial=-(2**20), where=w != 0)
    return np.asarray(np.ldexp(w, exponents - highest))


def whole(floats: Floats) -> Row:
    """The same numbers times a power of two, as coprime integers."""
    return list(coprime(integer_rows(floats[None], column_exponents=np.zeros(floats.size, np.int64)).rows[0]))


def _is_obstruction(rows: list[Row]) -> bool:
    """Whether these rows, and no proper subset, have positive multiples that cancel."""
    weights = null_combination(rows) if 0 < len(rows) <= len(rows[0]) + 1 else None
    return weights is not None and min(weights) > 0


def _state(weight: int) -> Signs:
    return "undetermined" if not weight else "+inf" if weight > 0 else "-inf"
