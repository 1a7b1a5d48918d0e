"""`linsep explore`: the page in the browser, or as a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from linsep import on_files
from linsep.cli import file_arguments, stdio, terminal
from linsep.cli.parameters import DONE_CODES, OR_EXAMPLE, READABLE, SEPARABLE, Json, Label, Learning, app, path, switch
from linsep.errors import ArgumentError
from linsep.outputs import write_file

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable


@app.command(help_epilogue=f"Example: linsep explore data.csv --label species\n\n{DONE_CODES}")
def explore(
    *file: Annotated[str, Parameter(help=f"Rows of your own. {READABLE} {OR_EXAMPLE}", converter=path)],
    label: Label = None,
    browser: Annotated[
        bool, Parameter(help="Whether to open the page in a browser. [default: yes]", show_default=False)
    ] = True,
    port: Annotated[
        int, Parameter(help="The port to listen on; 0 for any free one.", validator=Number(gte=0, lte=65535))
    ] = 0,
    export: Annotated[str | None, Parameter(help="Write the page with its run into this HTML file instead.")] = None,
    standardise: Annotated[bool, switch("Show the columns centred and scaled.")] = False,
    json: Json = False,
    reading: Learning = Learning(),
) -> int:
    """Watch the Perceptron learn on a page in the browser, with its bound and the proof of the verdict.

    The page is served to this machine only, at an address with a secret in it. Ctrl-C ends it.
    """
    file_arguments.require_outputs(file, ("--export", export), ("--reject", reading.reject))
    if standardise and not file:
        raise ArgumentError("--standardise is about rows of your own: name their file.")
    table = _read(file, label, reading, standardise) if file else None
    if export:
        from linsep.explorer.export import page

        write_file(export, page(table).encode())
        if json:
            terminal.say_json({"output": export})
        terminal.note(f"The page was written to {export}.")
        return SEPARABLE
    from linsep.explorer.server import announce, serve

    def tell(address: str) -> None:
        with stdio.shown():
            terminal.say_json({"address": address}) if json else announce(address)
        stdio.flush()

    serve(table, port=port, browser=browser, tell=tell)
    return SEPARABLE


def _read(files: Sequence[str], label: str | None, reading: Learning, standardise: bool) -> "OwnTable":
    from linsep.explorer.own_table import OwnTable

    with on_files.about(files):
        table = file_arguments.read(files, label, reading)
        X, y = on_files.in_memory(table.source) if table.source else table.data
        known = table.source.ids(range(len(y))) if table.source else {}
        ids = [known[row] for row in range(len(y))] if known else None
        title = on_files.named(files)
        return OwnTable(X, y, columns=table.columns, title=title, bias=table.bias, standardise=standardise, ids=ids)
