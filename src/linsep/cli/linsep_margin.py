"""`linsep margin`: the largest margin of any hyperplane, and the mistake bound that follows from it."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

import linsep
from linsep.cli.answers import Question, timed
from linsep.cli.parameters import PROVED_CODES, Asking, Classes, File, Label, Proof, Search, app


@app.command(help_epilogue=f"Example: linsep margin data.csv --label species\n\n{PROVED_CODES}")
def margin(
    *file: File,
    label: Label = None,
    bias: Annotated[bool, Parameter(help="Allow every hyperplane, or only those through the origin.")] = True,
    classes: Classes = None,
    gap: Annotated[
        float,
        Parameter(help="How close the two bounds on the margin must be, relative to it.", validator=Number(gt=0, lt=1)),
    ] = 1e-6,
    proof: Proof = None,
    search: Search = Search(),
    reading: Asking = Asking(),
) -> int:
    """The largest margin of any hyperplane, the rows that limit it, and the Perceptron's mistake bound.

    The bias is free, for the examples too. --classes asks about any number of classes; their joint margin is that of
    Crammer and Singer: how far the right score leads when the squares of all weights and biases add up to 1.
    """
    question = Question(file, label, reading, search, proof, any_labels=classes is not None)
    with question.asked("Widening") as (table, data, watch):
        options: dict[str, Any] = {"bias": bias, "gap": gap, "time_limit": search.time_limit}
        work: Callable[..., Any] = linsep.max_margin
        if classes is not None:
            work = partial(linsep.max_margin_classes, by=classes)
        verdict = timed(table, work, *data, watch=watch, **options)
        bound = _bound(data, options) if verdict.separable and classes is None else None
    return question.answer(verdict, table, bound)


def _bound(data: tuple[Any, Any], options: dict[str, Any]) -> Any:
    """Novikoff's bound; None if the time limit or the range of doubles leaves it uncertain."""
    try:
        return linsep.novikoff(*data, **options)
    except linsep.NotSeparableError:
        return None
