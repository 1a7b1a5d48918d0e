"""The verdicts: what linsep says about two classes, each with the numbers that prove it.

    Verdict                 what was read, and how
    ├── Separable           complete separation: integer weights with every row strictly on its side
    ├── Touching            quasi-complete separation: a weak separator, and an obstruction to a strict one
    ├── Overlapping         overlap: an obstruction, and a spread that rules out even a weak separator
    ├── NotSeparable        touching or overlapping: an obstruction; the time limit was reached before more was known
    └── Undecided           no proof either way, and the reason

A verdict is a frozen value. `verify(X, y)` re-checks it exactly from the data alone, `to_json()` writes the
proof (docs/certificate-format.md), and `python -m linsep.checker` checks a written proof on its own.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, final

from linsep.errors import CertificateError
from linsep.halfspace import Halfspace
from linsep.proofs import checks, margin_checks
from linsep.proofs.checked_rows import Rows
from linsep.proofs.obstructions import Obstruction, check_as_spread, check_obstruction, integers, require_fit
from linsep.proofs.verdict_base import Kind, Verdict
from linsep.signs import form_of, is_exact, scaled_floats


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HalfspaceVerdict(Verdict, ABC):
    """A verdict that comes with a hyperplane, its weights exact integers."""

    weights: tuple[int, ...]
    bias_weight: int = 0

    def __post_init__(self) -> None:
        Verdict.__post_init__(self)
        object.__setattr__(self, "weights", integers(self.weights, "weights"))
        object.__setattr__(self, "bias_weight", integers([self.bias_weight], "weights")[0])
        if len(self.weights) != self.n_columns:
            raise CertificateError(f"{len(self.weights)} weights for {self.n_columns} columns.")
        if self.bias_weight and not self.bias:
            raise CertificateError("Without bias, the bias weight is 0.")

    def _in_units_of(self, scales: tuple[int, ...]) -> Verdict:
        common = math.lcm(*scales)
        weights = tuple(w * (common // k) for w, k in zip(self.weights, scales, strict=True))
        return replace(self, weights=weights, bias_weight=self.bias_weight * common)

    @property
    def halfspace(self) -> Halfspace:
        """The hyperplane: the weights times a power of two as floats, or as 64-bit integers if only these hold them.

        Weights that fit neither are rounded to floats: rows that are nearer to the hyperplane than the rounding error
        may then be on its other side. Proofs use the integers, `weights` and `bias_weight`.
        """
        form = form_of(self.weights, self.bias_weight)
        if form.words is not None and not is_exact(form):
            return Halfspace(form.words[:-1], self.bias_weight, self.labels)
        floats, _ = scaled_floats(form.coefficients)
        return Halfspace(floats[:-1], float(floats[-1]), self.labels)

    def _own_facts(self) -> dict[str, Any]:
        halfspace = self.halfspace
        return {"halfspace": {"w": halfspace.w.tolist(), "b": halfspace.b}}


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Separable(HalfspaceVerdict):
    """Complete separation: `z·w > 0` for every row, w the integer weights.

    Attributes
    ----------
    weights, bias_weight : integers
        The hyperplane, exactly; `halfspace` is the same in floats.
    margin : (low, high)
        Every row is at least `low` from this hyperplane, and no hyperplane keeps all rows farther than `high`. Without
        `nearest`, high is infinity.
    nearest : Obstruction or None
        Proves `high`: rows with positive weights whose class means are at most 2·high apart (without bias: whose
        weighted signed mean is no longer than high).
    gamma_squared : Fraction or None
        The square of the margin, exactly, if it was affordable: this hyperplane has it, and `nearest` proves that none
        has more. It is checked with the rest, but not written to JSON.

    Examples
    --------
    >>> import linsep
    >>> verdict = linsep.max_margin([[0], [2]], ["no", "yes"])
    >>> verdict.kind, verdict.margin, verdict.halfspace.equation()
    ('separable', (1.0, 1.0), '0.5·x1 - 0.5 = 0')
    """

    kind: ClassVar[Kind] = "separable"
    separable: ClassVar[bool | None] = True

    margin: tuple[float, float] | None = None
    nearest: Obstruction | None = None
    gamma_squared: Fraction | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        HalfspaceVerdict.__post_init__(self)
        if self.margin is None:
            if self.nearest is not None or self.gamma_squared is not None:
                raise CertificateError("There is a nearest pair or an exact square, but no margin that it would prove.")
            return
        if self.numbers == "decimal":
            raise CertificateError("A margin is proved for binary64, not for exact decimals.")
        _check_interval(self.margin)
        if self.gamma_squared is not None and self.nearest is None:
            raise CertificateError("An exact margin needs the rows that prove it.")
        if (self.nearest is None) != math.isinf(self.margin[1]):
            raise CertificateError("An upper end of the margin needs the rows that prove it, or must be infinite.")
        if not any(self.weights):
            raise CertificateError("The weights are all zero: a margin needs a hyperplane.")

    def _own_facts(self) -> dict[str, Any]:
        from linsep.proofs import explain

        exact = explain.exact_margin(self)
        return {**HalfspaceVerdict._own_facts(self), **({"gamma_squared": exact} if exact else {})}

    def _in_units_of(self, scales: tuple[int, ...]) -> Verdict:
        if self.margin is not None:
            raise CertificateError("A margin is proved for doubles; these rows hold a number that is not a double.")
        return HalfspaceVerdict._in_units_of(self, scales)

    def _verify_claim(self, rows: Rows) -> None:
        checks.check_separator(rows, self.weights, self.bias_weight)
        if self.margin is not None:
            plane, near = (self.weights, self.bias_weight), self.nearest
            if near is not None and self.gamma_squared is not None:
                known = self.gamma_squared, self.margin
                margin_checks.check_exact_margin(rows, *plane, near.rows, near.weights, self.bias, *known)
                return
            margin_checks.check_margin_low(rows, *plane, self.margin[0])
            if near is not None:
                margin_checks.check_margin_high(rows, near.rows, near.weights, self.bias, self.margin[1])


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Touching(HalfspaceVerdict):
    """Quasi-complete separation: `z·w >= 0` for every row and `> 0` for some, and an obstruction to more.

    Attributes
    ----------
    weights, bias_weight : integers
        The weak separator, exactly.
    obstruction : Obstruction
        The rows that allow no strict separator.
    separated_rows : tuple of int or None
        The largest set of rows that a weak separator puts strictly on their side; None unless it was asked for.
    spread : Obstruction or None
        Proves `separated_rows`: the weights are positive on exactly these rows, the spread's combination is zero, and
        every other row is a linear combination of the spread's rows, so that every weak separator is 0 there.

    Examples
    --------
    >>> import linsep
    >>> verdict = linsep.decide([[0], [1], [1], [2]], [0, 0, 1, 1])
    >>> verdict.kind, verdict.separable, verdict.obstruction.rows
    ('touching', False, (1, 2))
    """

    kind: ClassVar[Kind] = "touching"
    separable: ClassVar[bool | None] = False

    obstruction: Obstruction
    separated_rows: tuple[int, ...] | None = None
    spread: Obstruction | None = None

    def __post_init__(self) -> None:
        HalfspaceVerdict.__post_init__(self)
        if (self.separated_rows is None) != (self.spread is None):
            raise CertificateError("The separated rows need the spread that proves them, and the spread needs them.")
        if self.separated_rows is not None:
            object.__setattr__(self, "separated_rows", integers(self.separated_rows, "row numbers"))
        require_fit(self.obstruction, self.spread, self.numbers)

    def _verify_claim(self, rows: Rows) -> None:
        named = self.separated_rows is not None
        strict = checks.check_weak_separator(rows, self.weights, self.bias_weight, named=named)
        if self.spread != self.obstruction:
            check_obstruction(self.obstruction, rows, self.bias)
        if self.separated_rows is not None and self.spread is not None:
            checks.check_same_rows(self.separated_rows, strict)
            check_as_spread(self.spread, rows, self.bias, exempt=strict)


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Overlapping(Verdict):
    """Overlap: not even a weak separator exists, except one that is 0 on every row.

    Attributes
    ----------
    obstruction : Obstruction
        A small combination that is zero, for people to read.
    spread : Obstruction
        A combination that is zero and whose rows span all rows: a weak separator is 0 on its rows, hence on all.

    Examples
    --------
    >>> import linsep
    >>> linsep.decide(*linsep.datasets.xor()).obstruction.shares
    (0.5, 0.5, 0.5, 0.5)
    """

    kind: ClassVar[Kind] = "overlapping"
    separable: ClassVar[bool | None] = False

    obstruction: Obstruction
    spread: Obstruction

    def __post_init__(self) -> None:
        Verdict.__post_init__(self)
        require_fit(self.obstruction, self.spread, self.numbers)

    def _verify_claim(self, rows: Rows) -> None:
        check_as_spread(self.spread, rows, self.bias)
        if self.spread != self.obstruction:
            check_obstruction(self.obstruction, rows, self.bias)


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NotSeparable(Verdict):
    """No hyperplane has every row strictly on its side, as the obstruction proves; a weak separator may exist.

    So the rows are touching or overlapping, and the time limit was reached before it was known which.

    Attributes
    ----------
    obstruction : Obstruction
        The rows that no hyperplane has strictly on their sides.
    reason : str
        Why it is not known which.

    Examples
    --------
    >>> import linsep
    >>> linsep.NotSeparable.kind, linsep.NotSeparable.separable
    ('not-separable', False)
    """

    kind: ClassVar[Kind] = "not-separable"
    separable: ClassVar[bool | None] = False

    obstruction: Obstruction
    reason: str

    def __post_init__(self) -> None:
        Verdict.__post_init__(self)
        require_fit(self.obstruction, None, self.numbers)

    def _verify_claim(self, rows: Rows) -> None:
        check_obstruction(self.obstruction, rows, self.bias)


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Undecided(Verdict):
    """No proof either way.

    Attributes
    ----------
    reason : str
        Why there is none.
    margin : (low, high)
        Bounds known so far; they are not proved by this value.

    Examples
    --------
    >>> import linsep
    >>> linsep.decide(*linsep.datasets.planted(3000, 30, margin=1e-3), time_limit=0).separable is None
    True
    """

    kind: ClassVar[Kind] = "undecided"
    separable: ClassVar[bool | None] = None

    reason: str
    margin: tuple[float, float] = (0.0, math.inf)

    def __post_init__(self) -> None:
        Verdict.__post_init__(self)
        _check_interval(self.margin)

    def _verify_claim(self, rows: Rows) -> None:
        """Nothing is claimed about the rows."""


Obstructed: TypeAlias = Touching | Overlapping | NotSeparable


def _check_interval(margin: tuple[float, float]) -> None:
    low, high = margin
    if not (0.0 <= low <= high and math.isfinite(low)):
        raise CertificateError(f"({low}, {high}) is not an interval of margins.")
