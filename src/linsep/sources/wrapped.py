"""A source around another one: every question is passed on, until a subclass answers some of them itself."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from linsep.errors import InputError
from linsep.sources.base import Array, Block, Floats, Ints, Scan, Source


class WrappedSource(Source):
    """The same rows under the same names."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.labels, self.columns = source.labels, source.columns
        self.rows_left_out, self.decimal_places = source.rows_left_out, source.decimal_places
        self.scales, self.is_decimal = source.scales, source.is_decimal
        self.is_in_parts = source.is_in_parts

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """The scan of the source."""
        return self._source.scan(w, b, worst=worst)

    def scan_parts(self, w: Floats, b: float, *, worst: int = 0, start: int = 0) -> Iterator[Scan]:
        """The scans of its parts."""
        return self._source.scan_parts(w, b, worst=worst, start=start)

    def blocks(self) -> Iterator[Block]:
        """Its blocks."""
        return self._source.blocks()

    def blocks_from(self, start: int) -> Iterator[Block]:
        """Its blocks from one on."""
        return self._source.blocks_from(start)

    def shuffled_blocks(self, random: np.random.Generator, start: int | None = None) -> Iterator[Block]:
        """Its blocks in an order of its own."""
        return self._source.shuffled_blocks(random, start)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These of its rows."""
        return self._source.take(rows)

    def sample(self, k: int, seed: int) -> Block:
        """Its sample."""
        return self._source.sample(k, seed)

    def samples(self, sizes: Sequence[int]) -> Iterator[Block]:
        """Its samples."""
        return self._source.samples(sizes)

    @property
    def most_at_hand(self) -> int:
        """How many of its rows may be held at once."""
        return self._source.most_at_hand

    def require_finite(self) -> None:
        """Whether it holds numbers only."""
        self._source.require_finite()

    def has_long_integers(self) -> bool:
        """Whether it holds integers beyond 2^53."""
        return self._source.has_long_integers()

    def integer_bits(self) -> int | None:
        """How long its integers are."""
        return self._source.integer_bits()

    def recall(self, question: str, work: Callable[[], Array], fits: Callable[[Array], bool]) -> Array:
        """What it remembers."""
        return self._source.recall(question, work, fits)

    def fingerprint(self) -> str:
        """Its fingerprint."""
        return self._source.fingerprint()

    def fresh(self) -> Source:
        """Its rows, read anew."""
        return self._source.fresh()

    def from_data(self) -> Source:
        """Its rows without any cache of them."""
        return self._source.from_data()

    def refusal(self, row: int) -> InputError:
        """Why it cannot use this row."""
        return self._source.refusal(row)
