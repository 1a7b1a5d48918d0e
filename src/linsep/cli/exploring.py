"""The command that opens the explorer."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from linsep.cli.options import SEPARABLE, Label

if TYPE_CHECKING:
    from linsep.explorer.tables import OwnTable


def explore(
    file: Annotated[
        str | None, Parameter(help="Rows of your own: a file as for linsep decide, or example:NAME.")
    ] = None,
    /,
    *,
    label: Label = None,
    browser: Annotated[bool, Parameter(help="Whether to open the page in a browser.")] = True,
    port: Annotated[
        int, Parameter(help="The port to listen on; 0 for any free one.", validator=Number(gte=0, lte=65535))
    ] = 0,
    export: Annotated[str | None, Parameter(help="Write the page with its run into this HTML file instead.")] = None,
) -> int:
    """Watch the Perceptron learn on a page in the browser, with its bound and the proof of the verdict.

    The page is served to this machine only, at an address with a secret in it. Ctrl-C ends it.
    """
    table = None if file is None else _read(file, label)
    if export:
        from linsep.cli import report, tables
        from linsep.explorer.export import page
        from linsep.sealed import write_file

        tables.require_folder(export)
        write_file(export, page(table).encode())
        report.note(f"The page was written to {export}.")
        return SEPARABLE
    from linsep.explorer.server import serve

    serve(table, port=port, browser=browser)
    return SEPARABLE


def _read(file: str, label: str | None) -> "OwnTable":
    from linsep.cli import tables
    from linsep.explorer.tables import OwnTable

    with tables.about([file]):
        table = tables.read([file], label)
        X, y = tables.in_memory(table.source)
        return OwnTable(X, y, columns=table.columns, title=file, bias=table.bias)
