"""SIGKILL at random moments, and again, until `fit` is done: `python -m tests.campaigns.kills 200`, or `make kills`.

Each run has a --checkpoint and files whose rows arrive slowly, in batches, so that a kill falls into reading, into
learning and into writing alike. It is killed after a random time, started again, perhaps killed again, and at
last left to end. What it prints and writes must then be what an uninterrupted run prints and writes, but for the
seconds; and nothing may be left beside it: no checkpoint, no half-written file.

The process is forked where it has imported everything, since a start would take longer than most runs.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ |= {
        "LINSEP_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }  # a fork takes no threads

import numpy as np

from linsep import cli, datasets
from linsep.sources import files
from linsep.sources.files.source import FileSource

PAUSE_S = 0.002
MOST_KILLS = 6  # of one run: then it is left to end

X, Y = datasets.planted(30_000, 6, margin=0.002, seed=5)  # 22 batches of the smallest memory
FLIPPED = np.where(np.arange(len(Y)) % 997 == 5, -Y, Y)
TABLES = {"separable.npz": (X, Y), "overlapping.npz": (X, FLIPPED), "integers.npz": (np.rint(X * 4), FLIPPED)}

OUTPUT = "answer.json"
OPTIONS = ["--json", "--memory", "4MiB", "--checkpoint", "run.checkpoint"]
COMMANDS = [
    "fit separable.npz --order shuffled --max-passes 40 -o answer.json",
    "fit overlapping.npz --order cyclic --max-passes 20 -o answer.json",
    "fit integers.npz --order worst --max-passes 30 -o answer.json",
]


class SlowSource(FileSource):
    """The rows of files, each batch after a pause."""

    def _read_marks(self, *batch: Any) -> Any:
        time.sleep(PAUSE_S)
        return super()._read_marks(*batch)


def start(command: str, folder: Path) -> int:
    """The command in a process of its own, in the folder; its number."""
    process = os.fork()
    if process:
        return process
    status = 99
    try:
        status = run(command, folder)
    finally:
        os._exit(status)


def run(command: str, folder: Path) -> int:
    """The command in this process, in the folder."""
    files.FileSource = SlowSource  # type: ignore[misc]
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(stack.enter_context(Path("printed").open("w"))))
        stack.enter_context(contextlib.redirect_stderr(stack.enter_context(Path("remarks").open("a"))))
        return cli.main([*command.split(), *OPTIONS])


def ended(process: int, after: float) -> int | None:
    """The exit code of a process that ends by itself in time; else it is killed, and the answer is None."""
    deadline = time.monotonic() + after
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def answer(folder: Path, code: int | None) -> Any:
    """What the command said and wrote, but for the seconds, and for what is asked with a limit in seconds."""

    def timeless(text: str) -> Any:
        fields = json.loads(text)
        return {name: value for name, value in fields.items() if name not in ("seconds", "sha256", "separable")}

    written = folder / OUTPUT
    return code, timeless((folder / "printed").read_text()), written.exists() and timeless(written.read_text())


class Campaign:
    """Kills until there were enough of them, and what came of the runs."""

    def __init__(self, wanted: int, seed: int, root: Path) -> None:
        self.wanted, self.random, self.root = wanted, random.Random(seed), root
        self.kills = self.runs = self.resumed = self.not_killed = 0
        self.truth: dict[str, tuple[Any, float]] = {}
        for name, (rows, y) in TABLES.items():
            np.savez(root / name, X=rows, y=y)

    def folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.root))
        for name in TABLES:
            (folder / name).symlink_to(self.root / name)
        return folder

    def uninterrupted(self, command: str) -> tuple[Any, float]:
        """The answer of a run that nobody disturbs, and how long it takes."""
        if command not in self.truth:
            folder = self.folder()
            run(command, folder)  # here, so that the forks to come have everything imported and compiled
            shutil.rmtree(folder)
            folder = self.folder()
            started = time.monotonic()
            code = ended(start(command, folder), 60)
            self.truth[command] = answer(folder, code), time.monotonic() - started
        return self.truth[command]

    def run(self) -> None:
        """Kill, start again, compare."""
        while self.kills < self.wanted:
            command = COMMANDS[self.runs % len(COMMANDS)]
            expected, seconds = self.uninterrupted(command)
            folder, code, kills = self.folder(), None, 0
            while code is None:
                patience = 60 if kills >= MOST_KILLS or self.kills >= self.wanted else self.random.uniform(0, seconds)
                code = ended(start(command, folder), patience)
                if code is None:
                    kills, self.kills = kills + 1, self.kills + 1
            self.judge(command, folder, answer(folder, code), expected)
            self.runs += 1
            self.not_killed += not kills

    def judge(self, command: str, folder: Path, seen: Any, expected: Any) -> None:
        """The same answer, and nothing left behind."""
        remarks = (folder / "remarks").read_text()
        assert seen == expected, f"{command} in {folder}:\n{seen}\nis not\n{expected}\n{remarks}"
        known = {*TABLES, "printed", "remarks", OUTPUT}
        if expected[0] == 3:  # undecided: the checkpoint is kept
            known |= {"run.checkpoint", "run.checkpoint.previous"}
        left = {path.name for path in folder.iterdir()} - known
        assert not left, f"{command} left {left} in {folder}"
        assert "not used" not in remarks and "Starting over" not in remarks, remarks
        self.resumed += remarks.count("Resuming from")


def main(wanted: int = 200, seed: int = 0) -> None:
    """Run the campaign and say what it was."""
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        campaign = Campaign(wanted, seed, root)
        campaign.run()
        times = ", ".join(f"{seconds:.1f}" for _, seconds in campaign.truth.values())
        print(
            f"{campaign.kills} kills in {campaign.runs} runs ({campaign.not_killed} ended before their kill), "
            f"{campaign.resumed} starts resumed from a checkpoint: every answer the same. "
            f"Seconds of the uninterrupted runs: {times}."
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
