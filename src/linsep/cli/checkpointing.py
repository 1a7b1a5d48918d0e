"""`linsep fit --checkpoint FILE`: the state of the run is kept in a file, and the same command resumes from it."""

import hashlib
from pathlib import Path

import numpy as np

from linsep.checkpoints import CheckpointFile, Identity
from linsep.cli import report
from linsep.sources.base import Block, Source
from linsep.sources.files.source import FileSource


def opened(source: Source, checkpoint: str) -> CheckpointFile:
    """The file for a run over these rows."""
    file = CheckpointFile(checkpoint, Identity(source.n_rows, source.n_columns, fingerprint(source)), report.note)
    if file.found:
        report.note(f"Resuming from {file.path}.")
    return file


def fingerprint(source: Source) -> str:
    """A digest that tells whether the rows are the same as last time.

    Of files it takes in what they are called, their sizes and times, how they were read, and the first block; of
    anything else every row.
    """
    files = [(file, *_size_and_time(file)) for file in source.files] if isinstance(source, FileSource) else None
    known = repr((files, source.facts))
    digest = hashlib.sha256(known.encode("utf-8", "backslashreplace"))
    for block in source.blocks():
        _add(block, digest)
        if files is not None:
            break
    return digest.hexdigest()


def _add(block: Block, digest: "hashlib._Hash") -> None:
    for array in (*block.table, block.y):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")


def _size_and_time(path: str) -> tuple[int, int]:
    """Of a file; standard input has none."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def how_to_resume(file: CheckpointFile) -> None:
    """Say what is left after a stop."""
    if file.path.exists():
        report.note(f"Stopped. The state of the run is in {file.path}: the same command resumes from it.")


def finish(file: CheckpointFile, *, is_settled: bool) -> None:
    """Take the file away, or say that a longer run can resume from it."""
    if is_settled:
        file.remove()
        return
    file.save(now=True)
    if file.path.exists():
        report.note(f"{file.path} is kept: the same command with a higher limit resumes from it.")
