"""`linsep clean`: how many labels must be wrong, proved, and the rows to look at first."""

from dataclasses import replace
from typing import Annotated, Any

from cyclopts import Parameter

import linsep
from linsep import outputs
from linsep.cli import file_arguments, stdio, terminal
from linsep.cli.answers import Question, costs, ends, seconds
from linsep.cli.parameters import OF_A_FAULT, SEPARABLE, UNDECIDED, Bias, File, Label, Learning, Proof, Search, app

CODES = f"Exit codes: 0 fewer changes are not enough (proved), 2 bad input, 3 fewer may be enough, {OF_A_FAULT}"


@app.command(help_epilogue=f"Example: linsep clean data.csv --label ill --id patient -o suspects.csv\n\n{CODES}")
def clean(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    cost: Annotated[
        list[str] | None,
        Parameter(help="What a wrong label of a class costs: LABEL=NUMBER, for each class. [default: 1]", negative=""),
    ] = None,
    output: Annotated[
        str | None, Parameter(name=["--output", "-o"], help="Where to write all rows to look at (CSV).")
    ] = None,
    html: Annotated[str | None, Parameter(help="Where to write the same as a web page.")] = None,
    proof: Proof = None,
    search: Search = Search(),
    reading: Learning = Learning(),
) -> int:
    """Which labels are likely to be wrong? How many must be, proved, and the rows to look at first.

    It stops after 60 seconds, or --time-limit; then, and after Ctrl-C, it says what is known.
    """
    question = Question(file, label, reading, search, proof)
    file_arguments.require_outputs(
        file, ("--output", output), ("--html", html), ("--proof", proof), ("--reject", reading.reject)
    )
    with question.asked("Searching", told=ends, first="reading", ends="keeps both") as (table, data, watch):
        options: dict[str, Any] = {"cost": costs(cost), "time_limit": seconds(search)}
        options["bias"] = table.chosen_bias(bias, file[0])
        found = linsep.clean(*data, watch=watch, **options)
    mistakes = replace(found.mistakes, names=table.columns, label_column=table.text_label)
    said = found.report(table.where)
    if output is not None:
        found.to_csv(output, table.places)
    if html is not None:
        outputs.write_file(html, said.page())
    if proof is not None:
        outputs.write_file(proof, mistakes.to_json().encode())
    if search.json:
        terminal.say_json(found.facts())
    else:
        terminal.show(said)
    stdio.flush()
    for path, what in ((output, "All rows to look at are in"), (html, "A web page is in")):
        if path is not None:
            terminal.note(f"{what} {path}.")
    if proof is not None:
        terminal.note(f"Proof written to {proof}. {question.how_to_check(proof, table)}")
    return SEPARABLE if found.mistakes.optimal else UNDECIDED
