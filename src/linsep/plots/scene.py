"""What a picture of rows is about: the rows that are drawn, the hyperplane, and the rows that matter."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError
from linsep.halfspace import Halfspace
from linsep.learners.perceptron_run import PerceptronRun
from linsep.proofs import (
    HalfspaceVerdict,
    NotSeparable,
    Obstruction,
    Overlapping,
    Separable,
    Touching,
    Undecided,
    Verdict,
)
from linsep.proofs.verdicts import Obstructed
from linsep.report import RowNames, count
from linsep.sources.base import Block, Floats, Ints, Source
from linsep.sources.inputs import as_source
from linsep.tables.row_ids import named_column

DRAWN_ROWS = 5000  # more points than this make a picture slower, not clearer
MANY_COLUMNS = 2000  # with more, any separating hyperplane is drawn, not the one with the largest margin
NEAREST = 64  # how many rows are examined to find those on the edge of the margin
ON_THE_EDGE = 1 + 1e-6
NO_ROWS: Ints = np.array([], np.int64)

Model: TypeAlias = Any  # a Halfspace, a PerceptronRun or a fitted scikit-learn classifier


@dataclass(frozen=True, slots=True)
class Subject:
    """Rows to draw, with what is known about all of them.

    `verdict` is None if only a model was given; `halfspace` is None if no hyperplane is known. `margin` is the distance
    of the nearest of all rows, 0 if some row is not strictly on its side; `mistakes` counts such rows. `marked` holds
    the numbers of the rows that matter: those of the obstruction, else those on the edge of the margin.
    """

    source: Source
    verdict: Verdict | None
    halfspace: Halfspace | None
    margin: float
    mistakes: int
    marked: Ints
    block: Block

    @classmethod
    def of(
        cls, source: Source, verdict: Verdict | None, model: Model, bias: bool, time_limit: float | None = None
    ) -> "Subject":
        """Rows with this verdict or model; if neither is given, the verdict is computed."""
        if verdict is None and model is None:
            verdict = judged(source, bias, time_limit)
        if verdict is not None and (verdict.n_rows, verdict.n_columns) != (source.n_rows, source.n_columns):
            raise ArgumentError(
                f"The verdict is about {verdict.n_rows} rows and {verdict.n_columns} columns, "
                f"but X has {source.n_rows} rows and {source.n_columns} columns."
            )
        halfspace = _halfspace(model) if model is not None else None
        if model is None and isinstance(verdict, HalfspaceVerdict):
            halfspace = verdict.halfspace
        margin, mistakes, edge = 0.0, source.n_rows, NO_ROWS
        if halfspace is not None:
            margin, mistakes, edge = _measured(halfspace, source)
            if model is None and isinstance(verdict, Separable):  # proved for integers, which doubles may not hold
                margin, mistakes = max(margin, verdict.margin[0] if verdict.margin else 0.0), 0
        elif model is not None:
            mistakes = _answered_wrongly(model, source)
        marked = _named(verdict, halfspace) or edge.tolist()
        block = source.take(np.union1d(_drawn(source), np.array(marked, np.int64)))
        return cls(source, verdict, halfspace, margin, mistakes, np.array(marked, np.int64), block)

    @property
    def values(self) -> Any:
        """The drawn rows in floats, an array or a CSR matrix."""
        return _floats(self.block)

    @property
    def names(self) -> RowNames | None:
        """What the user calls the marked rows."""
        own = self.source.facts.ids
        known = None if self.verdict is None else self.verdict.row_names
        return known if known is not None or own is None else own.names(self.marked.tolist())

    @property
    def obstruction(self) -> Obstruction | None:
        """The rows that forbid a hyperplane, if they are known."""
        return self.verdict.obstruction if isinstance(self.verdict, Obstructed) else None

    def common_point(self) -> Floats | None:
        """The common weighted mean of both classes in the obstruction; it exists only with a bias."""
        if self.obstruction is None or self.verdict is None or not self.verdict.bias:
            return None
        rows = self.source.take(self.obstruction.rows)
        own = [u if sign > 0 else 0 for u, sign in zip(self.obstruction.weights, rows.y, strict=True)]
        total = sum(own)
        return np.asarray(_floats(rows).T @ np.array([u / total for u in own]))

    def headline(self) -> str:
        """The picture in a few words."""
        marked = count(len(self.marked), "row")
        if isinstance(self.verdict, Overlapping):
            return f"Overlapping: {marked} forbid{'s' * (len(self.marked) == 1)} any hyperplane"
        if isinstance(self.verdict, NotSeparable):
            return f"Not separable: {marked} forbid{'s' * (len(self.marked) == 1)} it; touching or overlapping is open"
        if isinstance(self.verdict, Touching):
            return f"Touching: {marked} allow{'s' * (len(self.marked) == 1)} no margin"
        if self.halfspace is not None and self.margin:
            is_widest = bool(_named(self.verdict, self.halfspace))
            what = "largest margin" if is_widest else "margin of this hyperplane"
            return f"{'Separable' if self.verdict else 'Separated'}: {what} {self.margin:.4g}"
        if isinstance(self.verdict, Undecided):
            return "Undecided: no proof either way"
        if self.verdict is not None and not self.mistakes:
            return "Separable: by a margin below the smallest double"
        found = f"{count(self.mistakes, 'mistake')} in {count(self.source.n_rows, 'row')}"
        return f"Separable, but this hyperplane makes {found}" if self.verdict else found


def drawn_source(X: Any, y: Any, verdict: Verdict | None, ids: Any) -> Source:
    """The rows to draw, without the column of ids: that of the verdict, unless another is named."""
    is_told = ids is not None or verdict is None or isinstance(X, Source)
    return as_source(X, y, ids=ids if is_told or verdict is None else named_column(X, verdict.row_names))


def judged(source: Source, bias: bool, time_limit: float | None = None) -> Verdict:
    """The verdict to draw: with the largest margin, unless that would take long because of many columns."""
    from linsep.questions.decide import decide
    from linsep.questions.margin import max_margin

    if bias and source.n_columns <= MANY_COLUMNS:
        return max_margin(source, time_limit=time_limit)
    return decide(source, bias=bias, time_limit=time_limit)


def _halfspace(model: Model) -> Halfspace | None:
    """The hyperplane of a model; None for a classifier that has none, such as one with a kernel or a vote."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    from linsep.estimators import PerceptronClassifier

    if isinstance(model, Halfspace):
        return model
    if isinstance(model, PerceptronRun):
        return model.halfspace
    if not isinstance(model, BaseEstimator):
        raise ArgumentError(
            f"model is a {type(model).__name__}: it must be a Halfspace, a PerceptronRun or a fitted classifier."
        )
    check_is_fitted(model)
    coef = getattr(model, "coef_", None)
    if coef is None or (isinstance(model, PerceptronClassifier) and model.keep == "vote"):
        return None  # a vote does not predict what its last weights do
    rows = np.atleast_2d(coef)
    if len(rows) != 1:
        raise ArgumentError(f"The classifier has {len(rows)} hyperplanes: a picture of two classes shows one.")
    return Halfspace(rows[0], np.ravel(model.intercept_)[0])


def _measured(halfspace: Halfspace, source: Source) -> tuple[float, int, Ints]:
    """The margin of a hyperplane, its mistakes, and the rows on the edge of its margin."""
    if len(halfspace.w) != source.n_columns:
        raise ArgumentError(f"The hyperplane has {len(halfspace.w)} weights, but X has {source.n_columns} columns.")
    if not np.any(halfspace.w):
        raise ArgumentError("The weights are all zero: there is no hyperplane to draw.")
    side, turned = Halfspace(halfspace.w, halfspace.b), -1 if halfspace.labels[::-1] == source.facts.labels else 1
    mistakes, nearest, rows = 0, np.zeros(0), NO_ROWS
    for block in source.blocks():
        margins = side.margins(block.values, turned * block.y)
        mistakes += int(np.count_nonzero(margins <= 0))
        nearest, rows = np.append(nearest, margins), np.append(rows, block.row_numbers)
        kept = np.argsort(nearest, kind="stable")[:NEAREST]
        nearest, rows = nearest[kept], rows[kept]
    if mistakes:
        return 0.0, mistakes, NO_ROWS
    return float(nearest[0]), 0, np.sort(rows[nearest <= nearest[0] * ON_THE_EDGE])


def _answered_wrongly(model: Any, source: Source) -> int:
    return sum(
        int(np.count_nonzero((model.predict(block.values) == model.classes_[1]) != (block.y > 0)))
        for block in source.blocks()
    )


def _named(verdict: Verdict | None, halfspace: Halfspace | None) -> list[int]:
    """The rows that a verdict uses to prove what the picture shows."""
    if isinstance(verdict, Obstructed):
        return list(verdict.obstruction.rows)
    if isinstance(verdict, Separable) and verdict.nearest and halfspace == verdict.halfspace:
        return list(verdict.nearest.rows)
    return []


def _drawn(source: Source) -> Ints:
    """All rows, or a sample of them."""
    return np.arange(source.n_rows) if source.n_rows <= DRAWN_ROWS else source.sample(DRAWN_ROWS, 0).row_numbers


def values_of(source: Source, rows: npt.ArrayLike) -> Any:
    """These rows in floats, an array or a CSR matrix."""
    return _floats(source.take(np.asarray(rows, np.int64)))


def _floats(block: Block) -> Any:
    values = block.values.astype(np.float64)
    if block.is_sparse:  # 32-bit indices, which scikit-learn needs and which are enough for a few thousand rows
        parts = (values.data, values.indices.astype(np.int32), values.indptr.astype(np.int32))
        return sp.csr_array(parts, shape=values.shape)
    return values
