"""Ctrl-C at random moments of a command: `python -m tests.campaigns.interrupts 200`, or `make interrupts`.

Five stages, in turn: while everything is imported, while the loops are compiled into an empty cache, while a file is
scanned, in the exact search, and while rows are labelled. The process must end with 130, or as it does undisturbed;
without a traceback and without a crash; with its output whole or not there at all, and no temporary file left. The
clock starts at linsep's first line: what Ctrl-C does while Python itself starts is not linsep's.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from linsep import PerceptronClassifier, cli, datasets
from linsep.proofs.proof_json import verdict_from_json

PROGRAM = "import os, sys; from linsep.__main__ import main; os.write({ready}, b'.'); sys.exit(main())"
SOURCES = str(Path(cli.__file__).parents[2])
STAGES = {
    "import": "decide example:xor --proof proof.json",
    "compile": "decide rows.npz --proof proof.json",
    "scan": "decide rows.csv --label y --cache none --proof proof.json",
    "exact search": "decide exact.npz --proof proof.json",
    "predict": "predict model.json rows.csv -o labels.csv",
}
ROWS = 150_000
HANGS_S = 120


def write_tables(folder: Path) -> None:
    """Rows that take a while: many to read, and a few that floats cannot settle."""
    X, y = datasets.planted(ROWS, 6, margin=0.002, seed=5)
    np.savez(folder / "rows.npz", X=X[:5000], y=y[:5000])
    names = ",".join("abcdef")
    np.savetxt(folder / "rows.csv", np.column_stack([X, y]), "%.6g", ",", header=f"{names},y", comments="")
    rows = np.random.default_rng(1).integers(-(10**6), 10**6, (130, 60)).astype(float)
    rows[:, -1] = rows[:, :-1] @ np.ones(59) + np.linspace(-1e-6, 1e-6, len(rows))
    np.savez(folder / "exact.npz", X=rows, y=np.arange(len(rows)) % 2)
    PerceptronClassifier("last", max_passes=1).fit(pd.DataFrame(X, columns=list("abcdef")), y).save(
        folder / "model.json"
    )


def run(stage: str, folder: Path, after: float | None) -> tuple[int, str, float]:
    """The command in a process of its own, with Ctrl-C after some seconds: exit code, complaints, seconds."""
    ready, told = os.pipe()
    (folder / "temporary").mkdir()
    environment = {**os.environ, "PYTHONPATH": SOURCES, "TMPDIR": str(folder / "temporary")}
    if stage == "compile":
        environment["NUMBA_CACHE_DIR"] = str(folder / "compiled")
    command = [sys.executable, "-c", PROGRAM.format(ready=told), *STAGES[stage].split()]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        pass_fds=[told],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    os.close(told)
    os.read(ready, 1)
    os.close(ready)
    started = time.monotonic()
    if after is not None:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
    try:
        complaints = process.communicate(timeout=HANGS_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return -9, process.communicate()[1], HANGS_S
    died_of_it = process.returncode == -signal.SIGINT  # in Python's last moment; a shell calls it 130
    code = 130 if died_of_it else process.returncode
    return code, complaints, time.monotonic() - started


def fault(stage: str, folder: Path, code: int, complaints: str, usual: int) -> str | None:
    """What is wrong with the end of a run."""
    output = folder / STAGES[stage].split()[-1]
    if code not in (130, usual):
        return f"exit code {code}"
    if set(re.findall(r'File "(.*?)"', complaints)) == {"<string>"}:
        return None  # between the word that linsep is there and its first line
    if any(word in complaints for word in ("Traceback", "Exception ignored", "Error", "KeyboardInterrupt")):
        return "a traceback"
    if not output.exists():
        if code == usual:
            return "no output"
    elif output.suffix == ".json":
        verdict_from_json(output.read_bytes())
    elif output.read_bytes().count(b"\n") != ROWS + 1:
        return "half an output"
    left = [path.name for path in folder.glob(".*")] + os.listdir(folder / "temporary")  # noqa: PTH208
    return f"{left} left behind" if left else None


def main(wanted: int = 200, seed: int = 0) -> int:
    """Run the campaign and print a line for each stage; 1 if anything was wrong."""
    chance, seen, faults = random.Random(seed), Counter[tuple[str, int]](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        tables, usual = Path(name, "tables"), dict[str, tuple[int, float]]()
        tables.mkdir()
        write_tables(tables)

        def disturbed(stage: str, after: float | None) -> tuple[Path, int, str, float]:
            folder = Path(tempfile.mkdtemp(dir=name))
            for table in tables.iterdir():
                (folder / table.name).symlink_to(table)
            return folder, *run(stage, folder, after)

        for stage in list(STAGES)[:wanted]:
            disturbed(stage, None)  # so that its loops are compiled
            _, code, complaints, seconds = disturbed(stage, None)
            assert code in (0, 1), complaints
            usual[stage] = code, seconds
        for k in range(wanted):
            stage = list(STAGES)[k % len(STAGES)]
            after = chance.uniform(0, usual[stage][1])
            folder, code, complaints, _ = disturbed(stage, after)
            seen[stage, code] += 1
            if wrong := fault(stage, folder, code, complaints, usual[stage][0]):
                faults.append(f"{stage}, after {after:.3f} s: {wrong}\n{complaints}")
    for stage, (code, seconds) in usual.items():
        counts = ", ".join(f"{count} x {code}" for (name, code), count in sorted(seen.items()) if name == stage)
        print(f"{stage:<13}{seconds:5.1f} s undisturbed, exit code {code}; with Ctrl-C: {counts}")
    print(f"{wanted} interrupts, {len(faults)} faults", *faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
