"""The Perceptron on distributed rows: each part learns by itself, and the weights are mixed after every pass.

    Start from W = 0.
    Repeat:  from W, each part i makes one pass of the Perceptron over its own rows, k_i updates, and ends at W_i;
             W = Σ μ_i·W_i.

Theorem (McDonald, Hall and Mann 2010). Let |Z| <= R for every row, let a unit vector U have Z·U >= gamma > 0 for every
row, and let the μ_i of each round be at least 0 and add up to 1. Then the rounds together have Σ μ_i·k_i <= (R/gamma)².

Proof. A pass adds k_i rows to W, each with Z·W <= 0 at that moment. So W_i·U >= W·U + k_i·gamma, and
|W_i|² <= |W|² + k_i·R². Mixed, W·U grows by gamma·Σ μ_i·k_i at least, and |W|² by R²·Σ μ_i·k_i at most, since the
square of a mean is at most the mean of the squares. With K the sum over all rounds, K·gamma <= W·U <= |W| <= sqrt(K)·R.

Here μ_i = k_i / Σ k: a part without a mistake has no weight. A round with a mistake then adds
Σ k_i² / Σ k_i >= 1 to K, so there are at most (R/gamma)² such rounds, however many parts there are. (With μ_i = 1/S
for S parts, S times as many.) A round without a mistake is the end: W separates all rows.

The weights depend on how the rows are partitioned, since each part learns alone, but not on which worker does the work
or when. Each part runs the Perceptron of `perceptron.py`.

McDonald, Hall and Mann, Distributed training strategies for the structured perceptron, NAACL 2010.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linsep import arguments
from linsep.errors import ArgumentError
from linsep.learners.kept_weights import Weights
from linsep.learners.learner import ROW_ORDER
from linsep.loops.scans import ALL_FINE
from linsep.loops.shuffling import shuffled
from linsep.sources.base import Array, Block, Ints, Source, refusal

if TYPE_CHECKING:
    from linsep.learners.perceptron import Perceptron


class Mixing:
    """A Perceptron on the parts of a source, round after round."""

    def __init__(self, source: Source, perceptron: "Perceptron", *, max_passes: int) -> None:
        if perceptron.keep == "vote":
            raise ArgumentError(
                "keep is 'vote': the parts on a cluster learn side by side, so their weights have no order to vote in.",
                fix="Choose 'average', 'best' or 'last'.",
            )
        if perceptron.rule != "perceptron":
            raise ArgumentError(
                f"rule is {perceptron.rule!r}: on a cluster, only weights of the Perceptron itself are known to mix.",
                fix="Choose rule='perceptron'.",
            )
        self.source, self.perceptron, self.max_passes = source, perceptron, arguments.cap("max_passes", max_passes)
        self.mistakes_per_row: Ints | None = None  # there may be more rows than memory can hold
        if perceptron.keep == "best":
            perceptron.pocket.begin(source, perceptron.updates)

    def run(self) -> "Mixing":
        """Do rounds until one has no mistake, or until the limit of passes."""
        perceptron, rounds, converged = self.perceptron, 0, False
        while not converged and rounds < self.max_passes:
            passes = self._round(perceptron.passes + rounds)
            rounds += 1
            converged = not passes.updates and self._is_right(passes)
            if not passes.updates and not converged:
                break  # no round changes a mistake that rounding hides
            if perceptron.keep == "best" and not converged:
                perceptron.pocket.end(self.source, perceptron.weights, 0, is_clean=False)
        perceptron.passes, perceptron.converged = perceptron.passes + rounds, converged
        if perceptron.keep == "best" and converged:
            perceptron.pocket.end(self.source, perceptron.weights, 0, is_clean=True)
        return self

    def _round(self, number: int) -> "Passes":
        """One pass of every part from the same weights, and their mixture as the weights of the run."""
        perceptron = self.perceptron
        work = partial(one_pass, Part.of(perceptron, len(self.source.facts.labels), number))
        total: Passes | None = None
        for passes in self.source.each(work):
            if passes.bad is not None:
                raise refusal(self.source, passes.bad)
            total = passes if total is None else total + passes
        assert total is not None  # there is a part
        before, walked = perceptron.weights, perceptron.walked + total.rows
        perceptron.weights = total.mixed(before)
        if perceptron.keep == "average":
            W, b = perceptron.weights.W, perceptron.weights.b
            W_so_far = before.W * perceptron.walked - perceptron.lag.W + total.W_walked
            b_so_far = before.b * perceptron.walked - perceptron.lag.b + total.b_walked
            perceptron.lag = Weights(W * walked - W_so_far, b * walked - b_so_far)
        perceptron.walked, perceptron.updates = walked, perceptron.updates + total.updates
        return total

    def _is_right(self, passes: "Passes") -> bool:
        """Whether weights that made no mistake are right without rounding too; for two classes, as in the Learner."""
        weights = self.perceptron.weights
        if passes.is_sure or self.perceptron.margin or len(weights.b) > 1:
            return True
        scan = self.source.scan(weights.W[0], float(weights.b[0]))
        return not (scan.certain or scan.doubtful.size)


@dataclass(frozen=True)
class Part:
    """What a part must know to make its pass: the weights, and how the Perceptron is run."""

    n_classes: int
    weights: Weights
    keep_average: bool
    is_shuffled: bool
    bias: bool
    margin: float
    seed: tuple[int, int]

    @classmethod
    def of(cls, perceptron: "Perceptron", n_classes: int, number: int) -> "Part":
        """The same for every part of a round."""
        seed = int(perceptron.random.bit_generator.seed_seq.generate_state(1)[0])
        is_average = perceptron.keep == "average"
        is_shuffled, bias = perceptron.order == "shuffled", bool(perceptron.bias)
        weights = perceptron.weights.as_floats()
        return cls(n_classes, weights, is_average, is_shuffled, bias, perceptron.margin, (seed, number))


class Passes(NamedTuple):
    """The result of passes over some parts; results of several parts are added up, in their order."""

    rows: int | float  # or the sum of their weights
    updates: int
    is_sure: bool
    bad: int | None  # a row whose score is not a number
    W_mistaken: Array  # the weights at the end, times the updates
    b_mistaken: Array
    W_walked: Array  # the weights of every step added up, for the average
    b_walked: Array

    def __add__(self, other: "Passes") -> "Passes":  # type: ignore[override]
        sums = [a + b for a, b in zip(self[4:], other[4:], strict=True)]
        bad = other.bad if self.bad is None else self.bad
        is_sure = self.is_sure and other.is_sure
        return Passes(self.rows + other.rows, self.updates + other.updates, is_sure, bad, *sums)

    def mixed(self, before: Weights) -> Weights:
        """The weights of the parts, mixed by their mistakes; those before the round if there were none."""
        if not self.updates:
            return before
        return Weights(self.W_mistaken / self.updates, self.b_mistaken / self.updates)


def one_pass(part: Part, block: Block) -> Passes:
    """One pass over the rows of a part, from the weights given."""
    from linsep.learners.perceptron import Perceptron

    learner = Perceptron(
        part.n_classes,
        block.n_columns,
        keep="average" if part.keep_average else "last",
        bias=part.bias,
        margin=part.margin,
    )
    learner.weights, learner.is_sure = part.weights.copy(), True
    order = ROW_ORDER
    if part.is_shuffled:
        order = shuffled(np.random.default_rng((*part.seed, int(block.numbers[0]))), len(block))
    end = learner.learn(block, np.zeros(len(block), np.int64), order)
    n, k, (W, b) = learner.walked, learner.updates, (learner.weights.W, learner.weights.b)
    bad = None if end.bad == ALL_FINE else int(block.numbers[end.bad])
    walked = (n * W - learner.lag.W, n * b - learner.lag.b) if part.keep_average else (np.zeros(0), np.zeros(0))
    return Passes(n, k, learner.is_sure, bad, k * W, k * b, *walked)
