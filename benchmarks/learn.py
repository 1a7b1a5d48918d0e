"""`linsep learn --text` and `partial_fit` beside Vowpal Wabbit, the same messages, the same bits of hash.

python benchmarks/learn.py [LINES]

The messages are repeated to a million lines. Vowpal Wabbit gets the words already cut and in lower case, in its own
format, and reads them with its own reader (`python -m vowpalwabbit`, one pass, hinge loss, plain `--sgd` and its
default). Each command is a process of its own, its start included; "lines/s beyond the start" is what the lines past
the first 5,574 took. Reads SMSSpamCollection from the folder of real_data.py; needs the package vowpalwabbit.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from linsep import PerceptronClassifier
from linsep.sources.hashing import hash_lines
from real_data import data_folder
from timing import race, seconds, table

BITS, LINES, ROUNDS, BATCH = 18, 1_000_000, 3, 1 << 20
WORDS = re.compile(r"(?u)\b\w\w+\b")


def vowpal(line):
    """A message in the other format."""
    label, text = line.split("\t", 1)
    return f"{1 if label == 'spam' else -1} | {' '.join(WORDS.findall(text.lower()))}\n"


def write(folder, name, lines, count):
    path = folder / name
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, count, len(lines)):
            file.writelines(lines[: count - start])
    return path


def command(*words):
    return lambda: subprocess.run([sys.executable, "-m", *map(str, words)], check=True, capture_output=True)


def contestants(ours, theirs):
    other = ("vowpalwabbit", "-d", theirs, "-b", BITS, "--loss_function", "hinge", "--quiet")
    return {
        "linsep learn --text --keep last": command("linsep.cli", "learn", "--text", "--keep", "last", ours),
        "linsep learn --text": command("linsep.cli", "learn", "--text", ours),
        "Vowpal Wabbit --sgd": command(*other, "--sgd"),
        "Vowpal Wabbit": command(*other),
    }


def clock(works):
    """The best seconds of each by the wall clock and by processor time, the works taking turns."""
    rounds = [[(seconds(work), processor_seconds(work)) for work in works] for _ in range(ROUNDS)]
    return np.array(rounds).min(axis=0)


def processor_seconds(work):
    """What the processes started by the work used of all cores: other work on the machine counts less."""
    before = os.times()
    work()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def blocks(path):
    """The hashed rows of a file, a mebibyte of text at a time."""
    data = path.read_bytes()
    start = 0
    while start < len(data):
        stop = data.rfind(b"\n", start, start + BATCH) + 1
        yield hash_lines(data[start:stop], [b"ham", b"spam"], BITS)
        start = stop


def partial_fits(path, keep):
    """Learning from rows that are hashed already."""
    parts = list(blocks(path))

    def fit():
        model = PerceptronClassifier(keep, order="cyclic")
        for part in parts:
            model.partial_fit(part.X, part.codes, classes=[0, 1])

    return fit


def main():
    messages = (data_folder() / "SMSSpamCollection").read_text(encoding="utf-8").rstrip("\n").split("\n")
    count, short = int(sys.argv[1]) if len(sys.argv) > 1 else LINES, len(messages)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, other = [f"{line}\n" for line in messages], [vowpal(line) for line in messages]
        small = contestants(write(folder, "small.tsv", plain, short), write(folder, "small.vw", other, short))
        ours = write(folder, "big.tsv", plain, count)
        large = contestants(ours, write(folder, "big.vw", other, count))
        times = clock([*small.values(), *large.values()])
        starts, wholes = times[: len(small)], times[len(small) :]
        beyond = (count - short) / (wholes - starts)  # columns: by the wall clock, by processor time
        ratios = beyond / beyond[2:].max(axis=0)
        rows = [
            [what, *(f"{number:.2f}" for number in (start, whole)), f"{speeds[0]:,.0f}", *(f"{r:.2f}" for r in ratio)]
            for what, start, whole, speeds, ratio in zip(small, starts[:, 0], wholes[:, 0], beyond, ratios, strict=True)
        ]
        lasts = race(partial_fits(ours, "last"), partial_fits(ours, "average"), rounds=3)
    heads = [f"{count:,} messages, {BITS} bits", f"first {short:,}, s", "all, s", "lines/s beyond the start"]
    print(table([*heads, "times the faster VW", "the same by processor time"], rows), "\n")
    heads = ["partial_fit on hashed rows", "rows/s", "times the faster VW"]
    speeds = [count / best for best in lasts]
    named = zip(("keep last", "keep average"), speeds, strict=True)
    print(table(heads, [[keep, f"{speed:,.0f}", f"{speed / beyond[2:, 0].max():.2f}"] for keep, speed in named]))


if __name__ == "__main__":
    main()
