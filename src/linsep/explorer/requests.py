"""What a page may ask for: every field is checked, and anything else is refused.

A request comes from a browser, so it is not trusted until it has been read here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from linsep.errors import ArgumentError
from linsep.storage.strict import Document, FieldError, Reader, each, flag, mapping, optional, whole, word

Order = Literal["cyclic", "restart", "shuffled", "worst"]

MOST_POINTS = 2_000
UPDATES = 500  # recorded unless the page asks for more: they are what an answer costs
MOST_UPDATES = 5_000
LARGEST = 1e9  # coordinate: beyond it a picture shows nothing
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RunRequest:
    """How the Perceptron is to be run, and how many updates are to be recorded."""

    order: Order = "cyclic"
    bias: bool = True
    seed: int = 0
    updates: int = UPDATES


@dataclass(frozen=True, slots=True)
class LookRequest:
    """How rows of any width are to be shown: along two columns, or across a hyperplane.

    The hyperplane is that of the verdict, or the Perceptron's after `update` updates of the run.
    """

    columns: tuple[int, int] | None
    run: RunRequest
    update: int | None = None


def read_run(body: Any) -> RunRequest:
    """A run on the rows that the server holds."""
    return RunRequest(**_asked(body, _RUN))


def read_whole(body: Any, name: str, most: int) -> int:
    """One whole number from 0 to `most`."""
    found: int = _asked(body, {name: whole(0, most)}, (name,))[name]
    return found


def read_look(body: Any, most: int) -> LookRequest:
    """Two columns, or null for the separation view, and the hyperplane of that view."""
    readers = {"columns": optional(each(whole(0, most), 2)), "update": optional(whole(0, MOST_UPDATES)), **_RUN}
    del readers["updates"]
    asked = _asked(body, readers)
    columns, update = asked.pop("columns", None), asked.pop("update", None)
    return LookRequest(columns, RunRequest(**asked), None if columns is not None else update)


def _asked(body: Any, readers: Mapping[str, Reader], needed: tuple[str, ...] = ()) -> Document:
    """The fields of a request, read by `readers`: those in `needed` must be there, and unknown ones are refused."""
    try:
        for name in (found := mapping(body, "a request")):
            if name not in readers:
                raise FieldError(f"A request has only the fields {', '.join(sorted(readers))}.")
        for name in needed:
            if name not in found:
                raise FieldError(f"{name} is missing: the request needs it.")
        return {name: readers[name](value, name) for name, value in found.items()}
    except FieldError as wrong:
        raise ArgumentError(str(wrong)) from None


_RUN: dict[str, Reader] = {
    "order": word(*get_args(Order)),
    "bias": flag,
    "seed": whole(0, LARGEST_SEED),
    "updates": whole(1, MOST_UPDATES),
}
