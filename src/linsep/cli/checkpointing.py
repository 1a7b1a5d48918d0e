"""--checkpoint FILE: what a command has learned is kept in a file, and the same command resumes from there."""

from collections.abc import Iterator
from contextlib import contextmanager

from linsep.checkpoints import CheckpointFile, Identity
from linsep.cli import report
from linsep.cli.options import Terminated
from linsep.sources.base import Source
from linsep.sources.journal import JournaledSource


class Kept:
    """Rows to be asked, and the file that keeps their answers, if there is one."""

    def __init__(self, source: Source, file: CheckpointFile | None = None) -> None:
        self.source, self._file = source, file

    def finish(self, *, is_settled: bool) -> None:
        """Take the file away once the answer is out; what more time could still settle is kept."""
        if self._file is not None:
            finish(self._file, is_settled=is_settled)


@contextmanager
def kept(source: Source, checkpoint: str | None) -> Iterator[Kept]:
    """The rows with their answers kept in a file: Ctrl-C, SIGTERM and errors leave it complete."""
    if checkpoint is None:
        yield Kept(source)
        return
    journal = JournaledSource(source, checkpoint, report.note)
    welcome(journal.file)
    try:
        yield Kept(journal, journal.file)
    except BaseException as error:
        journal.file.save(now=True)
        if isinstance(error, KeyboardInterrupt | Terminated):
            how_to_go_on(journal.file)
        raise


def opened(source: Source, checkpoint: str) -> CheckpointFile:
    """The file for a run over these rows."""
    file = CheckpointFile(checkpoint, Identity(source.n_rows, source.n_columns, source.fingerprint()), report.note)
    welcome(file)
    return file


def welcome(file: CheckpointFile) -> None:
    """Say that the command goes on."""
    if file.found:
        report.note(f"Resuming from {file.path}, which holds {report.count(file.found, 'record')}.")


def how_to_go_on(file: CheckpointFile) -> None:
    """Say what is left after a stop."""
    if file.path.exists():
        report.note(f"Stopped. What was learned is in {file.path}: the same command resumes from there.")


def finish(file: CheckpointFile, *, is_settled: bool) -> None:
    """Take the file away, or say that a longer run can go on from it."""
    if is_settled:
        file.remove()
        return
    file.save(now=True)
    if file.path.exists():
        report.note(f"{file.path} is kept: the same command with a higher limit resumes from there.")
