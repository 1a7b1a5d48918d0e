"""`linsep convert`: files of any kind as one Parquet file."""

from typing import Annotated

from cyclopts import Parameter

from linsep import on_files
from linsep.cli import file_arguments, progress, terminal
from linsep.cli.parameters import DONE_CODES, READABLE, SEPARABLE, Copying, Json, Label, app, path
from linsep.errors import ArgumentError


@app.command(
    help_epilogue=f"Example: linsep convert measurements.csv.gz measurements.parquet --label kind\n\n{DONE_CODES}"
)
def convert(
    *file: Annotated[
        str,
        Parameter(help=f"{READABLE} The last one is the file to write: .parquet.", converter=path, required=True),
    ],
    label: Label = None,
    json: Json = False,
    reading: Copying = Copying(),
) -> int:
    """Write files of any kind as one Parquet file, which is quick to read again and again."""
    *files, output = file
    if not files:
        raise ArgumentError(
            "give the files to read, then the file to write: linsep convert IN OUT.parquet", file=output
        )
    file_arguments.require_outputs(files, ("", output), ("--reject", reading.reject))
    with progress.waiting("Converting"):
        rows, left_out = on_files.convert(files, output, label=label, **reading.keywords())
    if json:
        terminal.say_json({"rows": rows, "rows_left_out": left_out, "output": output})
    else:
        terminal.say(f"{terminal.count(rows, 'row')} written to {output}.")
    terminal.note_rejected(left_out, reading.reject)
    return SEPARABLE
