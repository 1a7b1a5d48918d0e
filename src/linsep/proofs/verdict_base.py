"""What all verdicts share: the table, how they are checked, written and explained, and what their rows are called."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from linsep.errors import CertificateError, shown
from linsep.proofs import checks
from linsep.proofs.checked_rows import (
    Label,
    MemoryRows,
    Rows,
    can_scan,
    check_reading,
    from_data,
    names_of,
    rows_of,
    scales_of,
)
from linsep.proofs.named_rows import labels_of_rows, shown_rows, table_and_ids
from linsep.proofs.obstructions import Obstruction, plain
from linsep.report import Report, Reported, RowNames, Where, one_line
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
    that are named. Neither is part of the proof.
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
    dropped: int = field(default=0, compare=False)  # rows with gaps in a table in memory; the row numbers count them

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
            raise CertificateError("Counts must not be negative.")
        if self.names is not None and len(self.names) != self.n_columns:
            raise CertificateError(f"{len(self.names)} names for {self.n_columns} columns.")
        if self.numbers not in NUMBERS:
            raise CertificateError(f"Numbers must be read as one of {NUMBERS}, not {self.numbers!r}.")

    def verify(self, X: Any, y: Any = None, *, ids: Any = None) -> None:
        """Check the proof against the data in exact arithmetic. Undecided claims nothing.

        A source of files is read from the files themselves, never from a cache.

        Parameters
        ----------
        X : the rows
            An array, a sparse matrix, a dataframe, or a source that knows its labels. If the columns have names, they
            must be those of the proof, in its order, if it has any.
        y : their labels
            The two labels of the proof, of the same type (1 and 1.0 are equal; 1, True and "1" are not). None for a
            source.
        ids : the name of the column of ids, or None
            That column is left out. The verdict knows its own. For a proof that was read from a file, a text column
            of several values that the proof does not have is taken for one.

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
        self._verified(self._table_and_ids(X, y, ids)[0], y)

    def _verified(self, X: Any, y: Any = None) -> Rows:
        """The rows of the data, once the proof has been checked against them."""
        rows = self._rows_of(from_data(X), y)
        check(self, rows)
        checks.check_finite(rows)
        return rows

    def _table_and_ids(self, X: Any, y: Any, ids: Any = None) -> tuple[Any, RowIds | None]:
        """The table without its column of ids, and what its rows are called."""
        return table_and_ids(X, y, ids, self.row_names, self.names, self.rows_left_out, self._beside())

    def _rows_of(self, X: Any, y: Any) -> Rows:
        """The rows of the data, read as those of the verdict were."""
        return rows_of(X, y, self.labels, self.names, self.rows_left_out, self._beside())

    def _beside(self) -> Sequence[Any]:
        """What was given beside the rows, with gaps where rows were left out."""
        return ()

    def _in_units_of(self, scales: tuple[int, ...]) -> Verdict:
        """The same verdict for columns that are the user's multiplied by whole numbers."""
        return self

    @abstractmethod
    def _verify_claim(self, rows: Rows) -> None:
        """Check what this kind of verdict says about the rows."""

    def _combinations(self) -> dict[str, Obstruction]:
        """The rows with weights that people are shown, by field name."""
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
        """The same verdict, with these names for its rows."""
        parts: dict[str, Any] = {name: replace(found, row_names=names) for name, found in self._combinations().items()}
        return replace(self, row_names=names, **parts)

    def frame(self, X: Any, y: Any = None) -> Any:
        """Pick the rows that matter as a dataframe: those of an obstruction, or nearest to a margin.

        Parameters
        ----------
        X : the table that the verdict is about
            Or another with the same rows, for instance with more columns.
        y : their labels, or None
            Needed for a proof that was read from a file, which does not hold the labels.

        Returns
        -------
        dataframe
            From the same library as X: pandas, polars and Arrow stay what they are (a pandas index too); rows of an
            array or of files become a pandas frame. New columns are `row`, the number of the row, `label`, and
            `share`, the weight of the row divided by the sum over its class.

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
        """How many rows the verdict's table has, with those that were left out if row numbers count them."""
        if self.rows_left_out > self.dropped and not can_scan(X) and y is not None:  # from a file: the data say it
            rows = self._verified(self._table_and_ids(X, y)[0], y)
            return self.n_rows + self.rows_left_out * (isinstance(rows, MemoryRows) and rows.kept is not None)
        return self.n_rows + self.dropped

    def to_json(self) -> str:
        """The written proof: versioned JSON, made from the fields alone (only `seconds` differs from run to run)."""
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
            With them, the common mean of an obstruction is shown too. They are checked first, as `verify` does.
        names : sequence of str or None
            What to call the columns, if they have no names.
        exact : bool
            Whether to show the exact integer weights of an obstruction's rows (`obstruction.weights`) beside their
            shares.

        Returns
        -------
        str
            A few lines.

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

        `where` gives more columns about some rows, such as their lines in a file. verify=False skips the check, which
        reads the data once more: for callers who have just decided about these data.
        """
        rows, verdict = None, self
        if X is not None:  # words about data must be true of that data
            table, row_ids = self._table_and_ids(X, y, ids)
            rows = self._verified(table, y) if verify else self._rows_of(table, y)
            verdict = self.called(row_ids) if self.row_names is None else self
        return verdict._report(rows, names, where, exact=exact)

    def _report(self, rows: Rows | None, names: Sequence[str] | None, where: Where | None, *, exact: bool) -> Report:
        """The report, once the rows have names; `rows` are those of the data, or None."""
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
        """What this kind of verdict knows besides its proof."""
        return {}

    def __repr__(self) -> str:
        from linsep.proofs import explain

        return one_line(self, *explain.details(self))


def check(verdict: Verdict, X: Any) -> None:
    """Check a proof against rows as they are read, even from a cache: what a run does with its own verdict."""
    rows = rows_of(X, None, verdict.labels)
    checks.check_shape(rows, verdict.n_rows, verdict.n_columns, verdict.names)
    checks.check_names(verdict.names, names_of(rows))
    check_reading(rows, verdict.numbers, verdict.rows_left_out)
    scales = scales_of(rows)
    (verdict if scales is None else verdict._in_units_of(scales))._verify_claim(rows)
