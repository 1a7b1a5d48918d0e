"""Files are written whole, under any name, into what is not a file, and never by half: `linsep.outputs`."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep import outputs
from linsep.cli import main
from linsep.errors import CheckpointError, FileError
from linsep.learners.checkpoints import CheckpointFile, Identity
from linsep.outputs import begun, identity, replaced, write_file

SOURCES = str(Path(linsep.__file__).parents[1])
WRITERS = {"in one step": write_file, "as it comes": lambda path, content: _fill(path, content)}


def _fill(path, content):
    with begun(path) as file:
        file.write(content)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working folder with the file `old`, and no half-written file in it at the end."""
    monkeypatch.chdir(tmp_path)
    Path("old").write_bytes(b"old")
    yield tmp_path
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o755])
@pytest.mark.parametrize("how", WRITERS)
def test_a_file_that_is_replaced_keeps_its_mode(how, mode):
    Path("old").chmod(mode)
    WRITERS[how]("old", b"new")
    assert (Path("old").read_bytes(), stat.S_IMODE(Path("old").stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_mode_that_the_umask_leaves(umask):
    before = os.umask(umask)
    try:
        write_file("new", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("new").stat().st_mode) == 0o666 & ~umask


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_that_is_replaced_keeps_its_owner():
    os.chown("old", 12345, 23456)
    write_file("old", b"new")
    assert (Path("old").stat().st_uid, Path("old").stat().st_gid) == (12345, 23456)


@pytest.mark.parametrize("how", WRITERS)
def test_a_link_stays_and_what_it_names_is_replaced(how):
    Path("folder").mkdir()
    Path("link").symlink_to("folder/dangling")
    Path("second").symlink_to("link")
    WRITERS[how]("second", b"new")
    assert Path("second").is_symlink() and Path("link").is_symlink()
    assert Path("folder/dangling").read_bytes() == b"new"


@pytest.mark.parametrize("how", WRITERS)
def test_the_other_name_of_a_file_keeps_what_it_had(how):
    Path("other").hardlink_to("old")
    WRITERS[how]("old", b"new")
    assert (Path("old").read_bytes(), Path("other").read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("how", WRITERS)
def test_a_pipe_is_written_into_and_stays(how):
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    WRITERS[how]("pipe", b"new")
    assert os.read(reader, 9) == b"new"
    assert Path("pipe").is_fifo()
    os.close(reader)


@pytest.mark.parametrize("how", WRITERS)
def test_an_open_file_is_written_to_where_it_stands(how):
    with Path("old").open("ab") as file:
        Path("link").symlink_to(f"/dev/fd/{file.fileno()}")
        WRITERS[how](f"/dev/fd/{file.fileno()}", b" and")
        WRITERS[how](f"/proc/self/fd/{file.fileno()}", b" new")
        WRITERS[how]("link", b" too")
    assert Path("old").read_bytes() == b"old and new too"


def test_a_device_is_written_into_and_stays():
    write_file("/dev/null", b"new")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("how", WRITERS)
@pytest.mark.parametrize("path", ["none/new", "folder", "/dev/full", "loop", "/dev/fd/999999", "x" * 300])
def test_what_cannot_be_written_is_told_with_its_path(path, how):
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    with pytest.raises(FileError, match="cannot be written") as caught:
        WRITERS[how](path, b"new")
    assert (caught.value.file, str(caught.value).startswith(path)) == (path, True)


def test_a_name_may_be_as_long_as_the_disk_allows():
    write_file("x" * 255, b"new")
    assert Path("x" * 255).read_bytes() == b"new"


def test_a_reader_of_a_pipe_who_has_left_is_told_of():
    ends = os.pipe()
    os.close(ends[0])
    with pytest.raises(FileError, match="its reader is gone"):
        write_file(f"/dev/fd/{ends[1]}", b"new")
    os.close(ends[1])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, BrokenPipeError])
def test_an_error_while_writing_leaves_the_old_file_and_is_passed_on_as_it_is(error, here):
    with pytest.raises(error), replaced("old") as file:
        file.write(b"half")
        raise error
    assert [path.name for path in here.iterdir()] == ["old"]
    assert Path("old").read_bytes() == b"old"


def test_a_file_is_replaced_only_when_all_is_written():
    with replaced("old") as file:
        file.write(b"new" * 10**6)
        assert Path("old").read_bytes() == b"old"
    assert Path("old").stat().st_size == 3 * 10**6


def test_many_threads_that_save_one_model_lose_no_save():
    model = linsep.PerceptronClassifier(random_state=0).fit(np.array([[1.0, 0], [0, 1]]), [5, 7])
    faults = []

    def save():
        for _ in range(15):
            try:
                model.save("m.json")
                linsep.load("m.json")
            except Exception as error:
                faults.append(error)

    threads = [threading.Thread(target=save) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_what_a_killed_process_left_half_written_is_swept_and_what_another_writes_is_not(here):
    leftover = here / ".linsep-0123456789abcdef.tmp"
    leftover.write_text("half")
    with replaced("new") as file:
        assert not leftover.exists()
        write_file("other", b"")
        file.write(b"new")
    assert Path("new").read_bytes() == b"new"


def test_a_draft_swept_away_before_it_was_locked_is_begun_again(monkeypatch, here):
    lock, swept = outputs._lock, []

    def late(handle):
        if not swept:
            swept.append(outputs.sweep_leftovers(here))
        lock(handle)

    monkeypatch.setattr(outputs, "_lock", late)
    write_file("old", b"new")
    assert (Path("old").read_bytes(), len(swept)) == (b"new", 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_half_written_file(number, monkeypatch, capsys):
    monkeypatch.setattr(os, "fsync", lambda handle: os.kill(os.getpid(), number))
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)  # under nohup a hang-up is ignored
    Path("old").write_text(old := linsep.decide(*linsep.datasets.cornwell()).to_json())
    try:
        assert main(["decide", "example:xor", "--proof", "old"]) == 128 + number
    finally:
        signal.signal(number, before)
    assert (Path("old").read_text(), capsys.readouterr().out) == (old, "")


# Which file is which --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["./old", "folder/../old", "link", "hard", "{here}/old"])
def test_a_file_has_one_identity_under_all_its_names(name, here):
    Path("folder").mkdir()
    Path("link").symlink_to("old")
    Path("hard").hardlink_to("old")
    assert identity(name.format(here=here)) == identity("old") != identity("folder")


@pytest.mark.parametrize("name", ["new", "NEW", "./new", "folder/../new", "link", "{here}/new"])
def test_so_has_a_file_that_is_not_there_yet(name, here):
    Path("folder").mkdir()
    Path("link").symlink_to("new")
    assert identity(name.format(here=here)) == identity("new") not in (None, identity("newer"), identity("folder/new"))


def test_a_device_is_everybodys():
    assert identity("/dev/null") is None


# Checkpoints ----------------------------------------------------------------------------------------------------------

DATA = Identity(4, 2, "0" * 64)


def _saved(path):
    file = CheckpointFile(path, DATA)
    file.put("0" * 64, {"a": np.arange(3)})
    file.save(now=True)


def test_a_checkpoint_keeps_its_mode_and_its_link():
    Path("link").symlink_to("run")
    _saved("link")
    Path("run").chmod(0o600)
    _saved("link")
    assert Path("link").is_symlink()
    assert [stat.S_IMODE(Path(name).stat().st_mode) for name in ("run", "run.previous")] == [0o600, 0o600]


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stdin", "pipe", "folder"])
def test_a_checkpoint_is_a_file(path):
    os.mkfifo("pipe")
    Path("folder").mkdir()
    with pytest.raises(CheckpointError, match="cannot hold a checkpoint"):
        CheckpointFile(path, DATA)
    assert Path("/dev/null").is_char_device()


# Processes ------------------------------------------------------------------------------------------------------------


def test_many_processes_that_write_one_file_lose_no_write():
    code = "from linsep.outputs import write_file\nfor k in range(100): write_file('old', b'%d' % k * 999)"
    command, environment = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": SOURCES}
    running = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert Path("old").read_bytes() == b"99" * 999


def test_a_draft_that_another_process_is_about_to_remove_is_not_written_to(tmp_path, monkeypatch):
    (folder := tmp_path / "new").mkdir()
    flock, taken = fcntl.flock, []

    def raced(handle, how):
        if not taken:  # between opening and locking, a sweeper of leftovers comes by
            taken.extend(folder.iterdir())
            other = os.open(taken[0], os.O_RDONLY)
            flock(other, how)
        flock(handle, how)

    monkeypatch.setattr(outputs.fcntl, "flock", raced)
    monkeypatch.setattr(outputs.os, "fsync", lambda _: taken[0].unlink(missing_ok=True))  # later it removes the file
    write_file(folder / "m.json", b"whole")
    assert [path.name for path in folder.iterdir()] == ["m.json"]
