"""`linsep mistakes`: a hyperplane with few mistakes, and a proof of how few are possible."""

from typing import Any

import linsep
from linsep.cli.answers import Question, costs, ends, seconds, timed
from linsep.cli.parameters import (
    OF_A_FAULT,
    SEPARABLE,
    UNDECIDED,
    Bias,
    Cost,
    File,
    Label,
    Learning,
    Proof,
    Search,
    app,
)

CODES = f"Exit codes: 0 no hyperplane does better, 2 bad input, 3 one may, {OF_A_FAULT}"


@app.command(help_epilogue=f"Example: linsep mistakes data.csv --label ill --cost yes=5 --cost no=1\n\n{CODES}")
def mistakes(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    cost: Cost = None,
    proof: Proof = None,
    search: Search = Search(),
    reading: Learning = Learning(),
) -> int:
    """Which hyperplane makes the fewest mistakes? One that makes few, and a proof of how few are possible.

    It stops after 60 seconds, or --time-limit; then, and after Ctrl-C, it says what is known.
    """
    question = Question(file, label, reading, search, proof)
    with question.asked("Searching", told=ends, first="reading", ends="keeps both") as (table, data, watch):
        options: dict[str, Any] = {"cost": costs(cost), "time_limit": seconds(search)}
        options["bias"] = table.chosen_bias(bias, file[0])
        found = timed(table, linsep.fewest_mistakes, *data, watch=watch, **options)
    question.answer(found, table)
    return SEPARABLE if found.optimal else UNDECIDED
