"""A run of the Perceptron as arrays, and back: the weights, the counts, and where the walk stands.

A run that resumes from such a state makes the same updates as one that was never stopped. The order of a shuffled
block is not stored but drawn again, from the same state of the random numbers.
"""

from typing import Any

import numpy as np

from linsep.errors import CheckpointError
from linsep.learners.checkpoints import Arrays, Key, key
from linsep.learners.kept_weights import CANDIDATES, Candidate, Pocket, Weights
from linsep.learners.learner import Learner, WalkPlace
from linsep.sources.base import Array

WORD = (1 << 64) - 1
COUNTS, NUMBERS, WORDS = (np.int64,), (np.int64, np.float64), (np.uint64,)
ANY, WIDTH = -1, -2  # lengths: any, and that of a row
SHAPES: dict[str, tuple[tuple[type, ...], tuple[int, ...]]] = {
    "w": (NUMBERS, (WIDTH,)),
    "b": (NUMBERS, (1,)),
    "run": (COUNTS, (1,)),
    "pocket": (COUNTS, (5,)),
    "held_w": (NUMBERS, (ANY, WIDTH)),
    "held_b": (NUMBERS, (ANY,)),
    "held_runs": (COUNTS, (ANY,)),
    "counts": (COUNTS, (2,)),
    "rows": (COUNTS, (ANY,)),
    "mistakes": (COUNTS, (ANY,)),
    "place": (COUNTS, (ANY,)),
    "random": (WORDS, (6,)),
    "begun": (WORDS, (6,)),
}


def question(learner: Learner, seed: int | None) -> Key:
    """Which run it is: the caps may change between a stop and the next start, the other options may not."""
    return key(learner.order, learner.bias, seed)


def state(learner: Learner) -> dict[str, Array]:
    """The run between two yields of its walk."""
    place = learner.place
    per_row = np.zeros(0, np.int64) if learner.mistakes_per_row is None else learner.mistakes_per_row
    made = np.flatnonzero(per_row)
    pocket = learner.perceptron.pocket
    return {
        "w": learner.w.copy(),
        "b": learner.b.copy(),
        **_held(pocket, learner.perceptron.run),
        "counts": np.array([learner.rows_read, learner.updates], np.int64),
        "rows": made.astype(np.int64),
        "mistakes": per_row[made],
        "place": np.array(place[:4] if place else [], np.int64),
        "random": _words(place.random if place and place.random else learner.random_state),
        "begun": _words(place.begun if place and place.begun else learner.random_state),
    }


def restore(learner: Learner, arrays: Arrays) -> None:
    """Put a new learner where another one stopped; if the arrays do not fit, CheckpointError and no change."""
    _require_fit(learner, arrays)
    perceptron, counts, place = learner.perceptron, arrays["counts"].tolist(), arrays["place"].tolist()
    random, begun = (_random(arrays[name].tolist()) for name in ("random", "begun"))
    perceptron.weights = Weights(arrays["w"].reshape(1, -1), arrays["b"])
    perceptron.pocket = _read_pocket(arrays)
    learner.rows_read, perceptron.updates = counts
    perceptron.walked, perceptron.run = learner.rows_read, int(arrays["run"][0])
    if learner.mistakes_per_row is not None:
        learner.mistakes_per_row[:] = 0
        learner.mistakes_per_row[arrays["rows"]] = arrays["mistakes"]
    learner.random_state = random
    before, block, length, position = place or (0, 0, 0, 0)
    learner.place = WalkPlace(before, block, length, position, random, begun) if place else None


def _require_fit(learner: Learner, arrays: Arrays) -> None:
    width, n_rows = learner.source.n_columns, learner.source.n_rows
    for name, (types, shape) in SHAPES.items():
        if name not in arrays:
            raise CheckpointError(f"The run has no {name!r}: starting over.")
        array, wanted = arrays[name], tuple(width if length == WIDTH else length for length in shape)
        if (
            array.dtype not in types
            or array.ndim != len(shape)
            or any(length not in (ANY, found) for length, found in zip(wanted, array.shape, strict=True))
        ):
            raise CheckpointError("The run does not fit these rows: starting over.")
    w, b, rows, mistakes, place = (arrays[name] for name in ("w", "b", "rows", "mistakes", "place"))
    held, held_b, runs = arrays["held_w"], arrays["held_b"], arrays["held_runs"]
    fits = (
        w.dtype == b.dtype
        and held.dtype == held_b.dtype
        and all(np.isfinite(numbers).all() for numbers in (w, b, held, held_b))
        and (arrays["counts"] >= 0).all()
        and (arrays["pocket"][:4] >= 0).all()
        and ((rows >= 0) & (rows < n_rows)).all()
        and rows.shape == mistakes.shape
        and (mistakes > 0).all()
        and 1 <= len(runs) == len(held) == len(held_b) <= 1 + CANDIDATES
        and _is_place(place.tolist(), n_rows)
    )
    if not fits:
        raise CheckpointError("The run does not fit these rows: starting over.")
    if w.dtype == np.int64 and not learner.perceptron.is_exact():
        raise CheckpointError("The run was in integers, and these rows are not integers: starting over.")


def _held(pocket: Pocket, run: int) -> dict[str, Array]:
    """The best weights of the run and the candidates, one below the other."""
    kept = [Candidate(pocket.weights, pocket.run), *pocket.held]
    return {
        "run": np.array([run], np.int64),
        "pocket": np.array([pocket.mistakes, pocket.passes, pocket.updates, pocket.fewest, pocket.longest], np.int64),
        "held_w": np.concatenate([candidate.weights.W for candidate in kept]),
        "held_b": np.concatenate([candidate.weights.b for candidate in kept]),
        "held_runs": np.array([candidate.run for candidate in kept], np.int64),
    }


def _read_pocket(arrays: Arrays) -> Pocket:
    w, b, runs = arrays["held_w"], arrays["held_b"], arrays["held_runs"].tolist()
    first, *held = (Candidate(Weights(w[k : k + 1], b[k : k + 1]), run) for k, run in enumerate(runs))
    mistakes, passes, updates, fewest, longest = arrays["pocket"].tolist()
    return Pocket(first.weights, first.run, mistakes, held, passes, updates, fewest, longest)


def _is_place(place: list[int], n_rows: int) -> bool:
    if len(place) != 4:
        return not place
    before, block, length, position = place
    return before >= 0 and block >= 0 and 0 <= position <= length and length > 0 and block + length <= n_rows


def _words(state: dict[str, Any]) -> Array:
    """The state of NumPy's generator PCG64, in words of 64 bits."""
    inner = state["state"]
    halves = [number >> shift & WORD for number in (inner["state"], inner["inc"]) for shift in (64, 0)]
    return np.array([*halves, state["has_uint32"], state["uinteger"]], np.uint64)


def _random(words: list[int]) -> dict[str, Any]:
    high, low, step_high, step_low, has_half, half = words
    inner = {"state": high << 64 | low, "inc": step_high << 64 | step_low | 1}
    return {"bit_generator": "PCG64", "state": inner, "has_uint32": has_half & 1, "uinteger": half & 0xFFFFFFFF}
