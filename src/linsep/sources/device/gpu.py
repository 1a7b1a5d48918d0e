"""Rows on a GPU: each question is one read there, and only small answers come back.

    scan       scores in doubles, and of each tile of rows a few numbers: the lowest score of each class, how many
               rows are wrong, how many are too near to tell. The worst rows are in the tiles with the lowest scores,
               those in doubt in tiles that have some: these few tiles are read again, and settled exactly.
    take       gathered on the GPU, then copied here
    blocks     copied here piece by piece: reading all rows takes as long as the bus does

The tiles are filled by a Triton kernel on CUDA, and by PyTorch anywhere else.
"""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, OutOfMemoryError, shown
from linsep.exact import rounding_factor
from linsep.faults import fault
from linsep.loops.layouts import Dense
from linsep.sources.base import MOST_BITS, Block, Facts, Floats, Ints, Scan, Signs, Source, Table, refusal
from linsep.sources.device.device_tables import (
    DenseTable,
    DeviceTable,
    Tiles,
    copied_table,
    device_labels,
    device_table,
)
from linsep.sources.inputs import as_classes
from linsep.sources.memory import MemorySource
from linsep.tables import is_on_device

TILE = 1 << 16  # entries of a tile of rows
LEAST_TILE, LARGEST_TILE, MANY_TILES = 32, 2048, 1024
PIECE = 1 << 25  # bytes of rows that are copied here together
AT_HAND = 1 << 27  # bytes of rows that may be held here at once
LOOKED_AT = 1 << 20  # rows read again together
TINY = 2.0**-1074


def on_device(X: Any, y: Any = None, *, device: str = "cuda") -> Source:
    """Rows and labels on a GPU, as a source for any question.

    Arrays of PyTorch, CuPy or JAX that are on the GPU already stay there, without a copy. Others are read as `decide`
    reads them and copied to the GPU. Needs PyTorch, the extra `gpu`.

    Parameters
    ----------
    X : the rows
        An array or a CSR tensor on a GPU, or what `decide` takes.
    y : their labels
        One for each row, on the GPU or not. A source brings its own.
    device : str
        Where to put rows that are not on a GPU, as PyTorch names devices; "cpu" is this machine.

    Returns
    -------
    Source
        The same rows, which are scanned on the device.

    Raises
    ------
    InputError
        The data cannot be used.
    OutOfMemoryError
        The device has no room for the rows.
    """
    torch = _torch()
    if is_on_device(X):
        return _taken_as_is(torch, X, y)
    if isinstance(X, torch.Tensor):
        return _taken_as_is(torch, _moved(torch, X, device), y)
    source = as_classes(X, y)
    if isinstance(source, DeviceSource):
        return source
    if not isinstance(source, MemorySource):
        raise ArgumentError("Only rows in memory can be put on a device, not those of files or clusters.")
    place = _place(torch, device)
    try:
        table = copied_table(torch, source.table, source.n_columns, place)
        signs = torch.from_numpy(np.array(source.y)).to(place)
    except torch.OutOfMemoryError as error:
        raise OutOfMemoryError(
            f"The rows take {_bytes_of(source.table) / 1e9:,.1f} GB, and {shown(device)} has no room for them."
        ) from error
    return DeviceSource(table, signs, source.facts)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise ArgumentError("Rows on a GPU need PyTorch, which is not installed: pip install linsep[gpu].") from None


def _place(torch: Any, device: str) -> Any:
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ArgumentError(f"device is {shown(device)}: PyTorch does not know this device.") from error
    if place.type == "meta":
        raise ArgumentError(f"device is {shown(device)}, which holds no numbers.")
    _require_doubles(torch, place, f"device is {shown(device)}", 'Say device="cpu" to compute on this machine.')
    return place


def _require_doubles(torch: Any, place: Any, what: str, fix: str) -> None:
    """Refuse a device that is missing, or that has no doubles, such as Apple's."""
    try:
        torch.empty(0, dtype=torch.float64, device=place)
    except Exception as error:  # each kind of device has its own
        raise ArgumentError(
            f"{what}, but PyTorch finds no GPU of that kind here, or none with doubles.", fix=fix
        ) from error


def _moved(torch: Any, X: Any, device: str) -> Any:
    """A tensor of this machine, copied there."""
    place = _place(torch, device)
    try:
        return X.detach().to(place)
    except torch.OutOfMemoryError as error:
        raise OutOfMemoryError(
            f"The rows take {X.numel() * X.element_size() / 1e9:,.1f} GB, and {shown(device)} has no room for them."
        ) from error


def _bytes_of(table: Table) -> int:
    return int(table.values.nbytes if isinstance(table, Dense) else table.data.nbytes + table.indices.nbytes)


def _taken_as_is(torch: Any, X: Any, y: Any) -> "DeviceSource":
    if y is None:
        raise ArgumentError("y is missing: each row of X needs a label.")
    table = device_table(torch, X)
    _require_doubles(torch, table.place, f"X is on {shown(str(table.place))}", "Copy it here with X.cpu().")
    n_rows, n_columns = table.shape
    if not n_rows:
        raise fault("array rows", name="X")
    if not n_columns:
        raise fault("array columns", name="X")
    signs, labels = device_labels(torch, y, n_rows, table.place)
    bits = table.integer_bits()
    numbers: Any = "exact-integers" if bits is not None and bits > MOST_BITS else "binary64"
    return DeviceSource(table, signs, Facts(n_rows, n_columns, labels, numbers=numbers, integer_bits=bits))


class DeviceSource(Source):
    """A table on a device, with its labels there. Values must be finite, which one read checks first."""

    def __init__(self, table: DeviceTable, y: Any, facts: Facts) -> None:
        self.table, self.y = table, y
        self.torch = _torch()
        n_rows = facts.n_rows
        self._tile = LARGEST_TILE
        while self._tile > LEAST_TILE and (self._tile * facts.n_columns > TILE or n_rows < self._tile * MANY_TILES):
            self._tile //= 2
        at_hand = max(1, AT_HAND // max(1, table.row_bytes))
        self.facts = replace(facts, is_finite=True, at_hand=min(at_hand, n_rows))
        self._longest2 = 0.0
        zeros = np.zeros(facts.n_columns)  # multiplied by a value that is not finite, they give NaN
        tiles = self._tiles(zeros, 0.0, 0.0, lengths=True)
        self._refuse_strange(tiles, zeros, 0.0)
        self._longest2 = float(tiles.longest.amax())

    @property
    def nbytes(self) -> int:
        """About how many bytes the rows take."""
        return self.n_rows * self.table.row_bytes

    def scan(self, w: Floats, b: float, *, worst: int = 0) -> Scan:
        """One read, and a second one of the few tiles that matter; no row is left in doubt."""
        w, b = np.ascontiguousarray(w, dtype=np.float64), float(b)
        tiles = self._tiles(w, b, self._near(w, b))
        self._refuse_strange(tiles, w, b)
        rows, scores = self._worst(tiles, w, b, worst)
        return Scan(
            rows=self.n_rows,
            mistakes=int(tiles.mistakes.sum()),
            certain=self._certain(tiles, w, b),
            lowest=(float(tiles.minus.amin()), float(tiles.plus.amin())),
            longest2=self._longest2,
            wanted=worst,
            worst=self.take(rows),
            worst_scores=scores,
            doubtful=np.zeros(0, np.int64),
        )

    def blocks(self, random: np.random.Generator | None = None) -> Iterator[Block]:
        """The rows, copied here piece by piece."""
        step = max(1, PIECE // max(1, self.table.row_bytes))
        for start in range(0, self.n_rows, step):
            stop = min(start + step, self.n_rows)
            part = slice(start, stop)
            yield Block(self.table.fetched(part), self.y[part].cpu().numpy(), range(start, stop), self.n_columns)

    def take(self, rows: Sequence[int] | Ints) -> Block:
        """These rows, gathered on the device and copied here."""
        numbers = np.asarray(rows, dtype=np.int64)
        index = self.torch.from_numpy(np.array(numbers)).to(self.table.place)
        return Block(self.table.fetched(index), self.y[index].cpu().numpy(), numbers, self.n_columns)

    def signs_of(self, rows: Sequence[int] | Ints) -> Signs:
        """Only the labels of these rows."""
        return np.asarray(
            self.y[self.torch.from_numpy(np.array(rows, dtype=np.int64)).to(self.table.place)].cpu().numpy()
        )

    def there(self, rows: Sequence[int] | Ints, columns: Ints | None = None) -> tuple[Any, Any] | None:
        """These rows, or some columns of them, and their signs, as tensors on the device; None for sparse rows."""
        if not isinstance(self.table, DenseTable):
            return None
        index = self.torch.from_numpy(np.array(rows, dtype=np.int64)).to(self.table.place)
        values = self.table.values[index]
        if columns is not None and len(columns) < self.n_columns:
            values = values[:, self.torch.from_numpy(np.array(columns)).to(self.table.place)]
        return values, self.y[index]

    def _near(self, w: Floats, b: float) -> float:
        """Scores up to this size may have the wrong sign (Cauchy and Schwarz; see `loops.scans`)."""
        terms = self.n_columns + 4
        with np.errstate(all="ignore"):
            length = float(np.sqrt(np.square(w).sum())) + abs(b)
        if not 1e-140 < length < 1e140:
            length = float(np.abs(w).sum()) + abs(b)
        near = 2.001 * rounding_factor(terms) * length * float(np.sqrt(self._longest2 + 1.0)) + 2 * terms * TINY
        return near if near < np.inf else np.inf  # NaN is not a limit

    def _tiles(self, w: Floats, b: float, near: float, *, lengths: bool = False) -> Tiles:
        """What one read says about all tiles."""
        torch, place = self.torch, self.table.place
        tiles = Tiles.empty(torch, -(-self.n_rows // self._tile), place)
        weights = torch.from_numpy(np.append(w, [b, near])).to(place)
        if isinstance(self.table, DenseTable) and place.type == "cuda" and (kernels := _kernels()):
            options: Any = {"tile": self._tile, "lengths": lengths}
            kernels.scan(self.table.values, self.y, weights, tiles, **options)
        else:
            self._fill(tiles, weights[:-2], b, near, lengths)
        return tiles

    def _fill(self, tiles: Tiles, w: Any, b: float, near: float, lengths: bool) -> None:
        """The same in PyTorch, some rows at a time."""
        step = max(self._tile, LOOKED_AT // self._tile * self._tile)
        for start in range(0, self.n_rows, step):
            rows = slice(start, min(start + step, self.n_rows))
            y, scores = self.y[rows], self.table.scores(rows, w)
            scores = (scores + b) * y
            first = start // self._tile
            mine = slice(first, first + -(-len(scores) // self._tile))
            is_finite = scores.isfinite()
            low = self.torch.where(is_finite, scores, np.inf)
            tiles.minus[mine] = self._by_tile(self.torch.where(y < 0, low, np.inf), np.inf).amin(dim=1)
            tiles.plus[mine] = self._by_tile(self.torch.where(y > 0, low, np.inf), np.inf).amin(dim=1)
            tiles.mistakes[mine] = self._by_tile(low <= 0, False).sum(dim=1).int()
            tiles.certain[mine] = self._by_tile(low < -near, False).sum(dim=1).int()
            tiles.doubtful[mine] = self._by_tile(low.abs() <= near, False).sum(dim=1).int()
            tiles.strange[mine] = self._by_tile(~is_finite, False).sum(dim=1).int()
            if lengths:
                tiles.longest[mine] = self._by_tile(self.table.lengths2(rows), 0.0).amax(dim=1)

    def _by_tile(self, values: Any, filler: Any) -> Any:
        """The values with one line for each tile; the last one is padded."""
        missing = -len(values) % self._tile
        if missing:
            values = self.torch.cat([values, values.new_full((missing,), filler)])
        return values.view(-1, self._tile)

    def _refuse_strange(self, tiles: Tiles, w: Floats, b: float) -> None:
        """Name the first row that has no finite score, if there is one."""
        odd = tiles.strange.nonzero()
        if len(odd):
            rows = self._rows_of(odd[0])
            scores = self._scores_at(rows, self.torch.from_numpy(w).to(self.table.place), b)
            raise refusal(self, int(rows[~scores.isfinite()][0]))

    def _rows_of(self, tiles: Any) -> Any:
        """The numbers of the rows of some tiles."""
        rows = (tiles[:, None] * self._tile + self.torch.arange(self._tile, device=self.table.place)).view(-1)
        return rows[rows < self.n_rows]

    def _scores_at(self, rows: Any, w: Any, b: float) -> Any:
        return self.torch.cat([(self.table.scores(some, w) + b) * self.y[some] for some in rows.split(LOOKED_AT)])

    def _worst(self, tiles: Tiles, w: Floats, b: float, wanted: int) -> tuple[Ints, Floats]:
        """The rows with the lowest scores, found in the `wanted` tiles whose lowest scores are lowest."""
        if not wanted:
            return np.zeros(0, np.int64), np.zeros(0)
        torch = self.torch
        lowest = torch.minimum(tiles.minus, tiles.plus)
        count = min(wanted, len(lowest))
        last = torch.topk(lowest, count, largest=False).values.amax()
        below = (lowest < last).nonzero()[:, 0]
        chosen = torch.cat([below, (lowest == last).nonzero()[: count - len(below), 0]])
        rows = self._rows_of(chosen.sort().values)
        weights = torch.from_numpy(w).to(self.table.place)
        scores = self._scores_at(rows, weights, b)
        if wanted < len(rows):
            enough = scores <= torch.topk(scores, wanted, largest=False).values.amax()
            rows, scores = rows[enough], scores[enough]
        numbers, found = rows.cpu().numpy(), scores.cpu().numpy()
        order = np.lexsort((numbers, found))[:wanted]
        return numbers[order], found[order]

    def _certain(self, tiles: Tiles, w: Floats, b: float) -> int:
        """How many rows are not strictly on their side. Tiles with a row in doubt are counted again, exactly."""
        is_open = tiles.doubtful > 0
        wrong = int(tiles.certain[~is_open].sum())
        if not w.any() and not b:
            return self.n_rows
        torch, near = self.torch, self._near(w, b)
        weights = torch.from_numpy(w).to(self.table.place)
        held = max(1, self.facts.at_hand or 1)
        for some in is_open.nonzero()[:, 0].split(max(1, min(LOOKED_AT, held) // self._tile)):
            rows = self._rows_of(some)
            scores = self._scores_at(rows, weights, b)
            close = rows[scores.abs() <= near]
            wrong += int((scores < -near).sum())
            wrong += int(np.count_nonzero(self.take(close.cpu().numpy()).exact_signs(w, b) <= 0))
        return wrong


@cache
def _kernels() -> Any:
    """The compiled scan; None without Triton."""
    try:
        return importlib.import_module("linsep.loops.triton_scan")
    except ImportError:
        return None
