"""`linsep decide`: the verdict on files, with its proof."""

from collections.abc import Callable
from functools import partial
from typing import Any

import linsep
from linsep.cli.answers import Question, timed
from linsep.cli.parameters import PROVED_CODES, Asking, Bias, Classes, File, Label, Proof, Search, app


@app.command(help_epilogue=f"Example: linsep decide data.csv --label species --proof proof.json\n\n{PROVED_CODES}")
def decide(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    classes: Classes = None,
    proof: Proof = None,
    search: Search = Search(),
    reading: Asking = Asking(),
) -> int:
    """Can a hyperplane separate the two classes? The answer, proved in exact arithmetic.

    It prints the hyperplane, or the few rows that make it impossible. --classes asks about any number of classes.
    """
    question = Question(file, label, reading, search, proof, any_labels=classes is not None)
    with question.asked("Deciding") as (table, data, watch):
        options: dict[str, Any] = {"bias": table.chosen_bias(bias, file[0]), "time_limit": search.time_limit}
        work: Callable[..., Any] = linsep.decide
        if classes is not None:
            work = partial(linsep.decide_classes, by=classes)
        verdict = timed(table, work, *data, watch=watch, **options)
    return question.answer(verdict, table)
