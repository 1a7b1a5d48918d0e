"""Slow files are converted once, so that only the first read parses: where their rows are kept, and when to trust them.

A cache is trusted only if it is the user's own file, which nobody else may write to, and belongs to this path, this way
of reading and this content: the SHA-256 of the file is computed again unless its stamp shows that it was not touched.
A cache that does not match is removed and written again, under another name that is changed when it is complete, so
that there is never half a cache.
"""

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linsep.errors import InputError
from linsep.faults import fault
from linsep.sources.base import Ints
from linsep.sources.files import converted_rows as rows_on_disk
from linsep.sources.files import private
from linsep.sources.files.converted_rows import VERSION, BadCacheError, Codes, Facts, Writer
from linsep.sources.files.first_read import NUMBERS, Survey, common_kind, surveyed
from linsep.sources.files.labels import Labels
from linsep.sources.files.reader import Batch, Reader, Store

HELD_BATCHES = 8  # small files may be held in memory, up to this many batches in all


class NoCacheError(Exception):
    """A cache cannot be written: the disk is full, most likely."""


@dataclass
class Caches:
    """Where converted rows are kept: in the user's private folder, in a given folder, or for this source only.

    `folder` is the given folder; None for the private one; True for the private one even for small files, which are
    otherwise held in memory; False for none that outlives the source. `hold` is how many bytes memory may hold.
    """

    folder: str | os.PathLike[str] | bool | None
    hold: int
    _temporary: private.TemporaryFolder | None = None

    def temporary(self) -> str:
        """A folder that is removed with the source."""
        self._temporary = self._temporary or private.TemporaryFolder()
        return self._temporary.path

    def survey(self, reader: Reader) -> Survey:
        """The first read of a file: directly, from its cache, or by converting it."""
        if isinstance(reader, Store) and reader.options.rejects is None:
            return surveyed(reader, reader)
        key = key_of(reader)
        name = name_of(key)
        is_held = not self.folder and reader.size <= self.hold
        kept = self._kept_in(reader, is_held=is_held)
        if kept is not None and (facts := known(kept / name, reader, key)) is not None:
            return ConvertedRows(kept / name, reader, facts).survey()
        if kept is not None:
            with suppress(NoCacheError):
                found = self.converted(reader, key, kept / name)
                if not isinstance(self.folder, str | os.PathLike):
                    private.prune(kept)
                return found
        try:
            return self.converted(reader, key, None if is_held else Path(self.temporary(), name))
        except NoCacheError as error:
            raise fault("no room", reader.path, folder=self.temporary(), seen=error) from error

    def _kept_in(self, reader: Reader, *, is_held: bool) -> Path | None:
        """Where the rows of this file are kept for other runs; None if they are not."""
        if self.folder is False or is_held or reader.options.rejects is not None or reader.file != reader.path:
            return None  # without the rejected rows, or the pipe, another run cannot use them
        return private.own_cache_folder() if isinstance(self.folder, bool | None) else Path(self.folder)

    def converted(self, reader: Reader, key: str, path: Path | None) -> Survey:
        """The first read of the file itself; without a path its rows are held in memory, as long as they fit."""
        held, writer, size = Held(reader), None, reader.options.batch_bytes
        found = Survey.begin(reader, held)
        try:
            for batch in reader.batches():
                codes = found.add(batch)
                held.add(batch.values, codes)
                if path is None and held.size > self.hold:
                    path = Path(self.temporary(), name_of(key))
                if path is not None:
                    for values, codes in held.taken_out():
                        common_kind([found])  # or nothing will hold all of them
                        writer = (writer or Writer(path, size)).fitting(values.dtype.kind)
                        writer.add(values, codes)
            found.labels.is_coded = True
            if writer is None:
                self.hold -= held.size
            else:
                known = {name: getattr(found, name) for name in NUMBERS}
                known |= {"n_columns": reader.n_columns, "labels": list(found.labels.codes)}
                digest = reader.digest or digest_of(reader.file)
                facts = writer.finish(reader.stamp, key=key, digest=digest, size=reader.stamp.size, **known)
                found.store = ConvertedRows(writer.path, reader, facts)
            found.batches = len(found.store.lengths)
            return found
        except OSError as error:
            raise NoCacheError(error.strerror or error) from error
        finally:
            if writer is not None:
                writer.abandon()


def key_of(reader: Reader) -> str:
    """Which file a cache belongs to, and how it was read."""
    options = reader.options
    asked = (options.label, options.columns, options.id, options.categories, options.numbers)
    features = hashlib.sha256(repr(reader.columns).encode()).hexdigest() if reader.has_features else None
    found = (options.index_base, options.n_columns, reader.categories, reader.decimal_places, features)
    return repr((os.fsencode(Path(reader.file).resolve()), VERSION, type(reader).__name__, *asked, *found))


def name_of(key: str) -> str:
    """The name of a cache."""
    return f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{private.ENDING}"


def known(path: Path, reader: Reader, key: str) -> Facts | None:
    """The facts of a cache that is our own and matches the file as it is now; None if there is no such cache."""
    try:
        with rows_on_disk.opened(path) as file:
            facts, stamp, place = rows_on_disk.read_facts(file)
    except (OSError, BadCacheError):
        return None
    if facts["key"] != key or facts["batch_bytes"] > reader.options.batch_bytes:
        return None
    if stamp != reader.stamp.digest:  # the stamp cannot tell, the content can
        if facts["size"] != reader.stamp.size:
            return None
        digest = digest_of(reader.file)
        reader.stamp.require_same()
        if digest != facts["digest"]:
            return None
        with suppress(OSError), path.open("r+b") as file:
            file.seek(place)
            file.write(rows_on_disk.stamped(reader.stamp))
    with suppress(OSError):
        os.utime(path)  # the least recently used caches are the first to be removed
    return facts


def digest_of(path: str) -> str:
    """The digest of a file as it is now."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Held(Store):
    """The rows of a small file, in memory."""

    def __init__(self, reader: Reader) -> None:
        self._stamp, self._batches, self.lengths, self.size = reader.stamp, list[Batch](), list[int](), 0

    def add(self, values: Any, codes: Codes) -> None:
        """The next rows."""
        self._batches.append(Batch(values, codes, sum(self.lengths)))
        self.lengths.append(len(codes))
        self.size += values.nbytes if isinstance(values, np.ndarray) else 12 * values.nnz + 8 * values.shape[0]

    def taken_out(self) -> Iterator[tuple[Any, Codes]]:
        """The rows, which are then no longer held."""
        batches, self._batches = self._batches, []
        return ((batch.values, batch.labels) for batch in batches)

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """The k-th rows that were added."""
        self._stamp.require_same()
        yield self._batches[k]


class ConvertedRows(Store):
    """An Arrow file in place of the file it was made from; the reader of that file can make it again."""

    def __init__(self, path: Path, reader: Reader, facts: Facts) -> None:
        self.path, self._reader, self._facts = path, reader, facts
        self.lengths = [rows for rows, *_ in facts["batches"]]
        self._firsts = np.concatenate([[0], np.cumsum(self.lengths)]).tolist()
        self._renewals, self._renewing = 0, threading.Lock()

    def survey(self) -> Survey:
        """What the first read of the file found."""
        facts, reader = self._facts, self._reader
        reader.n_columns = facts["n_columns"]
        labels = Labels(reader.path, reader.is_text, facts["labels"])
        labels.is_coded = True
        numbers = {name: facts[name] for name in NUMBERS}
        return Survey(reader, labels, self, **numbers, batches=len(self.lengths))

    def read(self, k: int, *, use_threads: bool = False) -> Iterator[Batch]:
        """A record batch."""
        yield self._checked(k)

    def take(self, k: int, positions: Ints) -> Iterator[Batch]:
        """The rows at these positions; if rows are dense, only the chunks that hold them are read."""
        if self._facts["is_sparse"]:
            yield from super().take(k, positions)
        else:
            yield self._checked(k, positions)

    def _checked(self, k: int, positions: Ints | None = None) -> Batch:
        """Rows of a record batch; if the cache is damaged or gone, it is written again, once."""
        self._reader.stamp.require_same()
        seen = self._renewals
        try:
            return self._read(k, positions)
        except (OSError, BadCacheError):
            self._renew(seen)
        try:
            return self._read(k, positions)
        except (OSError, BadCacheError) as error:
            raise self._lost() from error

    def _read(self, k: int, positions: Ints | None) -> Batch:
        with rows_on_disk.opened(self.path) as file:
            values, codes = rows_on_disk.read_rows(file, self._facts["batches"][k], self._facts, positions)
        return Batch(values, codes, self._firsts[k])

    def _renew(self, seen: int) -> None:
        """Write the cache again, unless another thread has done so; the file must not have changed."""
        with self._renewing:
            if self._renewals > seen:
                return
            try:
                again = Caches(False, hold=0).converted(self._reader, self._facts["key"], self.path).store
            except NoCacheError as error:
                raise self._lost() from error
            if not isinstance(again, ConvertedRows) or again._facts != self._facts:
                raise fault("changed", self._reader.path)
            self._renewals += 1

    def _lost(self) -> InputError:
        return fault("lost cache", self._reader.path, cache=self.path)
