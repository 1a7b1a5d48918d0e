"""The verdicts: what linsep says about two classes, each with the numbers that prove it.

    Verdict                 what was read, and how
    ├── Separable           complete separation: integer weights with every row strictly on its side
    ├── Touching            quasi-complete separation: a weak separator, and an obstruction to a strict one
    ├── Overlapping         overlap: an obstruction, and a spread that forbids even a weak separator
    ├── NotSeparable        touching or overlapping: an obstruction, and the time was over before it was known which
    └── Undecided           no proof either way, and the reason

A verdict is a frozen value. `verify(X, y)` re-checks it exactly from the data alone, `to_json()` writes the
proof (docs/certificate-format.md), and `python -m linsep.checker` checks what is written on its own.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any, ClassVar, Literal, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt

from linsep.errors import CertificateError, shown
from linsep.halfspace import Halfspace
from linsep.proofs import checks, margin_checks
from linsep.proofs.checked_rows import (
    Label,
    MemoryRows,
    Rows,
    allows_exact_integers,
    can_scan,
    from_data,
    is_decimal,
    names_of,
    needs_exact_integers,
    rows_of,
    scales_of,
)
from linsep.proofs.named_rows import labels_of_rows, shown_rows, table_and_ids
from linsep.proofs.obstructions import (
    Obstruction,
    check_as_spread,
    check_obstruction,
    integers,
    plain,
    require_fit,
)
from linsep.report import Report, Reported, RowNames, Where, one_line
from linsep.signs import form_of, is_exact, scaled_floats
from linsep.tables.row_ids import RowIds

Kind: TypeAlias = Literal["separable", "touching", "overlapping", "not-separable", "undecided", "mistakes"]
Numbers: TypeAlias = Literal["binary64", "exact-integers", "decimal"]
Floats: TypeAlias = npt.NDArray[np.float64]
Signs: TypeAlias = npt.NDArray[np.int8]
NUMBERS: tuple[Numbers, ...] = ("binary64", "exact-integers", "decimal")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verdict(Reported, ABC):
    """What every verdict states: the table it is about and the work it took.

    `labels` are (negative, positive) as the user wrote them; `names` the columns' names, if they have any.
    `numbers` says how numbers were read: "binary64", "exact-integers" where integers beyond 2^53 were kept exact, or
    "decimal" where 0.1 is one tenth.
    `reads` counts scans of the whole data, `rows_left_out` the rows of files that were rejected.
    `sample` is a few rows and their signs, for the picture in a notebook, and `row_names` what the user calls the rows
    that are named: no part of the proof.
    """

    kind: ClassVar[Kind]
    separable: ClassVar[bool | None]

    n_rows: int
    n_columns: int
    bias: bool = True
    labels: tuple[Label, Label] = (-1, 1)
    names: tuple[str, ...] | None = None
    label_column: str | None = None
    numbers: Numbers = "binary64"
    rows_left_out: int = 0
    reads: int = 0
    seconds: float = 0.0
    sample: tuple[Floats, Signs] | None = field(default=None, compare=False)
    row_names: RowNames | None = field(default=None, compare=False)
    dropped: int = field(default=0, compare=False)  # rows with gaps of a table in memory, which row numbers count

    def __post_init__(self) -> None:
        negative, positive = map(plain, self.labels)
        object.__setattr__(self, "labels", (negative, positive))
        if "" in self.labels:
            raise CertificateError("A label is missing.")
        if any(isinstance(label, float) and not math.isfinite(label) for label in self.labels):
            raise CertificateError("A label is not a finite number.")
        if negative == positive:
            raise CertificateError(f"The two labels are the same: {shown(negative)}.")
        if min(self.n_rows, self.n_columns, self.rows_left_out, self.reads) < 0:
            raise CertificateError("Counts are not negative.")
        if self.names is not None and len(self.names) != self.n_columns:
            raise CertificateError(f"{len(self.names)} names for {self.n_columns} columns.")
        if self.numbers not in NUMBERS:
            raise CertificateError(f"Numbers are read as one of {NUMBERS}, not {self.numbers!r}.")

    def verify(self, X: Any, y: Any = None, *, ids: Any = None) -> None:
        """Check the proof against the data in exact arithmetic. Undecided claims nothing.

        A source of files is read from the files themselves, never from a cache.

        Parameters
        ----------
        X : the rows
            An array, a sparse matrix, a dataframe, or a source that knows its labels. Columns that have names must have
            the proof's, in its order, if it has any.
        y : their labels
            The proof's two, of the same type (1 and 1.0 are the same, 1, True and "1" are not). None for a source.
        ids : the name of the column of ids, or None
            It is left out. That of the verdict is known, and so is a text column that is none of the proof's.

        Raises
        ------
        CertificateError
            The proof does not hold; the message names the row.
        NotFiniteError
            A row holds NaN or infinity.

        Examples
        --------
        >>> import linsep
        >>> X, y = linsep.datasets.xor()
        >>> linsep.decide(X, y).verify(X, y)
        """
        self._verified(table_and_ids(X, y, ids, self.row_names, self.names)[0], y)

    def _verified(self, X: Any, y: Any = None) -> Rows:
        """The rows of the data, once the proof has been checked against them."""
        rows = self._rows_of(from_data(X), y)
        check(self, rows)
        checks.check_finite(rows)
        return rows

    def _rows_of(self, X: Any, y: Any) -> Rows:
        """The rows of the data, read as those of the verdict were."""
        return rows_of(X, y, self.labels, self.names, self.rows_left_out)

    def _verify_reading(self, rows: Rows) -> None:
        """Check what the verdict says about how the rows were read."""
        if is_decimal(rows) not in (None, self.numbers == "decimal"):
            how = "exact decimals" if is_decimal(rows) else "binary64"
            raise CertificateError(f"The proof reads numbers as {self.numbers}; these rows were read as {how}.")
        if self.numbers == "exact-integers" and not allows_exact_integers(rows):
            raise CertificateError("The proof reads numbers as exact-integers; no integer of the rows is beyond 2^53.")
        if self.numbers == "binary64" and needs_exact_integers(rows):
            held = "an integer beyond 2^53 or a number that no double is"
            raise CertificateError(f"The proof reads numbers as binary64; these rows hold {held}.")
        if can_scan(rows) and rows.facts.rows_left_out != self.rows_left_out:
            left_out = f"{rows.facts.rows_left_out:,} rows of the source were left out"
            raise CertificateError(f"{left_out}; the proof says {self.rows_left_out:,}.")

    def _in_units_of(self, scales: tuple[int, ...]) -> Verdict:
        """The same verdict about columns that are the user's times whole numbers."""
        return self

    @abstractmethod
    def _verify_claim(self, rows: Rows) -> None:
        """Check what this kind of verdict says about the rows."""

    def _combinations(self) -> dict[str, Obstruction]:
        """The rows with weights that people are shown, by the names of their fields."""
        fields = {name: getattr(self, name, None) for name in ("obstruction", "nearest")}
        return {name: found for name, found in fields.items() if found is not None}

    def named_rows(self) -> Iterable[int]:
        """The numbers of the rows that people are shown."""
        lists = (getattr(self, name, None) or () for name in ("separated_rows", "mistaken_rows"))
        return chain(*lists, *(found.rows for found in self._combinations().values()))

    def called(self, ids: RowIds | None) -> Self:
        """The same verdict, with what the user calls the rows that it names."""
        return self if ids is None else self.with_names(ids.names(self.named_rows()))

    def with_names(self, names: RowNames | None) -> Self:
        """The same verdict, whose rows are called so."""
        parts: dict[str, Any] = {name: replace(found, row_names=names) for name, found in self._combinations().items()}
        return replace(self, row_names=names, **parts)

    def frame(self, X: Any, y: Any = None) -> Any:
        """Pick the rows that matter as a dataframe: those of an obstruction, or nearest to a margin.

        Parameters
        ----------
        X : the table that was decided about
            Or another with the same rows, say with more columns.
        y : their labels, or None
            Needed for a proof that was read from a file, which does not hold the labels.

        Returns
        -------
        dataframe
            Of the library of X: pandas, polars and Arrow stay what they are (a pandas index too); rows of an array or
            of files become a pandas frame. New columns are `row`, the number of the row, `label`, and `share`, its part
            of the weight of its class.

        Raises
        ------
        InputError
            X has other rows.

        Examples
        --------
        >>> import linsep
        >>> import pandas as pd
        >>> X = pd.DataFrame({"height": [0, 2, 1]}, index=["ann", "bob", "cy"])
        >>> linsep.decide(X, ["a", "a", "b"]).frame(X)
             height  row label  share
        ann       0    0     a    0.5
        bob       2    1     a    0.5
        cy        1    2     b    1.0
        """
        found = next(iter(self._combinations().values()), None)
        rows = () if found is None else found.rows
        told: dict[str, Sequence[Any]] = {"label": (), "share": ()}
        if found is not None:
            classes = found.classes or labels_of_rows(X, y, rows, self._length_of(X, y))
            told = {"label": classes, "share": replace(found, classes=tuple(classes)).shares or ()}
        return shown_rows(X, rows, told, self._length_of(X, y), self.row_names)

    def _length_of(self, X: Any, y: Any) -> int:
        """How many rows the table has that the verdict is about, those that were left out counted if numbers do."""
        if self.rows_left_out > self.dropped and not can_scan(X) and y is not None:  # from a file: the data say it
            rows = self._verified(table_and_ids(X, y, None, self.row_names, self.names)[0], y)
            return self.n_rows + self.rows_left_out * (isinstance(rows, MemoryRows) and rows.kept is not None)
        return self.n_rows + self.dropped

    def to_json(self) -> str:
        """The written proof: versioned JSON, made of the fields alone (of which `seconds` differ from run to run)."""
        from linsep.proofs.proof_json import verdict_to_json

        return verdict_to_json(self)

    def explain(
        self,
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[str] | None = None,
        exact: bool = False,
        ids: Any = None,
    ) -> str:
        """Say the verdict in plain words.

        Parameters
        ----------
        X, y, ids : the data, or None
            With them an obstruction comes with its common point. They are checked first, as `verify` does.
        names : sequence of str or None
            What columns are called that have no names.
        exact : bool
            The rows of an obstruction come with their shares of their class, and with `exact` with their exact integer
            weights too, which `obstruction.weights` holds.

        Returns
        -------
        str
            Some lines.

        Raises
        ------
        CertificateError
            The data are not those of the verdict.

        Examples
        --------
        >>> import linsep
        >>> print(linsep.decide([[0], [1]], ["no", "yes"]).explain(names=["dose"]).splitlines()[0])
        separable (complete separation), 2 rows.
        """
        return self.report(X, y, names=names, exact=exact, ids=ids).text()

    def report(
        self,
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[str] | None = None,
        where: Where | None = None,
        exact: bool = False,
        verify: bool = True,
        ids: Any = None,
    ) -> Report:
        """What `explain` says, as a value: a title and parts, to be rendered as text, for a terminal, HTML or JSON.

        `where` gives more columns about some rows, such as their lines in a file. With verify=False the data are taken
        for those of the verdict without a check, which reads them once more: for who has just decided about them.
        """
        rows, verdict = None, self
        if X is not None:  # words about data must be true of that data
            table, row_ids = table_and_ids(X, y, ids, self.row_names, self.names)
            rows = self._verified(table, y) if verify else self._rows_of(table, y)
            verdict = self.called(row_ids) if self.row_names is None else self
        return verdict._report(rows, names, where, exact=exact)

    def _report(self, rows: Rows | None, names: Sequence[str] | None, where: Where | None, *, exact: bool) -> Report:
        """The same with the names of its rows, and the rows of the data where they are known."""
        from linsep.proofs import explain

        return explain.report_of(self, rows, names, where, exact=exact)

    @property
    def title(self) -> str:
        """The kind in the words of both geometers and statisticians, such as "separable (complete separation)"."""
        from linsep.proofs import explain

        return explain.TITLES[self.kind]

    def facts(self) -> dict[str, Any]:
        """The verdict as plain values: the fields of the written proof, and what scripts ask for first."""
        proof = json.loads(self.to_json())
        stated = {name: proof[name] for name in proof if name not in ("format", "version", "kind", "effort", "sha256")}
        if "definite" in stated:
            short = stated.pop("definite")
            rows = [str(row) for row in accumulate(map(int, short.pop("steps").split()))]
            stated["obstruction"] = {**short, "rows": rows, "weights": short["weights"].split()}
        found = {"kind": self.kind, "separable": self.separable, **stated, **self._own_facts()}
        named = {} if self.row_names is None else self.row_names.facts()
        return {**found, **named, "reads": self.reads, "seconds": self.seconds}

    def _own_facts(self) -> dict[str, Any]:
        """What this kind of verdict knows beside its proof."""
        return {}

    def __repr__(self) -> str:
        from linsep.proofs import explain

        return one_line(self, *explain.details(self))


def check(verdict: Verdict, X: Any) -> None:
    """Check a proof against rows as they are read, from a cache too: what a run does with its own verdict."""
    rows = rows_of(X, None, verdict.labels)
    checks.check_shape(rows, verdict.n_rows, verdict.n_columns, verdict.names)
    checks.check_names(verdict.names, names_of(rows))
    verdict._verify_reading(rows)
    scales = scales_of(rows)
    (verdict if scales is None else verdict._in_units_of(scales))._verify_claim(rows)


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
        """The hyperplane: the weights times a power of two in floats, or as integers where only 64 bits hold them.

        Weights that neither holds are rounded to floats: rows nearer to the hyperplane than that may then be on its
        other side. Proofs use the integers, `weights` and `bias_weight`.
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
        The square of the margin, exactly, where it was affordable: that of this hyperplane, and that which `nearest`
        proves. It is checked with the rest, but not written down.

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
                raise CertificateError("A nearest pair or an exact square proves a margin; the margin is missing.")
            return
        if self.numbers == "decimal":
            raise CertificateError("A margin is proved for binary64, not for exact decimals.")
        _check_interval(self.margin)
        if self.gamma_squared is not None and self.nearest is None:
            raise CertificateError("An exact margin comes with the rows that prove it.")
        if (self.nearest is None) != math.isinf(self.margin[1]):
            raise CertificateError("An upper end of the margin comes with the rows that prove it, or is infinite.")
        if not any(self.weights):
            raise CertificateError("The weights are all zero: a margin needs a hyperplane.")

    def _own_facts(self) -> dict[str, Any]:
        from linsep.proofs import explain

        exact = explain.exact_margin(self)
        return {**HalfspaceVerdict._own_facts(self), **({"gamma_squared": exact} if exact else {})}

    def _in_units_of(self, scales: tuple[int, ...]) -> Verdict:
        if self.margin is not None:
            raise CertificateError("A margin is proved for doubles; these rows hold a number that no double is.")
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
        The rows that allow no better.
    separated_rows : tuple of int or None
        The largest set of rows that a weak separator puts strictly on their side, if asked for.
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
            raise CertificateError("The separated rows come with the spread that proves them.")
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
        A small combination that is zero, for a reader to hold.
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
    """No hyperplane has every row strictly on its side, as the obstruction proves. Whether weakly is open.

    So the rows are touching or overlapping, and the time was over before it was known which.

    Attributes
    ----------
    obstruction : Obstruction
        The rows that forbid a hyperplane.
    reason : str
        Why it is open.

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
        """Nothing is claimed but that there are such rows."""


Obstructed: TypeAlias = Touching | Overlapping | NotSeparable


def _check_interval(margin: tuple[float, float]) -> None:
    low, high = margin
    if not (0.0 <= low <= high and math.isfinite(low)):
        raise CertificateError(f"({low}, {high}) is not an interval of margins.")
