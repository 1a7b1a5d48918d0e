"""Files that a formula is about: its outcome is the label, and of the other columns those are read that it names."""

from collections.abc import Sequence
from typing import Any

from linsep.errors import ArgumentError
from linsep.likelihoods.formula_words import named_in
from linsep.sources import files as source_files
from linsep.sources.base import Source


def open_for_formula(
    path: Any, formula: str, *, label: str | None = None, aside: Sequence[str] = (), **reading: Any
) -> Source:
    """Open files as `linsep.open` does, text columns as categories; `aside` are columns that options name."""
    outcome, predictors = named_in(formula)
    if label not in (None, outcome[-1]):
        raise ArgumentError(f"The formula has the outcome {outcome[-1]!r}: leave --label {label} out.")
    for option in ("columns", "categories"):
        if option in reading:
            raise ArgumentError(f"The formula says what columns there are: leave --{option} out.")
    wanted = None if predictors is None else [*outcome[:-1], *predictors, *aside]
    columns = None if wanted is None else [name for name in dict.fromkeys(wanted) if name != outcome[-1]]
    return source_files.open(path, label=outcome[-1], columns=columns, categories="all", **reading)
