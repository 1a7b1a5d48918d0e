"""Tables and labels on a device as PyTorch tensors, dense or sparse, and what a read says about tiles of rows."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linsep.errors import ArgumentError, ShapeError
from linsep.faults import fault
from linsep.loops.layouts import Csr, Dense
from linsep.sources.base import Label, Table, marks
from linsep.sources.inputs import as_table
from linsep.tables import is_on_device, read_labels
from linsep.tables.label_values import distinct, order_of
from linsep.tables.sparse_tables import MALFORMED


@dataclass(slots=True)
class Tiles:
    """What one read says about each tile of rows: tensors, one number for each tile."""

    minus: Any  # the lowest y·score of class -1
    plus: Any
    mistakes: Any
    certain: Any  # rows certainly on the wrong side
    doubtful: Any  # rows too near the hyperplane to tell
    strange: Any  # rows without a finite score
    longest: Any  # the largest |x|²
    scores: None = None  # the compiled scan can write one for each row, which nothing asks for

    @classmethod
    def empty(cls, torch: Any, count: int, place: Any) -> "Tiles":
        """Room for `count` tiles."""
        floats = torch.empty((3, count), dtype=torch.float64, device=place)
        counts = torch.empty((4, count), dtype=torch.int32, device=place)
        return cls(floats[0], floats[1], counts[0], counts[1], counts[2], counts[3], floats[2])


class DeviceTable(Protocol):
    """Rows on a device, dense or sparse."""

    place: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def row_bytes(self) -> int:
        """About what a row takes."""

    def integer_bits(self) -> int | None:
        """The bits of the largest integer; None for floats."""

    def scores(self, rows: Any, w: Any) -> Any:
        """x·w in doubles, for a slice of the rows or for row numbers."""

    def lengths2(self, rows: Any) -> Any:
        """|x|² in doubles."""

    def fetched(self, rows: Any) -> Table:
        """These rows on this machine."""


class DenseTable:
    """A tensor of two dimensions, row by row."""

    def __init__(self, torch: Any, values: Any) -> None:
        self.torch, self.values, self.place = torch, values, values.device

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.values.shape[0]), int(self.values.shape[1])

    @property
    def row_bytes(self) -> int:
        """How many bytes a row takes."""
        return int(self.values.shape[1] * self.values.element_size())

    def integer_bits(self) -> int | None:
        """The bits of the largest integer; None for floats."""
        return _bits(self.values)

    def scores(self, rows: Any, w: Any) -> Any:
        """x·w in doubles."""
        return self.values[rows].to(self.torch.float64) @ w

    def lengths2(self, rows: Any) -> Any:
        """|x|² in doubles."""
        return self.values[rows].to(self.torch.float64).square().sum(dim=1)

    def has_room(self, needed: float) -> bool:
        """Whether the device has that many bytes free."""
        if self.place.type != "cuda":
            return True
        free, _ = self.torch.cuda.mem_get_info(self.place)
        unused = self.torch.cuda.memory_reserved(self.place) - self.torch.cuda.memory_allocated(self.place)
        return bool(needed < free + unused)

    def fetched(self, rows: Any) -> Table:
        """These rows on this machine; half-precision numbers as float32, which holds them exactly."""
        return as_table(_host(self.torch, self.values[rows]))


class CsrTable:
    """Sparse rows: where each begins, the columns and the values of its entries."""

    def __init__(self, torch: Any, starts: Any, columns: Any, values: Any, n_columns: int) -> None:
        self.torch, self.place = torch, values.device
        self.starts, self.columns, self.values = starts.to(torch.int64), columns.to(torch.int64), values
        self._n_columns = n_columns
        if not self._fits():
            raise ShapeError(MALFORMED)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.starts) - 1, self._n_columns

    @property
    def row_bytes(self) -> int:
        """About what a row takes."""
        return 1 + int(len(self.values) * (8 + self.values.element_size()) // max(1, self.shape[0]))

    def integer_bits(self) -> int | None:
        """The bits of the largest integer; None for floats."""
        return _bits(self.values)

    def scores(self, rows: Any, w: Any) -> Any:
        """x·w in doubles."""
        _, places, lengths = self._places(rows)
        return self._sums(self.values[places].to(self.torch.float64) * w[self.columns[places]], lengths)

    def lengths2(self, rows: Any) -> Any:
        """|x|² in doubles."""
        _, places, lengths = self._places(rows)
        return self._sums(self.values[places].to(self.torch.float64).square(), lengths)

    def fetched(self, rows: Any) -> Table:
        """These rows on this machine."""
        edges, places, _ = self._places(rows)
        data, indices = _host(self.torch, self.values[places]), self.columns[places].cpu().numpy()
        narrow = np.uint32 if self._n_columns < 1 << 32 else np.uint64
        return Csr(data, indices.astype(narrow), edges.cpu().numpy().astype(np.uint64))

    def _fits(self) -> bool:
        """Whether each row ends where the next begins, and each entry is in a column: PyTorch does not check."""
        starts, columns, values = self.starts, self.columns, self.values
        if not len(columns) == len(values) == int(starts[-1]) or int(starts[0]) or bool((starts.diff() < 0).any()):
            return False
        return not len(columns) or (int(columns.amin()) >= 0 and int(columns.amax()) < self._n_columns)

    def _places(self, rows: Any) -> tuple[Any, Any, Any]:
        """For some rows: where the entries of each begin, the places of all entries, and how many each row has."""
        torch = self.torch
        if isinstance(rows, slice):
            starts = self.starts[rows.start : rows.stop + 1]
            return starts - starts[0], slice(int(starts[0]), int(starts[-1])), starts.diff()
        firsts = self.starts[rows]
        lengths = self.starts[rows + 1] - firsts
        edges = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        total = int(edges[-1])
        shifts = torch.repeat_interleave(firsts - edges[:-1], lengths, output_size=total)
        return edges, torch.arange(total, device=self.place) + shifts, lengths

    def _sums(self, products: Any, lengths: Any) -> Any:
        return self.torch.segment_reduce(products, "sum", lengths=lengths, unsafe=True, initial=0.0)


def _bits(values: Any) -> int | None:
    if values.is_floating_point():
        return None
    if not values.numel():
        return 0
    return max(int(values.amax()).bit_length(), int(values.amin()).bit_length())


def _host(torch: Any, values: Any) -> Any:
    narrow = values.dtype in (torch.float16, torch.bfloat16)
    return (values.float() if narrow else values).cpu().numpy()


# Arrays and labels as users give them ---------------------------------------------------------------------


def _tensor(torch: Any, array: Any, name: str) -> Any:
    tensor = array.detach() if isinstance(array, torch.Tensor) else torch.from_dlpack(array)
    if tensor.device.type == "meta":
        raise ArgumentError(f"{name} is on the device 'meta', which holds no numbers.")
    return tensor.resolve_conj().resolve_neg()


def device_table(torch: Any, X: Any) -> DeviceTable:
    """The rows of an array on a device, where they are."""
    if type(X).__module__.startswith("cupyx"):
        rows = X.tocsr()
        starts, columns, values = (_tensor(torch, part, "X") for part in (rows.indptr, rows.indices, rows.data))
        return CsrTable(torch, starts, columns, values, int(X.shape[1]))
    tensor = _tensor(torch, X, "X")
    if tensor.ndim != 2:
        raise fault("array shape", name="X", seen=tuple(tensor.shape))
    if tensor.layout == torch.sparse_csr:
        values = _plain(torch, tensor.values(), "X")
        return CsrTable(torch, tensor.crow_indices(), tensor.col_indices(), values, int(tensor.shape[1]))
    if tensor.layout != torch.strided:
        raise ArgumentError(f"X is laid out as {tensor.layout}: convert it with to_sparse_csr() or to_dense().")
    return DenseTable(torch, _plain(torch, tensor, "X").contiguous())


def _plain(torch: Any, values: Any, name: str) -> Any:
    """The same numbers in a type that can be computed with, none of them rounded."""
    if values.is_complex():
        raise fault("array type", name=name, seen="complex numbers")
    if values.is_quantized:
        raise fault(
            "array type", name=name, seen=f"numbers of type {values.dtype}", fix="Convert it with dequantize()."
        )
    if values.dtype == torch.bool:
        return values.to(torch.uint8)
    if values.dtype in (torch.uint16, torch.uint32, torch.uint64):
        signed = values.to(torch.int64)
        if values.dtype == torch.uint64 and signed.numel() and int(signed.amin()) < 0:
            raise fault("array type", name=name, seen="integers beyond 2^63")
        return signed
    if values.is_floating_point() and values.dtype.itemsize < 2:
        raise fault("array type", name=name, seen=f"numbers of type {values.dtype}")
    return values


def device_labels(torch: Any, y: Any, n_rows: int, place: Any) -> tuple[Any, tuple[Label, ...]]:
    """The labels as a source has them, on the device, and the distinct ones."""
    if not isinstance(y, torch.Tensor) and not is_on_device(y):
        found, codes = distinct(read_labels(y, n_rows), order_of(y))
        return torch.from_numpy(np.array(marks(codes, len(found)))).to(place), tuple(found)
    labels = _tensor(torch, y, "y")
    if labels.layout != torch.strided:
        raise ArgumentError(f"y is laid out as {labels.layout}: convert it with to_dense().")
    if labels.ndim != 1 and not (labels.ndim == 2 and labels.shape[1] == 1):
        raise ShapeError(f"y has shape {tuple(labels.shape)}.", fix="Give one label for each row.")
    is_boolean, labels = labels.dtype == torch.bool, _plain(torch, labels.reshape(-1), "y")
    if len(labels) != n_rows:
        raise fault("length", rows=n_rows, labels=len(labels))
    if labels.is_floating_point():
        strange = (~torch.isfinite(labels)).nonzero()
        if len(strange):
            row = int(strange[0])
            raise fault("label not finite", row=row, value=float(labels[row]))
    values = [low, high] = [labels.amin(), labels.amax()]
    is_high = labels == high
    if bool(low != high) and int((is_high | (labels == low)).sum()) < n_rows:
        values = list(torch.unique(labels))
    found = [bool(value.item()) if is_boolean else value.item() for value in values]
    if bool(low == high):
        found = found[:1]
    if len(found) == 2:
        return torch.where(is_high, 1, -1).to(torch.int8).to(place), tuple(found)
    codes = torch.searchsorted(torch.stack(values), labels)
    return codes.to(torch.uint8 if len(found) <= 256 else torch.int64).to(place), tuple(found)


def copied_table(torch: Any, table: Table, n_columns: int, place: Any) -> DeviceTable:
    """A table of this machine, copied to the device."""
    if isinstance(table, Dense):
        return DenseTable(torch, torch.from_numpy(np.array(table.values)).to(place))
    parts = (table.indptr.astype(np.int64), table.indices.astype(np.int64), np.array(table.data))
    starts, columns, values = (torch.from_numpy(part).to(place) for part in parts)
    return CsrTable(torch, starts, columns, values, n_columns)
