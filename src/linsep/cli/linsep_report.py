"""`linsep report`: one page about a table."""

from typing import Annotated

from cyclopts import Parameter

import linsep
from linsep import on_files, outputs
from linsep.cli import file_arguments, progress, stdio, terminal
from linsep.cli.answers import seconds
from linsep.cli.parameters import DONE_CODES, SEPARABLE, Bias, File, Label, Learning, Search, app


@app.command(help_epilogue=f"Example: linsep report data.csv --label ill --id patient --html page.html\n\n{DONE_CODES}")
def report(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    html: Annotated[str | None, Parameter(help="Where to write the same as a web page, with a picture.")] = None,
    search: Search = Search(),
    reading: Learning = Learning(),
) -> int:
    """One page about a table: what is proved, which rows and columns to look at, how well learners do.

    For a large table, some sections use a sample, and say so. It takes about 60 seconds at most, or --time-limit;
    after Ctrl-C it says what is known.
    """
    file_arguments.require_outputs(file, ("--html", html), ("--reject", reading.reject))
    with on_files.about(file):
        table = file_arguments.read(file, label, reading)
        chosen = table.chosen_bias(bias, file[0])
        doing = ["Reading"]
        with progress.shown(lambda: f"{doing[-1]} (Ctrl-C keeps what is known)", wanted=search.progress):
            found = linsep.describe(
                *table.data, bias=chosen, time_limit=seconds(search), where=table.where, watch=doing.append
            )
    if html is not None:
        outputs.write_file(html, found.page(on_files.named(file)))
    if search.json:
        terminal.say_json(found.facts())
    else:
        terminal.show(found.report())
    stdio.flush()
    if html is not None:
        terminal.note(f"A web page is in {html}.")
    return SEPARABLE
