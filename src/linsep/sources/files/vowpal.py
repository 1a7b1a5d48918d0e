"""Vowpal Wabbit text: a label, then named features in namespaces.

    1 'doc7 |text cat:2 dog |meta long

Each feature is a column, with its name as Vowpal Wabbit writes it (meta^long), in the order of the names: nothing is
hashed, so no two features collide. A feature without a value is 1; the values of a feature repeated in a row are added
up. Tags are ignored. Weights of rows and namespaces, and initial predictions, would change the data: weights other than
1 and predictions other than 0 are refused.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep.errors import InputError
from linsep.sources.files.options import Options, room_for
from linsep.sources.files.reader import Batch
from linsep.sources.files.svmlight import NUMBER, Line, LineReader, is_rounded
from linsep.sources.files.text_reader import Pipe
from linsep.sources.files.values import vanishes
from linsep.tables import as_double

VALUE = re.compile(NUMBER, re.IGNORECASE)
OF_NAMESPACE = "^"  # between a namespace and a feature

Features = dict[str, float]


class VowpalReader(LineReader):
    """Sparse rows as text, with named columns."""

    called, wrong, has_features = "Vowpal Wabbit text", "vowpal", True

    def __init__(self, path: str, options: Options, file: str | Pipe | None = None) -> None:
        super().__init__(path, options, file)
        self._places: dict[str, int] = {}
        if options.needs is not None and options.needs.names is not None:
            self.remarks.insert(0, "Features that the model does not know are ignored.")
            self.use_features(options.needs.names)
        else:
            self.use_features(sorted(self._names()))

    def use_features(self, names: Sequence[str]) -> None:
        """Use these features as the columns; they include those of other files."""
        super().use_features(names)
        self._places = {name: place for place, name in enumerate(names)}
        self.n_columns = max(1, len(names))
        self.options.require_room(self.path, self.n_columns)

    def _names(self) -> set[str]:
        """The features of all good rows, found in one walk."""
        names: set[str] = set()
        for line in self.all_lines():
            if self._fault(line) is None:
                names.update(self._features(line))
            if len(names) > self.options.most_columns:
                found, most = len(names), self.options.most_columns
                raise self.error("svmlight wide", line, "", most=most, fix=room_for(found))
        return names

    def _batch(self, text: bytes, first: int, byte: int, lines: int) -> Batch:
        labels: list[float | None] = []
        indptr, indices, data = [0], list[int](), list[float]()
        for line in self.lines_of(text, byte, lines):
            if (found := self._fault(line)) is not None:
                self.reject(line.row, found, line.text)
                continue
            known = {self._places[name]: value for name, value in self._features(line).items() if name in self._places}
            indices += sorted(known)
            data += [known[place] for place in sorted(known)]
            indptr.append(len(indices))
            labels.append(_label(line))
        values = sp.csr_array((np.array(data, np.float64), indices, indptr), shape=(len(labels), self.n_columns))
        return Batch(values, self._as_labels(labels), first)

    def _as_labels(self, labels: list[float | None]) -> Any:
        """Labels, some of which may be missing if rows are only to be labelled."""
        import pyarrow as pa

        return np.array(labels, np.float64) if self.options.needs is None else pa.array(labels, pa.float64())

    def holds_row(self, line: Line) -> bool:
        """Whether a line holds a row: there are no comments."""
        return bool(line.content.strip())

    # Lines -----------------------------------------------------------------------------------------------------------

    def _fault(self, line: Line) -> InputError | None:
        """What is wrong with a line, if anything."""
        if (strange := self.text_fault(line, line.content)) is not None:
            return strange
        head, bar, _ = line.text.partition("|")
        if not bar:
            return self.bad(line, "", "there is no | before the features")
        words = _head(head)
        if not words:
            return (
                self.error("no label", line, "")
                if self.options.needs is None
                else next(self._feature_faults(line), None)
            )
        if (bad_label := self.label_fault(line, words[0])) is not None:
            return bad_label
        for word, meant, neutral in zip(words[1:], ("a weight", "an initial prediction"), (1.0, 0.0), strict=False):
            if not VALUE.fullmatch(word) or float(word) != neutral:
                return self.bad(line, word, f"{meant} of a row, which is not read unless it is {neutral:g}")
        if len(words) > 3:
            return self.bad(line, words[3], "more than a label, a weight, a prediction and a tag before the first |")
        return next(self._feature_faults(line), None)

    def _feature_faults(self, line: Line) -> Iterator[InputError]:
        total: dict[str, Fraction] = defaultdict(Fraction)
        added: dict[str, list[str]] = defaultdict(list)
        meant: dict[str, tuple[str, str]] = {}
        for space, word, written in _features(line):
            if written is None or not VALUE.fullmatch(written):
                yield self.bad(line, word, "the value after the colon is not a number")
                return
            name = _name(space, word)
            if not word:
                yield self.bad(line, f"{space}:{written}", "a namespace with a weight, which is not read")
            elif meant.setdefault(name, (space, word)) != (space, word):
                yield self.bad(line, name, "two features of two namespaces would have this name")
            elif not math.isfinite(float(written)):
                yield self.not_finite(line, written, name)
            elif is_rounded(written) or vanishes(written):
                yield self.error("vanishes" if vanishes(written) else "inexact", line, written, column=name)
            total[name] += Fraction(float(written)) if math.isfinite(float(written)) else 0
            added[name].append(written)
        for name, value in total.items():
            if as_double(value) is None:
                yield self.error("inexact sum", line, " + ".join(added[name]), column=name)

    def _features(self, line: Line) -> Features:
        """The features of a good line; repeated ones are added up, without rounding."""
        found: Features = defaultdict(float)
        for space, word, written in _features(line):
            found[_name(space, word)] += float(written or "nan")
        return found


def _head(text: str) -> list[str]:
    """Label, weight and prediction; the tag, which begins with ' or touches the |, is left out."""
    words = [word for word in text.split() if not word.startswith("'")]
    touches = bool(text) and not text[-1].isspace() and not text.split()[-1].startswith("'")
    return words[:-1] if touches else words


def _label(line: Line) -> float | None:
    words = _head(line.text.partition("|")[0])
    return float(words[0]) if words else None


def _features(line: Line) -> Iterator[tuple[str, str, str | None]]:
    """Namespace, name and value of each feature as written; a value that is left out is 1."""
    for part in line.text.split("|")[1:]:
        words = part.split()
        space = words.pop(0) if words and not part[:1].isspace() else ""
        space, colon, weight = space.partition(":")
        if colon and not (VALUE.fullmatch(weight) and float(weight) == 1):
            yield space, "", weight
        for word in words:
            name, colon, value = word.partition(":")
            yield space, name, value if colon else "1"


def _name(space: str, word: str) -> str:
    return f"{space}{OF_NAMESPACE}{word}" if space else word
