"""What the files themselves say of their rows, beside what was predicted."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ManyClassesError, MissingLabelError
from linsep.sources.base import Ints
from linsep.sources.files.cells import is_string
from linsep.sources.files.labels import Labels
from linsep.sources.files.streaming import Stretch, text_of


class Truth:
    """The labels of files beside what was predicted: how many differ, or the reason why nobody can tell."""

    def __init__(self, classes: list[Any]) -> None:
        self._classes = {value: code for code, value in enumerate(classes)}
        self._texts = {text_of(value): code for code, value in enumerate(classes)}
        is_rest = len(classes) == 2 and classes[0] == f"not {classes[1]}"  # what --positive calls all other labels
        self._other = 0 if is_rest else None
        self.rows = self.wrong = 0
        self.reason: str | None = None
        self._labels: Labels | None = None
        self._pairs: Counter[tuple[int, int]] = Counter()  # of a label's code and the predicted position

    def add(self, part: Stretch, codes: Ints) -> None:
        """Compare some rows. What labels mean is known when all those of a file were seen."""
        if part.labels is None or not len(codes) or self.reason is not None:
            return
        if self._labels is None or self._labels.path != part.file:
            self.finish()
            self._labels = Labels(part.file, part.is_text)
        before = len(self._labels.first)
        missing = _is_missing(part.labels)
        if missing.any():
            row = int(part.rows[int(np.argmax(missing))])
            self.reason = f"{part.file}: the label of row {row} is missing."
            return
        try:
            seen = self._labels.encode(part.labels, 0).astype(np.int64)
        except (MissingLabelError, ManyClassesError) as error:
            self.reason = str(error)
            return
        for key in list(self._labels.first)[before:]:  # new labels: where they stand in the file
            self._labels.first[key] = int(part.rows[self._labels.first[key]])
        both, counts = np.unique(seen * len(self._texts) + codes, return_counts=True)
        for pair, count in zip(both.tolist(), counts.tolist(), strict=True):
            self._pairs[divmod(pair, len(self._texts))] += count

    def finish(self) -> None:
        """Count the file that was being compared."""
        if self._labels is None or self.reason is not None:
            return
        meanings = dict(enumerate(zip(self._labels.codes, self._labels.values(), strict=True)))
        for (label_code, predicted), count in self._pairs.items():
            key, value = meanings[label_code]
            true = self._class_of(key, value)
            if true is None:
                shown = key if all(isinstance(known, str) for known in self._classes) else value
                where = f"{self._labels.path}: the label of row {self._labels.first.get(key, 0)} is {shown!r}"
                self.reason = f"{where}, which is none of the model's: {_listed(list(self._classes))}."
                return
            self.rows += count
            self.wrong += count * (true != predicted)
        self._pairs.clear()
        self._labels = None

    def _class_of(self, key: Any, value: Any) -> int | None:
        """The class that a label names, as it is written or by what it means."""
        for known, name in ((self._classes, value), (self._texts, key), (self._texts, text_of(value))):
            if name in known:
                return known[name]
        return self._other


def _is_missing(labels: Any) -> npt.NDArray[np.bool_]:
    """Where labels are null, NaN or empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pa.array(labels) if isinstance(labels, np.ndarray) and labels.dtype.kind in "fU" else labels
    if isinstance(found, np.ndarray):
        return np.zeros(len(found), np.bool_)
    if pa.types.is_floating(found.type):
        missing = pc.invert(pc.is_finite(found.cast(pa.float64())))
    else:
        missing = pc.equal(found, "") if is_string(found.type) else found.is_null()
    return np.asarray(missing.fill_null(True))


def _listed(values: list[Any]) -> str:
    return ", ".join(map(repr, values[:10])) + (", ..." if len(values) > 10 else "")
