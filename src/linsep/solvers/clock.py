"""How long a search may take, how often it has read the data, and what it knows if it must stop."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from linsep.deadline import limited
from linsep.proofs import Obstruction

LAST_STEPS_S, LAST_STEPS = 10.0, 2.0  # for what follows a limit: seconds, or this many times the limit if that is more


class OutOfTime(Exception):  # noqa: N818 - not an error: the answer is then Undecided
    """The time limit is over."""


@dataclass(slots=True)
class Clock:
    """Counts seconds and reads of the whole data; `check` raises OutOfTime past the limit.

    `support` holds the numbers of the rows that mattered last, with positive weights: they bound the margin from above.
    `obstruction` is the first one found: from then on the rows are known not to be separable.
    `refused` is how many seconds the last step that was skipped for lack of time would have taken.
    `in_doubt` is called once, when it first seems that the rows are not separable.
    `watch` is called with the clock whenever the search checks it or learns a bound; `bounds` are those on the margin,
    in floats. `stated` is the limit that the user gave, if this one is a part of it.
    """

    limit: float | None = None
    reads: int = 0
    support: tuple[tuple[int, float], ...] = ()
    obstruction: Obstruction | None = None
    watch: "Callable[[Clock], None] | None" = None
    bounds: tuple[float, float] = (0.0, math.inf)
    refused: float = 0.0
    in_doubt: Callable[[], object] | None = None
    start: float = field(default_factory=time.perf_counter)
    stated: float | None = None

    def __post_init__(self) -> None:
        self.stated = self.limit if self.stated is None else self.stated

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float | None:
        """Seconds until the limit, never below 0; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.seconds)

    def require(self, seconds: float) -> None:
        """Raise OutOfTime unless this many seconds are left."""
        if self.limit is not None and self.seconds + seconds > self.limit:
            self.refused = seconds
            raise OutOfTime

    def part(self, share: float) -> "Clock":
        """A clock of its own for this share of the seconds that are left."""
        return Clock(None if self.left is None else share * self.left, stated=self.stated)

    def rest(self) -> "Clock":
        """A clock of its own, watched as this one is, for the seconds that are left."""
        return Clock(self.left, watch=self.watch, stated=self.stated)

    def keep(self, seconds: float) -> None:
        """Reserve seconds for what comes after the search, by moving the limit forward."""
        self.limit = None if self.limit is None else self.limit - seconds

    def limited(self) -> AbstractContextManager[None]:
        """While this is open, exact arithmetic respects this limit too."""
        return nullcontext() if self.limit is None else limited(self.require)

    def late(self) -> AbstractContextManager[None]:
        """While this is open, a cluster may finish the last steps after the limit, but not take as long as it likes."""
        if self.limit is None or self.stated is None:
            return nullcontext()
        last = Clock(self.limit + max(LAST_STEPS_S, LAST_STEPS * self.stated), start=self.start)
        return limited(last.require)

    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self.limit is not None and self.seconds > self.limit

    def saw(self, low: float = 0.0, high: float = math.inf) -> None:
        """Note bounds on the margin."""
        self.bounds = max(low, self.bounds[0]), min(high, self.bounds[1])
        if self.watch is not None:
            self.watch(self)

    def met(self, obstruction: Obstruction | None) -> None:
        """Note an obstruction, unless one is known."""
        self.obstruction = self.obstruction or obstruction

    def doubt(self) -> None:
        """Note that the rows do not seem to be separable."""
        if self.in_doubt is not None:
            call, self.in_doubt = self.in_doubt, None
            call()

    def check(self) -> None:
        """Raise OutOfTime if the limit has passed."""
        if self.watch is not None:
            self.watch(self)
        if self.is_over():
            raise OutOfTime
