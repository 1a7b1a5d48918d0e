"""A run of the Perceptron as arrays, and back: the weights, the counts, and where the walk stands.

A run that goes on from such a state makes the same updates as one that was never stopped. The order of a shuffled
block is not stored but drawn again, from the state of the random numbers that it was drawn from.
"""

from typing import Any

import numpy as np

from linsep.checkpoints import Arrays, Key, key
from linsep.errors import CheckpointError
from linsep.solvers.keeping import CANDIDATES, Candidate, Pocket, Weights
from linsep.solvers.learner import Learner, Place
from linsep.sources.base import Array

WORD = (1 << 64) - 1


def question(learner: Learner, seed: int | None) -> Key:
    """Which run it is: caps may change between a stop and the next start, the walk may not."""
    return key("walk", learner.order, learner.bias, seed)


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
    """Put a new learner where another one stopped; CheckpointError, and nothing changed, if the arrays do not fit."""
    pocket = _read_pocket(learner, arrays)
    try:
        w, b, counts, rows, mistakes, place, random, begun = (
            arrays[name] for name in ("w", "b", "counts", "rows", "mistakes", "place", "random", "begun")
        )
    except KeyError as error:
        raise CheckpointError(f"The run has no {error}: starting over.") from None
    n_rows = learner.source.n_rows
    numbers = w.dtype in (np.int64, np.float64) and w.dtype == b.dtype and w.shape == learner.w.shape
    counted = counts.dtype == mistakes.dtype == np.int64 and counts.shape == (2,) and bool((counts >= 0).all())
    known = _are_rows(rows, n_rows) and rows.shape == mistakes.shape and bool((mistakes > 0).all())
    placed = place.dtype == np.int64 and place.shape in ((0,), (4,)) and _is_place(place.tolist(), n_rows)
    drawn = random.dtype == begun.dtype == np.uint64 and random.shape == begun.shape == (6,)
    is_finite = bool(np.isfinite(w).all() and np.isfinite(b).all())
    if not (numbers and b.shape == (1,) and counted and known and placed and drawn and is_finite):
        raise CheckpointError("The run does not fit these rows: starting over.")
    if w.dtype == np.int64 and not learner.perceptron.is_exact():
        raise CheckpointError("The run was one of integers, and these rows are not: starting over.")
    perceptron = learner.perceptron
    perceptron.weights, perceptron.pocket = Weights(w.reshape(1, -1), b), pocket
    learner.rows_read, perceptron.updates = counts.tolist()
    perceptron.walked, perceptron.run = learner.rows_read, arrays["run"].tolist()[0]
    if learner.mistakes_per_row is not None:
        learner.mistakes_per_row[:] = 0
        learner.mistakes_per_row[rows] = mistakes
    learner.random_state = drawn_from = _random(random.tolist())
    before, block, length, position = place.tolist() or (0, 0, 0, 0)
    learner.place = Place(before, block, length, position, drawn_from, _random(begun.tolist())) if place.size else None


def _are_rows(numbers: Array, n_rows: int) -> bool:
    is_list = numbers.ndim == 1 and numbers.dtype == np.int64
    return is_list and bool(((numbers >= 0) & (numbers < n_rows)).all())


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


def _read_pocket(learner: Learner, arrays: Arrays) -> Pocket:
    try:
        run, counts, w, b, runs = (arrays[name] for name in ("run", "pocket", "held_w", "held_b", "held_runs"))
    except KeyError as error:
        raise CheckpointError(f"The run has no {error}: starting over.") from None
    counted = run.dtype == counts.dtype == runs.dtype == np.int64 and run.shape == (1,) and counts.shape == (5,)
    counted = counted and runs.ndim == 1 and bool((counts[:4] >= 0).all())
    kept = runs.size
    weighed = (
        w.dtype == b.dtype
        and w.dtype in (np.int64, np.float64)
        and w.shape == (kept, learner.source.n_columns)
        and b.shape == (kept,)
    )
    if not (
        counted and weighed and 1 <= kept <= 1 + CANDIDATES and bool(np.isfinite(w).all() and np.isfinite(b).all())
    ):
        raise CheckpointError("The best weights of the run do not fit these rows: starting over.")
    first, *held = (Candidate(Weights(w[k : k + 1], b[k : k + 1]), int(runs[k])) for k in range(kept))
    mistakes, passes, updates, fewest, longest = counts.tolist()
    return Pocket(first.weights, first.run, mistakes, held, passes, updates, fewest, longest)


def _is_place(place: list[int], n_rows: int) -> bool:
    if not place:
        return True
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
