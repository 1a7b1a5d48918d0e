"""The explorer in a notebook cell: the public function, which needs no extra package until it is called."""

from typing import TYPE_CHECKING, Any

from linsep import arguments
from linsep.errors import ArgumentError
from linsep.explorer.own_table import OwnTable

if TYPE_CHECKING:
    from linsep.explorer.widget import ExplorerWidget


def explore(
    X: Any = None, y: Any = None, *, bias: bool = True, standardise: bool = False, ids: Any = None
) -> "ExplorerWidget":
    """Show the explorer in a notebook cell: on rows of your own, or on the lectures' examples.

    Two columns become points that can be moved; more are seen along two of them, or across the hyperplane. Needs the
    extra `explore`.

    Parameters
    ----------
    X, y : the rows and their labels, or None
        Rows in memory, not a source.
    bias : bool
        False keeps the hyperplane through the origin.
    standardise : bool
        Show the columns of X centred and scaled (scaled only, without a bias).
    ids : what the rows are called
        As `decide` takes them.

    Returns
    -------
    ExplorerWidget
        What the cell shows.

    Raises
    ------
    InputError
        The data cannot be used, or rounding the scaled columns would change the verdict.
    """
    from linsep.explorer.widget import ExplorerWidget  # imported only when needed: it says which extra is missing

    if arguments.flag("standardise", standardise) and X is None:
        raise ArgumentError("standardise is about rows of your own: give X and y.")
    return ExplorerWidget(None if X is None else OwnTable(X, y, bias=bias, standardise=standardise, ids=ids))
