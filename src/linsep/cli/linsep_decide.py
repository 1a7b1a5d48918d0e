"""`linsep decide`: the verdict on files, with its proof."""

import linsep
from linsep.cli.answers import Question, timed
from linsep.cli.parameters import PROVED_CODES, Bias, Deciding, File, Label, Proof, Search, app


@app.command(help_epilogue=f"Example: linsep decide data.csv --label species --proof proof.json\n\n{PROVED_CODES}")
def decide(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    proof: Proof = None,
    search: Search = Search(),
    reading: Deciding = Deciding(),
) -> int:
    """Can a hyperplane separate the two classes? The answer, proved in exact arithmetic.

    It prints the hyperplane, or the few rows that make it impossible.
    """
    question = Question(file, label, reading, search, proof)
    with question.asked("Deciding") as (table, data, watch):
        chosen, limit = table.chosen_bias(bias, file[0]), search.time_limit
        verdict = timed(table, linsep.decide, *data, bias=chosen, time_limit=limit, watch=watch)
    return question.answer(verdict, table)
