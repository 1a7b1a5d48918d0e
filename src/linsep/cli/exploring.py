"""The command that opens the explorer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from linsep.cli import stdio
from linsep.cli.options import OR_EXAMPLE, READABLE, SEPARABLE, Json, Label, Learning, Reading, path, rejects

if TYPE_CHECKING:
    from linsep.explorer.own_table import OwnTable


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
    json: Json = False,
    reading: Learning | None = None,
) -> int:
    """Watch the Perceptron learn on a page in the browser, with its bound and the proof of the verdict.

    The page is served to this machine only, at an address with a secret in it. Ctrl-C ends it.
    """
    from linsep.cli import report, tables

    tables.require_outputs(file, {"--export": export, "--reject": rejects(reading)})
    table = _read(file, label, reading) if file else None
    if export:
        from linsep.explorer.export import page
        from linsep.outputs import write_file

        write_file(export, page(table).encode())
        if json:
            report.say_json({"output": export})
        report.note(f"The page was written to {export}.")
        return SEPARABLE
    from linsep.explorer.server import announce, serve

    def tell(address: str) -> None:
        with stdio.shown():
            report.say_json({"address": address}) if json else announce(address)
        stdio.flush()

    serve(table, port=port, browser=browser, tell=tell)
    return SEPARABLE


def _read(files: Sequence[str], label: str | None, reading: Reading | None) -> "OwnTable":
    from linsep.cli import tables
    from linsep.explorer.own_table import OwnTable
    from linsep.sources.inputs import as_source

    with tables.about(files):
        table = tables.read(files, label, reading)
        X, y = tables.in_memory(as_source(table.source))
        return OwnTable(X, y, columns=table.columns, title=tables.named(files), bias=table.bias)
