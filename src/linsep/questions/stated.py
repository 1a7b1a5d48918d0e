"""What a verdict states about its rows: how many there are, their labels and columns, and a few for a picture."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.proofs import Obstruction
from linsep.sources.base import Block, Floats, Signs, Source

SAMPLED_ROWS, DRAWN_ENTRIES = 60, 20_000  # what a verdict keeps of the rows, for a picture


def facts_of(source: Source) -> dict[str, Any]:
    """What a verdict states about the rows it is about."""
    facts = source.facts
    return {
        "n_rows": facts.n_rows,
        "n_columns": facts.n_columns,
        "labels": facts.pair,
        "names": facts.names,
        "label_column": facts.label_column if facts.files and isinstance(facts.label_column, str) else None,
        "rows_left_out": facts.rows_left_out,
        "numbers": facts.numbers,
        "sample": sample_of(source),
    }


def obstruction_of(source: Source, rows: Sequence[int], weights: Sequence[int]) -> Obstruction:
    """A combination of rows, described."""
    return described(source, Obstruction(tuple(rows), tuple(weights)))


def described(source: Source, found: Obstruction) -> Obstruction:
    """The same obstruction with the classes of its rows; if they are few, with their values too."""
    classes = tuple(source.facts.labels[int(sign > 0)] for sign in source.signs_of(found.rows).tolist())
    is_drawn = len(found.rows) * source.n_columns <= DRAWN_ENTRIES
    return replace(found, classes=classes, points=_drawn(source, source.take(found.rows)) if is_drawn else None)


def sample_of(source: Source) -> tuple[Floats, Signs] | None:
    """A few rows, evenly spread, for a picture; None for files."""
    most = min(SAMPLED_ROWS, source.n_rows, DRAWN_ENTRIES // max(1, source.n_columns))
    if source.facts.is_streamed or most < 1:
        return None
    everything = most == source.n_rows
    block = next(source.blocks()) if everything else source.take(np.arange(most) * source.n_rows // most)
    points = _drawn(source, block)
    return None if points is None else (points, block.y)


def _drawn(source: Source, block: Block) -> Floats | None:
    """The values of few rows as the user has them, rounded, for a picture; None for many rows."""
    if len(block) * source.n_columns > DRAWN_ENTRIES:
        return None
    values = block.values.toarray() if block.is_sparse else block.values
    scales = source.facts.scales
    if scales is None:
        return np.array(values, np.float64)  # a copy: the table stays the user's
    rows = [[value / scale for value, scale in zip(row, scales, strict=True)] for row in values.tolist()]
    return np.array(rows, np.float64)  # divided as Python's integers: a scale may be beyond the largest double
