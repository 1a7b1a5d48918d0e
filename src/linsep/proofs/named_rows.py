"""Rows as the user knows them: by their ids, by their numbers in a table with dropped rows, or as a dataframe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.errors import ArgumentError, CertificateError
from linsep.proofs.checked_rows import Rows, can_scan, names_of, scales_of
from linsep.report import RowNames
from linsep.tables.given_rows import Given, given, spare_column
from linsep.tables.row_frames import frame_of, labels_at, of_values
from linsep.tables.row_ids import RowIds, named_column, without_ids

if TYPE_CHECKING:
    from linsep.proofs.class_verdicts import ClassVerdicts
    from linsep.proofs.obstructions import Obstruction
    from linsep.proofs.verdict_base import Verdict


def table_and_ids(
    X: Any,
    y: Any,
    ids: Any,
    names: RowNames | None,
    columns: Sequence[str] | None,
    left_out: int,
    beside: Iterable[Any] = (),
) -> tuple[Any, RowIds | None]:
    """The table that a result with these names is about, without the column of ids, and the ids of its rows.

    A written proof does not name the rows: there the data say which column holds the ids (`spare_column`).
    """
    if can_scan(X):
        if ids is not None:
            raise ArgumentError("A source brings its own ids: leave ids out.")
        own: RowIds | None = X.facts.ids
        return X, own
    if isinstance(X, Rows) and not isinstance(X, np.ndarray):
        return X, None
    if ids is None:
        ids = spare_column(X, y, columns, left_out, beside) if names is None else named_column(X, names)
    return without_ids(X, ids, y)


def shown_rows(
    X: Any, rows: Sequence[int], told: Mapping[str, Sequence[Any]], n_rows: int, names: RowNames | None
) -> Any:
    """Rows as a dataframe of the library of X, with the columns `told`; those of a source as a pandas frame."""
    if not can_scan(X):
        return frame_of(X, rows, told, n_rows, names)
    if X.n_rows != n_rows:
        raise ArgumentError(f"X has {X.n_rows:,} rows, and the result is about {n_rows:,}.")
    _, values, _ = X.take(rows)
    scales = scales_of(X)
    own = values if scales is None else values / np.array(scales, np.float64)
    return of_values(own, X.n_columns, names_of(X), rows, told, names)


def labels_of_rows(X: Any, y: Any, rows: Sequence[int], n_rows: int) -> list[Any]:
    """The labels of these rows, from y or from a source."""
    if y is not None:
        return labels_at(given(X, y).y, rows, n_rows)
    if not can_scan(X):
        raise ArgumentError("The labels of the rows are not known.", fix="Give y too: frame(X, y).")
    labels = X.facts.labels
    codes = [int(code > 0) if len(labels) == 2 else int(code) for code in X.take(rows).y.tolist()]
    return [labels[code] for code in codes]


def renumbered(verdict: Verdict, numbers: Callable[[Sequence[int]], Sequence[int]], **stated: Any) -> Verdict:
    """The same verdict with other row numbers, in the same order."""

    def moved(found: Obstruction | None) -> Obstruction | None:
        return None if found is None else replace(found, rows=tuple(numbers(found.rows)))

    parts: dict[str, Any] = {
        name: moved(getattr(verdict, name)) for name in ("obstruction", "spread", "nearest") if hasattr(verdict, name)
    }
    if (separated := getattr(verdict, "separated_rows", None)) is not None:
        parts["separated_rows"] = tuple(numbers(separated))
    return replace(verdict, **parts, **stated)


def in_all_columns(verdict: Verdict, columns: NDArray[np.int64], **stated: Any) -> Verdict:
    """The same verdict for rows with more columns, all of them empty; `columns` are those that it is about.

    `stated` is what the verdict says about the rows with all columns.
    """
    n_columns = stated["n_columns"]
    own = [*columns.tolist(), n_columns]  # the constant is the last

    def moved(found: Obstruction | None) -> Obstruction | None:
        if found is None:
            return None
        known = found.dependences and tuple(
            replace(d, columns=tuple(own[j] for j in d.columns)) for d in found.dependences
        )
        return replace(found, points=None, dependences=known)

    parts: dict[str, Any] = {
        name: moved(getattr(verdict, name)) for name in ("obstruction", "spread") if hasattr(verdict, name)
    }
    if hasattr(verdict, "weights"):
        weights = [0] * n_columns
        for column, weight in zip(own, verdict.weights, strict=False):
            weights[column] = weight
        parts["weights"] = tuple(weights)
    return replace(verdict, **parts, **stated)


def in_own_numbers(verdict: Verdict, rows: Given) -> Verdict:
    """The same verdict with the row numbers and names of the user's table, of which some rows were dropped."""
    kept = rows.kept
    if kept is None:
        return verdict
    return renumbered(verdict, lambda own: kept[list(own)].tolist(), dropped=rows.dropped).called(rows.names)


def in_kept_numbers(verdict: Verdict, kept: NDArray[np.int64] | None) -> Verdict:
    """The reverse: the same verdict with rows counted without the dropped ones, none of which it may name."""
    if kept is None:
        return verdict

    def places(rows: Sequence[int]) -> list[int]:
        found = np.searchsorted(kept, rows)
        if (kept[np.minimum(found, len(kept) - 1)] != rows).any():
            raise CertificateError("The proof names a row that was left out.")
        return list(found.tolist())

    return renumbered(verdict, places)


def classes_in_own_numbers(found: ClassVerdicts, rows: Given) -> ClassVerdicts:
    """`in_own_numbers` for many classes: the row that compares x with class k has the number K·i + k."""
    if rows.kept is None:
        return found
    n_classes = len(found.labels) if found.by == "joint" else 1
    numbers = (n_classes * rows.kept[:, None] + np.arange(n_classes)).ravel()
    verdicts = (renumbered(verdict, lambda own: numbers[list(own)].tolist()) for verdict in found.verdicts)
    return replace(found, verdicts=tuple(verdicts), dropped=rows.dropped).called(rows.names)
