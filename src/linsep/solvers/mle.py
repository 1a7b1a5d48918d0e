"""Does the maximum likelihood estimate of a logistic regression exist, and if not, which coefficients diverge?

Theorem (Albert and Anderson 1984). With columns that are linearly independent, the estimate exists, and is then
unique, if and only if the classes overlap: no w other than 0 has z_i·w >= 0 for every signed row z_i.

Otherwise such w form a cone C: along each of them the likelihood never falls, and it has no maximum. Let F be the
rows that are 0 under every w in C. They overlap, and have an estimate of their own, unique up to span(C). So along
every sequence of coefficients whose likelihoods tend to the supremum, scores of rows in F converge, and z_i·w of all
other rows grows beyond every bound. What this says about coefficient j can be read from C alone:

    w_j = 0 on all of C             "finite": e_j is a linear combination of rows of F, and converges as they do
    w_j >= 0 on C, and not always 0 "+inf": by Farkas e_j is, up to rows of F, a combination of the other rows with
                                     weights u_i >= 0, not all 0, and grows as they do, along every such sequence
    w_j <= 0 on C, and not always 0 "-inf"
    both signs occur in C           "undetermined": for each of +inf, -inf and any number, some such sequence has w_j
                                     tend to it. Separation alone does not say; an algorithm may still prefer one.

One weak separator in the relative interior of C is known from deciding. If its w_j is 0, both signs occur, or none
does; if not, one question is left: has some w in C the other sign? Each question is an exact LP.

A. Albert and J. Anderson, On the existence of maximum likelihood estimates in logistic regression models (1984).
C. Geyer, Likelihood inference in exponential families and directions of recession (2009).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from linsep.certificates import Obstruction, Overlapping, Separable, Touching, Undecided, Verdict
from linsep.errors import ArgumentError
from linsep.exact import coprime, integer_rows, null_combination, original_weights, to_doubles
from linsep.proof_signs import form_of
from linsep.solvers.aliasing import INTERCEPT, Alias, find_aliases
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.exact_lp import ExactLP, Separator, Stopped
from linsep.solvers.exact_search import ExactSearch, Settled, violated
from linsep.solvers.frame import Frame
from linsep.solvers.minnorm import nearest_to_zero, shortest
from linsep.solvers.mle_report import INTERCEPT_NAME, Dependence, MleReport, State
from linsep.solvers.working_set import SUPPORT, Separated, Stuck, search
from linsep.sources.base import Block, Floats, Ints, Source
from linsep.sources.inputs import as_source
from linsep.sources.memory import MemorySource

FEW_ROWS, FEW_COLUMNS = 400, 18  # up to here the exact LP takes all rows at once
SAMPLE = 2  # rows per column that questions about the cone begin with

Weights = tuple[int, ...]  # of the columns in play, the bias last
Row = list[int]


def mle_exists(
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    bias: bool = True,
    time_limit: float | None = None,
) -> MleReport:
    """Say whether the maximum likelihood estimate of a logistic regression exists, and which coefficients diverge.

    `names` are the names of the columns; a dataframe brings its own. The intercept, added unless `bias=False`, is
    called "(Intercept)". The report's `coefficients` map each name to "finite", "+inf", "-inf", "undetermined" (the
    estimate diverges, but separation alone does not say how) or "aliased" (a combination of earlier columns). All of
    it is decided in exact arithmetic; past `time_limit` seconds what is not proved is "unknown".

    >>> import linsep
    >>> report = linsep.mle_exists([[0, 3], [0, 5], [0, 6], [1, 2], [1, 6]], [0, 1, 0, 1, 1], ["treated", "age"])
    >>> report.exists, report.coefficients
    (False, {'(Intercept)': 'finite', 'treated': '+inf', 'age': 'finite'})
    >>> report.separated_rows
    (3, 4)
    """
    if time_limit is not None and not time_limit >= 0:
        raise ArgumentError(f"time_limit is {time_limit}: it must be a number of seconds, or None.")
    source = as_source(X, y)
    regression = Regression(source, _names(source, names, bias), bias, Clock(time_limit))
    return regression.report()


def _names(source: Source, names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    """The names of the columns of the source, which must tell them apart."""
    chosen = [source.column_name(j) for j in range(source.n_columns)] if names is None else list(map(str, names))
    if len(chosen) != source.n_columns:
        raise ArgumentError(f"{len(chosen)} names for {source.n_columns} columns: give one for each.")
    if bias and INTERCEPT_NAME in chosen:
        raise ArgumentError(f"A column is called {INTERCEPT_NAME!r}: say bias=False, or give it another name.")
    repeated = [name for k, name in enumerate(chosen) if name in chosen[:k]]
    if repeated:
        raise ArgumentError(f"Two columns are called {repeated[0]!r}: each needs a name of its own.")
    return tuple(chosen)


@dataclass(frozen=True, slots=True)
class Regression:
    """The rows of a logistic regression, and the way from them to a report."""

    source: Source
    names: tuple[str, ...]
    bias: bool
    clock: Clock

    def report(self) -> MleReport:
        """The whole answer, every part of it proved or called unknown."""
        columns = [*([INTERCEPT] if self.bias else []), *range(self.source.n_columns)]
        states: dict[int, State] = dict.fromkeys(columns, "unknown")
        aliases: tuple[Alias, ...] = ()
        verdict: Verdict | None = None
        try:
            self._require_finite()
            aliases = find_aliases(self.source, bias=self.bias, clock=self.clock)
            states |= {alias.column: "aliased" for alias in aliases}
            kept = np.array([c for c in columns if c >= 0 and states[c] != "aliased"], np.int64)
            settled = self._settle(kept)
            verdict = self._verdict(settled)
            for column, state in self._states(settled, kept):
                states[column] = state
        except OutOfTime:
            verdict = verdict or self._undecided()
        return MleReport(
            verdict=verdict,
            states=tuple((self._name(c), state) for c, state in states.items()),
            dependences=tuple(self._dependence(alias) for alias in aliases),
        )

    def _require_finite(self) -> None:
        """One read of the rows that refuses NaN and infinity by name."""
        self.clock.reads += 1
        self.source.scan(np.zeros(self.source.n_columns), 0.0)

    def _settle(self, kept: Ints) -> Settled:
        """Separable, touching or overlapping; touching with the largest set of separated rows."""
        columns = kept if len(kept) + self.bias else np.arange(self.source.n_columns)  # all zero: nothing to drop
        exact = ExactSearch(self.source, columns, bias=self.bias, clock=self.clock)
        if self.source.n_rows <= FEW_ROWS and len(columns) <= FEW_COLUMNS:
            return exact.run(self.source.take(np.arange(self.source.n_rows)), maximal=True)
        found = search(self.source, columns, bias=self.bias, clock=self.clock)
        if isinstance(found, Separated):
            whole = _integers(np.append(found.w, found.b))
            return Settled("separable", tuple(whole[:-1]), whole[-1])
        hint = found.hint if isinstance(found, Stuck) else np.arange(len(found.rows))
        return exact.run(found.rows, hint.tolist(), maximal=True)

    def _verdict(self, settled: Settled) -> Verdict:
        """The verdict, checked against the data."""
        verdict = self._unchecked(settled)
        verdict.verify(self.source)
        return verdict

    def _unchecked(self, settled: Settled) -> Verdict:
        facts, weights = self._facts(), {"weights": settled.weights, "bias_weight": settled.bias_weight}
        if settled.obstruction is None:
            return Separable(**weights, **facts)
        first = Obstruction(settled.obstruction.rows, settled.obstruction.weights)
        if settled.spread is not None:
            spread = Obstruction(settled.spread.rows, settled.spread.weights)
            return Overlapping(obstruction=first, spread=spread, **facts)
        assert settled.contact is not None  # it comes with touching rows
        contact = Obstruction(settled.contact.rows, settled.contact.weights)
        strict = tuple(self._separated(settled).tolist())
        return Touching(**weights, obstruction=first, separated_rows=strict, spread=contact, **facts)

    def _separated(self, settled: Settled) -> Ints:
        """The rows strictly on their side of the weak separator."""
        on_it = violated(self.source, form_of(settled.weights, settled.bias_weight), 1)
        return np.setdiff1d(np.arange(self.source.n_rows), on_it)

    def _undecided(self) -> Verdict:
        reason = f"The time limit of {self.clock.limit:g} seconds was over before anything was proved."
        return Undecided(reason=reason, **self._facts())

    def _facts(self) -> dict[str, Any]:
        """What every verdict states about the data and the work."""
        return {
            "n_rows": self.source.n_rows,
            "n_columns": self.source.n_columns,
            "bias": self.bias,
            "labels": self.source.labels,
            "names": self.names,
            "reads": self.clock.reads,
            "seconds": self.clock.seconds,
        }

    def _states(self, settled: Settled, kept: Ints) -> list[tuple[int, State]]:
        places = [*kept.tolist(), *([INTERCEPT] if self.bias else [])]
        if settled.spread is not None:
            return [(column, "finite") for column in places]
        cone = self._cone(settled, kept)
        inside = cone.place_weights(settled)
        return list(zip(places, cone.states(inside), strict=True))

    def _cone(self, settled: Settled, kept: Ints) -> "Cone":
        frame = Frame(self.source.n_columns, kept, np.zeros(len(kept) + self.bias, np.int32), self.bias)
        if settled.contact is None:
            return Cone(self.source, frame, self.source.take([]), self.clock)
        rows = self.source.take(self._separated(settled))
        strict = MemorySource(rows.table, rows.y, self.source.n_columns)
        return Cone(strict, frame, self.source.take(settled.contact.rows), self.clock)

    def _name(self, column: int) -> str:
        return INTERCEPT_NAME if column == INTERCEPT else self.names[column]

    def _dependence(self, alias: Alias) -> Dependence:
        return Dependence(self._name(alias.column), tuple((self._name(c), factor) for c, factor in alias.terms))


class Cone:
    """The weak separators C of rows with linearly independent columns, in coordinates of span(C).

    span(C) are the w that are 0 on the rows `contact`. There C is {t : (z·B) t >= 0 for the strict rows z}, B a basis
    of span(C) as columns, and has an interior. So a linear form is positive somewhere on C if and only if the strict
    rows and that form together are separable, and the exact LP can say so.
    """

    def __init__(self, strict: Source, frame: Frame, contact: Block, clock: Clock) -> None:
        self.strict, self.frame, self.clock = strict, frame, clock
        first = strict.sample(SAMPLE * frame.width, seed=1)
        self.exponents = frame.integers(first + contact).column_exponents
        self.span = self._span(contact)
        self.rows: list[Row] = []
        self.floats = np.zeros((0, self.span.ncols()))
        self._add(first)

    def _span(self, contact: Block) -> fmpz_mat:
        """A basis of the w that are 0 on the contact rows, as columns, its integers made short."""
        identity = fmpz_mat([[int(i == j) for j in range(self.frame.width)] for i in range(self.frame.width)])
        if not len(contact):
            return identity
        basis, nullity = fmpz_mat(self.frame.integers(contact, self.exponents).rows.tolist()).nullspace()
        columns = [coprime(basis[i, k] for i in range(self.frame.width)) for k in range(nullity)]
        return fmpz_mat(columns).lll().transpose()

    def _add(self, rows: Block) -> None:
        """Look at more of the strict rows: as integers, for flint, and as floats."""
        integers = fmpz_mat(self.frame.integers(rows, self.exponents).rows.tolist())
        new = [list(coprime(row)) for row in (integers * self.span).tolist()]
        self.rows += new
        self.matrix = fmpz_mat(self.rows)
        self.floats = np.vstack([self.floats, [to_doubles(row) for row in new]])

    def place_weights(self, settled: Settled) -> Weights:
        """The weights of the columns in play, the bias last."""
        kept = [settled.weights[c] for c in self.frame.columns.tolist()]
        return tuple([*kept, settled.bias_weight] if self.frame.bias else kept)

    def states(self, inside: Weights) -> list[State]:
        """What C says about each coefficient, given one w in its relative interior.

        A linear form that is not 0 on all of C, but is 0 inside it, has both signs.
        """
        directions = [[int(n) for n in row] for row in self.span.tolist()]
        states = [_state(weight) if any(row) else "finite" for weight, row in zip(inside, directions, strict=True)]
        for j, row in enumerate(directions):
            if states[j] in ("+inf", "-inf"):
                other = self.member([-n if inside[j] > 0 else n for n in row])
                crossed = [] if other is None else [k for k, n in enumerate(other) if n * inside[k] < 0]
                for k in crossed:
                    states[k] = "undetermined"
        return states

    def member(self, form: Row) -> Weights | None:
        """Some w in C where the form (in the coordinates of span(C)) is positive; None if there is none."""
        while True:
            self.clock.check()
            t = self._separator(form)
            if t is None:
                return None  # rows that cancel with the form forbid it, whatever the other rows are
            scaled = (self.span * fmpz_mat([[n] for n in t])).entries()
            w = original_weights([int(n) for n in scaled], self.exponents)
            against = violated(self.strict, form_of(*self.frame.spread_out(w)), 0)
            self.clock.reads += 1
            if not len(against):
                return w
            self._add(self.strict.take(against[: 2 * self.frame.width + 10]))

    def _separator(self, form: Row) -> Row | None:
        """Integers t with form·t > 0 and z·t >= 0 for the rows so far; None, proved, if not all can be positive.

        Floats guess, integers confirm. What they cannot confirm is settled by the exact LP.
        """
        z, exponents = _levelled(np.vstack([to_doubles(form), self.floats]))
        support: list[int] = []
        for solve in (shortest, nearest_to_zero):
            answer = solve(z)
            t = _integers(_shifted(answer.w, exponents))
            if answer.is_solved and self._is_separator(t, form):
                return t
            support = np.flatnonzero(answer.multipliers > SUPPORT * answer.multipliers.max(initial=0.0)).tolist()
            if not answer.is_solved and _is_obstruction([self.rows[i - 1] if i else form for i in support]):
                return None
        return self._exact_separator(form, support)

    def _is_separator(self, t: Row, form: Row) -> bool:
        column = fmpz_mat([[n] for n in t])
        return (fmpz_mat([form]) * column)[0, 0] > 0 and min((self.matrix * column).entries()) >= 0

    def _exact_separator(self, form: Row, hint: list[int]) -> Row | None:
        """The same by the exact LP, started from rows that floats think matter."""
        lp = ExactLP(len(form), should_stop=self.clock.is_over)
        lp.add([form, *self.rows])
        try:
            found = lp.solve(hint)
        except Stopped:
            raise OutOfTime from None
        return list(found.weights) if isinstance(found, Separator) else None


def _levelled(z: Floats) -> tuple[Floats, npt.NDArray[np.int32]]:
    """The rows with rows and columns multiplied by powers of two, and the exponents of the columns."""
    exponents = -np.frexp(np.abs(z).max(axis=0))[1]
    z = np.ldexp(z, exponents)
    return np.ldexp(z, -np.frexp(np.abs(z).max(axis=1))[1][:, None]), exponents


def _shifted(w: Floats, exponents: npt.NDArray[np.int32]) -> Floats:
    """w·2^exponents, times one more power of two: no more than 1, so that nothing overflows."""
    highest = (np.frexp(w)[1] + exponents).max(initial=-(2**20), where=w != 0)
    return np.asarray(np.ldexp(w, exponents - highest))


def _integers(floats: Floats) -> Row:
    """The same numbers times a power of two."""
    return list(coprime(integer_rows(floats[None], column_exponents=np.zeros(floats.size, np.int64)).rows[0]))


def _is_obstruction(rows: list[Row]) -> bool:
    """Whether these rows, and no fewer, have positive multiples that cancel."""
    weights = null_combination(rows) if 0 < len(rows) <= len(rows[0]) + 1 else None
    return weights is not None and min(weights) > 0


def _state(weight: int) -> State:
    return "undetermined" if not weight else "+inf" if weight > 0 else "-inf"
