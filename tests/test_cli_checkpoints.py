"""fit --checkpoint: a run that was stopped or killed resumes, says so, and ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep.cli import main
from linsep.on_files.training import fingerprint
from linsep.sources import files
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import as_source
from tests.campaigns import kills

COMMANDS = [command.replace(" --order cyclic --max-passes 20", " --max-passes 9") for command in kills.COMMANDS]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (rows, y) in kills.TABLES.items():
        np.savez(name, X=rows, y=y)


@pytest.fixture
def interrupted(monkeypatch):
    """Send a signal after so many batches of the files."""

    def arrange(number, after):
        handed = count(1)

        class Source(FileSource):
            def _read_marks(self, *batch):
                if next(handed) == after:
                    os.kill(os.getpid(), number)
                return super()._read_marks(*batch)

        monkeypatch.setattr(files, "FileSource", Source)

    return arrange


def run(command, capsys):
    code = main([*command.split(), *kills.OPTIONS])
    out, err = capsys.readouterr()
    return code, out, err


def timeless(text):
    """What does not depend on the machine: whether a hyperplane exists is asked with a limit in seconds."""
    return {name: value for name, value in json.loads(text).items() if name not in ("seconds", "separable")}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_checkpoint_and_the_same_command_resumes(command, number, code, interrupted, capsys):
    again, whole, _ = run(command, capsys)  # first: a signal that comes while kernels are loaded may be lost in Numba
    for path in Path().glob("run.checkpoint*"):
        path.unlink()
    interrupted(number, after=32)
    stopped, _, err = run(command, capsys)
    assert stopped == code and Path("run.checkpoint").exists()
    assert "The state of the run is in run.checkpoint: the same command resumes from it." in err
    interrupted(number, after=-1)
    done, resumed, err = run(command, capsys)
    assert "Resuming from run.checkpoint" in err
    assert done == 3 or not list(Path().glob("run.checkpoint*"))
    assert (done, timeless(resumed)) == (again, timeless(whole))


def test_an_undecided_answer_keeps_the_checkpoint_for_a_longer_run(interrupted, capsys):
    interrupted(signal.SIGINT, after=-1)
    code, _, err = run("fit separable.npz --max-passes 2", capsys)
    assert code == 3 and "run.checkpoint is kept: the same command with a higher limit resumes from it." in err
    code, resumed, err = run("fit separable.npz --max-passes 40", capsys)
    assert "Resuming from" in err
    Path("run.checkpoint").unlink(missing_ok=True)
    Path("run.checkpoint.previous").unlink(missing_ok=True)
    assert (code, timeless(resumed)) == (lambda whole: (whole[0], timeless(whole[1])))(
        run("fit separable.npz --max-passes 40", capsys)
    )


def test_other_data_start_over_and_the_reason_is_said(interrupted, capsys):
    interrupted(signal.SIGINT, after=-1)
    run("fit overlapping.npz --max-passes 2", capsys)
    code, _, err = run("fit integers.npz --max-passes 2", capsys)
    assert code == 3 and "the data have changed since it was written. Starting over." in err


def test_files_have_a_cheap_fingerprint_and_other_rows_that_of_every_value(tmp_path):
    rows, y = kills.X[:50], kills.Y[:50]
    changed = np.where(np.arange(150).reshape(50, 3) == 149, 9.0, rows[:, :3])
    tables = [(rows, y), (rows[:, :3], y), (changed, y), (rows, -y), (rows, y > 0), (sp.csr_array(rows), y)]
    seen = [fingerprint(as_source(*table)) for table in tables] + [fingerprint(linsep.open("separable.npz"))]
    assert len(set(seen)) == 7 and seen[0] == fingerprint(as_source(rows + 0.0, y))
    os.utime("separable.npz", (1, 1))
    assert fingerprint(linsep.open("separable.npz")) not in seen


@pytest.mark.parametrize("command", ["decide", "margin", "mle"])
def test_what_takes_seconds_has_no_checkpoints(command, capsys):
    assert main([command, "separable.npz", "--checkpoint", "run.checkpoint"]) == 2
    assert "--checkpoint" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "checkpoint", "says"),
    [
        ("fit separable.npz", "separable.npz", "the command reads this file"),
        ("fit separable.npz -o m.json", "./m.json", "goes into the same file"),
        ("fit separable.npz", "integers.npz", "not a linsep checkpoint"),
        ("fit separable.npz", "none/run.checkpoint", "there is no folder"),
    ],
)
def test_a_checkpoint_in_the_wrong_place_is_refused(command, checkpoint, says, capsys):
    assert main([*command.split(), "--checkpoint", checkpoint]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.campaign
def test_kills_at_random_moments_change_no_answer():
    """The long run is `make kills`."""
    done = subprocess.run([sys.executable, kills.__file__, "5", "3"], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("5 kills") and "every answer the same" in done.stdout
