"""What a page may ask for: every field checked, nothing else let in.

A request comes from a browser, so it is hostile until it has been read here.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError

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
    fields = _fields(body, {"points", "labels", "order", "bias", "seed", "updates"})
    points, labels = fields.pop("points", None), fields.pop("labels", None)
    if not isinstance(points, list) or not isinstance(labels, list) or len(points) != len(labels):
        raise ArgumentError("points and labels must be two lists of the same length.")
    if len(points) > MOST_POINTS:
        raise ArgumentError(f"{len(points):,} points: the page draws at most {MOST_POINTS:,}.")
    for place, (point, label) in enumerate(zip(points, labels, strict=True)):
        if not (isinstance(point, list) and len(point) == 2 and all(map(_is_coordinate, point))):
            raise ArgumentError(f"Point {place} must be two numbers of at most {LARGEST:g} in size.")
        if not _is_whole(label) or label not in (-1, 1):
            raise ArgumentError(f"The label of point {place} must be -1 or 1.")
    X = np.array(points, dtype=np.float64).reshape(len(points), 2)
    return PointsRequest(X, np.array(labels, dtype=np.int64), _run(fields))


def read_run(body: Any) -> RunRequest:
    """A run on rows that the server holds itself."""
    return _run(_fields(body, {"order", "bias", "seed", "updates"}))


def read_box(body: Any) -> tuple[PointsRequest, tuple[float, float, float, float]]:
    """Points, a run, and the part of the plane that is on view: left, right, bottom, top."""
    if not isinstance(body, dict):
        raise ArgumentError("A request is a JSON object.")
    box = body.get("box")
    if not (isinstance(box, list) and len(box) == 4 and all(map(_is_coordinate, box))):
        raise ArgumentError("box must be four numbers: left, right, bottom, top.")
    left, right, bottom, top = map(float, box)
    if not (left < right and bottom < top):
        raise ArgumentError("box must be left < right, bottom < top.")
    return read_points({key: value for key, value in body.items() if key != "box"}), (left, right, bottom, top)


def read_whole(body: Any, name: str, most: int) -> int:
    """One whole number from 0 to `most`."""
    value = _fields(body, {name}).get(name)
    return _whole(value, name, 0, most)


def read_look(body: Any, most: int) -> LookRequest:
    """Two columns to look along, or null for the separation view; and which hyperplane to look across."""
    fields = _fields(body, {"columns", "order", "bias", "seed", "update"})
    columns, update = fields.pop("columns", None), fields.pop("update", None)
    if update is not None:
        update = _whole(update, "update", 0, MOST_UPDATES)
    if columns is None:
        return LookRequest(None, _run(fields), update)
    if not (isinstance(columns, list) and len(columns) == 2):
        raise ArgumentError("columns must be two positions, or null for the separation view.")
    return LookRequest((_whole(columns[0], "columns", 0, most), _whole(columns[1], "columns", 0, most)), _run(fields))


def _run(fields: dict[str, Any]) -> RunRequest:
    order, bias = fields.get("order", "cyclic"), fields.get("bias", True)
    if order not in get_args(Order):
        raise ArgumentError(f"order must be one of {', '.join(get_args(Order))}.")
    if not isinstance(bias, bool):
        raise ArgumentError("bias must be true or false.")
    seed = _whole(fields.get("seed", 0), "seed", 0, LARGEST_SEED)
    return RunRequest(order, bias, seed, _whole(fields.get("updates", UPDATES), "updates", 1, MOST_UPDATES))


def _fields(body: Any, known: set[str]) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise ArgumentError("A request is a JSON object.")
    if not body.keys() <= known:
        raise ArgumentError(f"A request has the fields {', '.join(sorted(known))}, and no others.")
    return dict(body)


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if not _is_whole(value) or not least <= value <= most:
        raise ArgumentError(f"{name} must be a whole number from {least} to {most:,}.")
    return int(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_coordinate(value: Any) -> bool:
    return _is_number(value) and abs(value) <= LARGEST  # NaN is no such number


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
