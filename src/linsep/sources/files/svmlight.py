"""LIBSVM and svmlight files, a range of bytes at a time, through scikit-learn's reader.

    1 3:0.5 7:2   # label, then index:value pairs

The index of the first column is stated, 1 unless told otherwise, and never guessed.
"""

import io
import re
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from linsep.errors import InexactError, InputError, NoRowsError, SvmlightError
from linsep.sources.files.reading import EXACT, FILE_WITHOUT_NAMES, Batch, Options, Place
from linsep.sources.files.stream import Pipe, TextReader

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf|infinity)"
LABEL = re.compile(rf"{NUMBER}", re.IGNORECASE)
PAIR = re.compile(rf"([+-]?[0-9]+):({NUMBER})", re.IGNORECASE)


class SvmlightReader(TextReader):
    """Sparse rows as text. A place is a range of bytes."""

    columns = None
    is_sparse = True

    def __init__(self, path: str, options: Options, compression: str | None = None, pipe: Pipe | None = None) -> None:
        super().__init__(path, options, compression, pipe)
        self._most = options.n_columns if options.needs is None else options.needs.width
        self.n_columns = self._most or 1
        self.remark = FILE_WITHOUT_NAMES if options.needs is not None and options.needs.names else None
        self.index_base = options.index_base

    def batches(self) -> Iterator[Batch]:
        """Every row once, in order."""
        digest = self.new_digest()
        first, offset, lines, rest = 0, 0, 0, b""
        with self._stream(digest, is_last=True) as stream:
            while True:
                data = stream.read(self.chunk)
                text = rest + data
                end = text.rfind(b"\n") + 1 if data else len(text)
                if end:
                    batch = self._batch(text[:end], Place(first, 0, (offset, end, lines)))
                    if batch.place.rows:
                        yield batch
                    first += batch.place.rows
                    lines += text.count(b"\n", 0, end)
                offset, rest = offset + end, text[end:]
                if not data:
                    break
        self._finish(digest)
        if not first:
            raise NoRowsError(f"{self.path}: the file holds no rows.", file=self.path)

    def read(self, place: Place) -> Batch:
        """The batch of a range of bytes."""
        return self._batch(self._text(place), place)

    def _batch(self, text: bytes, place: Place) -> Batch:
        from sklearn.datasets import load_svmlight_file

        if not text.strip():
            return Batch(sp.csr_array((0, self.n_columns)), np.zeros(0), place)
        try:
            if b"_" in text:  # Python reads 1_000 as a thousand
                self._require_plain(text, place)
            X, y = load_svmlight_file(io.BytesIO(text), zero_based=self.options.index_base == 0)
        except (ValueError, OverflowError, UnicodeDecodeError) as error:
            self._require_plain(text, place)
            raise SvmlightError(f"{self.path}: cannot be read as svmlight: {error}", file=self.path) from error
        if X.data.size and np.abs(X.data).max() >= EXACT:
            self._require_exact(text, place)
        self._widen(X.shape[1])
        matrix = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_columns))
        return Batch(matrix, y, Place(place.first, X.shape[0], place.key))

    def _widen(self, width: int) -> None:
        if self._most is not None and width > self._most:
            whose = "asked for" if self.options.needs is None else "of the model"
            raise SvmlightError(
                f"{self.path}: an index stands for column {width}, beyond the {self._most} {whose}.",
                file=self.path,
            )
        self.n_columns = max(self.n_columns, width)

    def _lines(self, text: bytes, place: Place) -> Iterator[tuple[int, int, list[str]]]:
        """Row, line and words of each line that holds a row."""
        row, (_, _, lines) = place.first, place.key
        for line, content in enumerate(text.split(b"\n"), start=lines + 1):
            words = content.split(b"#", 1)[0].decode("utf-8", "replace").split()
            if words:
                yield row, line, words
                row += 1

    def _require_plain(self, text: bytes, place: Place) -> None:
        """Name the first line that is not a label and index:value pairs in rising order."""
        base = self.options.index_base
        for row, line, words in self._lines(text, place):
            if not LABEL.fullmatch(words[0]):
                raise self._fault(row, line, words[0], "is not a label: a number comes first")
            last = base - 1
            for word in words[1:]:
                pair = PAIR.fullmatch(word)
                if word.startswith("qid:"):
                    continue
                if pair is None:
                    raise self._fault(row, line, word, "is not index:value")
                index = int(pair[1])
                if index < base:
                    hint = " If the file counts from 0, say index_base=0 (--index-base 0)." if index == 0 else ""
                    raise self._fault(row, line, word, f"has an index below {base}.{hint}")
                if index <= last:
                    seen = "repeats an index" if index == last else "comes after a larger index"
                    raise self._fault(row, line, word, f"{seen}: indices must rise within a row")
                last = index

    def _require_exact(self, text: bytes, place: Place) -> None:
        for row, line, words in self._lines(text, place):
            for word in words[1:]:
                index, _, value = word.partition(":")
                if re.fullmatch(r"[+-]?[0-9]+", value) and abs(int(value)) > EXACT:
                    fix = "Subtract a constant from the column or divide it."
                    raise InexactError(
                        f"{self.path}: row {row} (line {line}), index {index} holds {value[:40]}: an integer beyond "
                        f"2^53 would be rounded, and linsep never rounds in silence. {fix}",
                        file=self.path,
                        row=row,
                        column=int(index) - self.options.index_base,
                        value=value[:200],
                        fix=fix,
                    )

    def _fault(self, row: int, line: int, word: str, what: str) -> InputError:
        shown = word if len(word) <= 40 else word[:37] + "..."
        return SvmlightError(
            f"{self.path}: row {row} (line {line}): {shown!r} {what}.".replace("..", "."),
            file=self.path,
            row=row,
            value=word[:200],
        )
