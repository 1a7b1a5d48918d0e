"""A run of the Perceptron as frames: what `animate` shows, in whatever format."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, NotSeparableError, ShapeError
from linsep.halfspace import Halfspace
from linsep.learners.perceptron import Order, perceptron_steps
from linsep.learners.vanishing import require_scores
from linsep.plots.region_plot import clip
from linsep.questions.margin import Novikoff, novikoff
from linsep.report import column_names, linear
from linsep.sources.base import Floats, Ints, Source
from linsep.sources.standardised import mistakes_of

MOST_ROWS, MOST_FRAMES = 2000, 500
FAR = 8  # a wall farther away than this many times the run is not shown
AROUND = 1.15  # room around the points


@dataclass(frozen=True, slots=True)
class Moment:
    """The weights after `update` updates, the row just corrected (-1 at the start) and the two lengths of the proof."""

    update: int
    row: int
    w: Floats
    b: float
    along: float
    length: float
    text: str


@dataclass(frozen=True, slots=True)
class Film:
    """Points of the plane and a run on them from zero weights; `theory` is None where there is no bound.

    `separable` is what is proved of the points: None where nothing is.
    """

    points: Floats
    signs: Ints
    labels: tuple[Any, Any]
    names: tuple[str, str]
    frames: tuple[Moment, ...]
    theory: Novikoff | None
    separable: bool | None
    separates: bool

    @classmethod
    def of(cls, source: Source, bias: bool, order: Order, most: int, random_state: Any) -> "Film":
        """Run the Perceptron for at most `most` updates, and keep what is to be shown."""
        if source.n_columns != 2:
            columns = "1 column" if source.n_columns == 1 else f"{source.n_columns} columns"
            raise ShapeError(f"The rows have {columns}: animate draws exactly two.")
        if source.n_rows > MOST_ROWS:
            raise ArgumentError(f"There are {source.n_rows:,} rows: animate draws at most {MOST_ROWS:,}.")
        if not 1 <= most <= MOST_FRAMES:
            raise ArgumentError(f"max_updates is {most}: an animation has 1 to {MOST_FRAMES} updates.")
        require_scores(source)
        theory, separable = _theory(source, bias)
        best = np.zeros(3) if theory is None else np.append(theory.halfspace.w, theory.halfspace.b)
        block, names = source.take(np.arange(source.n_rows)), column_names(source.facts.names, 2)
        points = np.asarray(block.values.toarray() if block.is_sparse else block.values, np.float64)
        frames = [
            Moment(0, -1, np.zeros(2), 0.0, 0.0, 0.0, "Start: w = 0. Every score is 0, so every row is a mistake.")
        ]
        for step in perceptron_steps(source, bias=bias, order=order, max_updates=most, random_state=random_state):
            W = np.append(np.asarray(step.w, np.float64), float(step.b))
            plane = linear([*zip(W[:2].tolist(), names, strict=True), (W[2].item(), "")])
            seen = f"Update {step.update}: row {step.row} of class {step.label} had score {step.score:.6g}"
            lengths = float(W @ best), float(np.linalg.norm(W))
            frames.append(Moment(step.update, step.row, W[:2], float(W[2]), *lengths, f"{seen}. Now {plane} = 0."))
        last = frames[-1]
        separates = not mistakes_of(source, Halfspace(last.w, last.b))
        labels = source.facts.pair
        signs, called = block.y.astype(np.int64), (names[0], names[1])
        return cls(points, signs, labels, called, tuple(frames), theory, separable, separates)

    @property
    def title(self) -> str:
        """The film in a line."""
        updates = self.frames[-1].update
        return f"{updates} update{'s' * (updates != 1)}{self._most()}, {self._end()}"

    def _most(self) -> str:
        """The bound and, where it is much lower, that of the centred and scaled columns."""
        if self.theory is None:
            return ""
        eased, done = self.theory.standardised, "centred and scaled" if self.theory.bias else "scaled"
        hint = "" if eased is None else f" ({eased:,.0f} with columns {done})"
        return f" of at most {self.theory.bound[1]:,.0f}{hint}"

    def _end(self) -> str:
        if self.separates:
            return "then separated"
        if self.separable is None:
            return "not separated yet, which proves nothing"
        return "not separated yet: separable (proved)" if self.separable else "no line separates the classes (proved)"

    def reach(self) -> float:
        """How many updates the chart of the proof has room for: up to the wall, unless it is far away."""
        wall = 1.0 if self.theory is None else self.theory.bound[1]
        return 1.06 * min(wall, FAR * len(self.frames))

    def box(self) -> Floats:
        """The corners of a square around the points, anticlockwise."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        middle, half = low / 2 + high / 2, AROUND * (float((high / 2 - low / 2).max()) or 1.0)
        return np.asarray(middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))

    def side(self, frame: Moment, sign: int) -> Floats:
        """The corners of the part of the box on one side of the line; none before there is a line."""
        if not (frame.w.any() or frame.b):
            return np.zeros((0, 2))
        return np.asarray(clip(self.box(), sign * frame.w, sign * frame.b))

    def border(self, frame: Moment) -> Floats:
        """The ends of the line in the box; none where it is not seen."""
        corners = self.side(frame, 1)
        scale = float(np.abs(frame.w).sum() * np.abs(self.box()).max() + abs(frame.b))
        on = corners[np.abs(corners @ frame.w + frame.b) <= 1e-9 * scale] if frame.w.any() else corners[:0]
        return on[[0, -1]] if len(on) > 1 else on[:0]


def _theory(source: Source, bias: bool) -> tuple[Novikoff | None, bool | None]:
    """The bound, if there is one, and whether the rows are separable."""
    try:
        return novikoff(source, bias=bias), True
    except NotSeparableError as error:
        return None, error.verdict.separable
