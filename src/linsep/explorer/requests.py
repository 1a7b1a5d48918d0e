"""What a page may ask for: every field checked, nothing else let in.

A request comes from a browser, so it is hostile until it has been read here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError
from linsep.storage.strict import Document, FieldError, Reader, each, flag, mapping, number, optional, whole, word

Order = Literal["cyclic", "restart", "shuffled", "worst"]

MOST_POINTS = 2_000
UPDATES = 500  # recorded unless the page asks for more: they are what an answer costs
MOST_UPDATES = 5_000
LARGEST = 1e9  # of a coordinate: beyond it a picture says nothing
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
    """How rows of any width are to be looked at: along two columns, or across a hyperplane.

    The hyperplane is the one the verdict names, or the Perceptron's after `update` updates of the run.
    """

    columns: tuple[int, int] | None
    run: RunRequest
    update: int | None = None


@dataclass(frozen=True, slots=True)
class PointsRequest:
    """Points of the plane with labels -1 and +1, and the run on them."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.int64]
    run: RunRequest


def read_points(body: Any) -> PointsRequest:
    """Points and a run, as the page sends them."""
    return _points(_asked(body, {**_DRAWN, **_RUN}, ("points", "labels")))


def read_run(body: Any) -> RunRequest:
    """A run on rows that the server holds itself."""
    return RunRequest(**_asked(body, _RUN))


def read_box(body: Any) -> tuple[PointsRequest, tuple[float, float, float, float]]:
    """Points, a run, and the part of the plane that is on view: left, right, bottom, top."""
    readers = {**_DRAWN, "box": each(_coordinate, 4), **_RUN}
    asked = _asked(body, readers, ("points", "labels", "box"))
    left, right, bottom, top = asked.pop("box")
    if not (left < right and bottom < top):
        raise ArgumentError("box must be left < right, bottom < top.")
    return _points(asked), (left, right, bottom, top)


def read_whole(body: Any, name: str, most: int) -> int:
    """One whole number from 0 to `most`."""
    found: int = _asked(body, {name: whole(0, most)}, (name,))[name]
    return found


def read_look(body: Any, most: int) -> LookRequest:
    """Two columns to look along, or null for the separation view; and which hyperplane to look across."""
    readers = {"columns": optional(each(whole(0, most), 2)), "update": optional(whole(0, MOST_UPDATES)), **_RUN}
    del readers["updates"]
    asked = _asked(body, readers)
    columns, update = asked.pop("columns", None), asked.pop("update", None)
    return LookRequest(columns, RunRequest(**asked), None if columns is not None else update)


def _points(asked: Document) -> PointsRequest:
    points, labels = asked.pop("points"), asked.pop("labels")
    if len(points) != len(labels):
        raise ArgumentError("points and labels must be two lists of the same length.")
    X = np.array(points, dtype=np.float64).reshape(len(points), 2)
    return PointsRequest(X, np.array(labels, dtype=np.int64), RunRequest(**asked))


def _asked(body: Any, readers: Mapping[str, Reader], needed: tuple[str, ...] = ()) -> Document:
    """The fields of a request, each as its reader has it: those that are needed, and no others than these."""
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


def _coordinate(value: Any, where: str) -> float:
    if abs(found := number(value, where)) > LARGEST:
        raise FieldError(f"{where} is {found}: a coordinate is at most {LARGEST:g} in size.")
    return found


def _few(value: Any, where: str) -> Any:
    if isinstance(value, list) and len(value) > MOST_POINTS:
        raise FieldError(f"{len(value):,} points: the page draws at most {MOST_POINTS:,}.")
    return each(each(_coordinate, 2))(value, where)


def _label(value: Any, where: str) -> int:
    if whole(-1, 1)(value, where) == 0:
        raise FieldError(f"{where} is 0: a label is -1 or 1.")
    return int(value)


_DRAWN: dict[str, Reader] = {"points": _few, "labels": each(_label)}
_RUN: dict[str, Reader] = {
    "order": word(*get_args(Order)),
    "bias": flag,
    "seed": whole(0, LARGEST_SEED),
    "updates": whole(1, MOST_UPDATES),
}
