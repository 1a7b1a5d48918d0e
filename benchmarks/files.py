"""Files far larger than the memory: verdicts and fits of generated files, their memory, and a read against pyarrow's.

python benchmarks/files.py [--parquet 1e6,1e7,1e8] [--csv 1e6,1e7] [--columns 10] [--folder DIR]

Each `linsep decide` and `linsep fit` is a process of its own with --memory 512MB; its peak is what the system counted.
A read is compared with pyarrow's bare read of the same columns of the same file, all from the page cache, taking turns
in one process: the median over rounds of the ratio to the fastest bare read of the round, one round for files of
50,000,000 rows or more. Parquet is read bare in two ways, by `iter_batches` and by `read_row_group` in a loop.
CSV files of that size have 4 columns.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import linsep
from timing import seconds, table

MEMORY = "512MB"
LARGE, FEW_COLUMNS = 50_000_000, 4  # rows of CSV from which on fewer columns are written: text takes 20 bytes a number
BYTES = {"parquet": 10.5, "csv": 20 + 8.5}  # of a number on the disk, that of the cache included
ROUNDS = 5


def main():
    asked = arguments()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        warm_up(folder)
        runs, reads = [], []
        for kind, counts in (("parquet", asked.parquet), ("csv", asked.csv)):
            for rows in (int(float(text)) for text in counts.split(",") if text):
                columns = FEW_COLUMNS if kind == "csv" and rows >= LARGE else asked.columns
                path = generate(folder, kind, rows, columns)
                what = [f"{kind}, {columns} columns", f"{rows:,}", f"{path.stat().st_size / 1e9:.2f}"]
                runs += [[*what, *line] for line in commands(path)]
                reads.append([*what, *ratios(path, kind)])
                for left in folder.iterdir():
                    left.unlink()
                print(runs[-2:], reads[-1], file=sys.stderr)
    heads = ["file", "rows", "GB", "command", "answer", "reads after the first", "s", "peak, MB"]
    text = f"Each command with `--memory {MEMORY}`:\n\n{table(heads, runs)}\n\n"
    heads = ["file", "rows", "GB", "bare read, s", "first read", "each later read"]
    text += f"Times the fastest bare read by pyarrow:\n\n{table(heads, reads)}\n"
    print(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parquet", default="1e6,1e7,1e8", help="how many rows the Parquet files have")
    parser.add_argument("--csv", default="1e6,1e7", help="and the CSV files")
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument(
        "--folder", default=os.environ.get("LINSEP_SCALE"), help="where the files are made, and removed"
    )
    return parser.parse_args()


def generate(folder, kind, rows, columns):
    """A file of planted rows, if the disk has room for it and for its cache."""
    needed, free = rows * (columns + 1) * BYTES[kind], shutil.disk_usage(folder).free
    if needed > 0.9 * free:
        raise SystemExit(f"{folder}: {needed / 1e9:.0f} GB are needed, {free / 1e9:.0f} are free. Give --folder.")
    path = folder / f"planted.{kind}"
    linsep.datasets.write_planted(str(path), rows, columns)
    return path


def warm_up(folder):
    """Let Numba compile before anything is measured: compilers need memory too. Fewer rows are read in another way."""
    for kind in ("parquet", "csv"):
        path = generate(folder, kind, 1_000_000, 10)
        list(commands(path))
        for left in folder.iterdir():
            left.unlink()


def commands(path):
    """What `decide` and `fit` answer, how often they read the rows, how long they take, how much memory they need."""
    for words in (["decide", path], ["fit", path, "--max-passes", "2"]):
        status, took, peak, said = run([*words, "--label", "y", "--memory", MEMORY])
        if status > 1:
            raise SystemExit(said)
        reads = re.search(r"([0-9]+) (reads?|pass(es)?)\b", said)
        answer = re.split(r"[:(]", said.strip().splitlines()[0])[0]
        yield [words[0], answer.strip(), reads[1] if reads else "", f"{took:.1f}", f"{peak / 1e6:.0f}"]


def run(words):
    """Status, seconds, peak of resident memory in bytes and output of the command line with these words.

    A process inherits the peak of the one that starts it: a small one stands between this one and the command.
    """
    command = [sys.executable, "-c", BETWEEN, sys.executable, "-m", "linsep.cli", *map(str, words)]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    took = time.perf_counter() - start
    said, _, peak = done.stdout.rstrip().rpartition("\n")
    return done.returncode, took, 1024 * int(peak), said


BETWEEN = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def ratios(path, kind):
    """Seconds of the fastest bare read, and how many times as long the first and each later read take."""
    source = linsep.open(path, label="y", memory=MEMORY)
    w = np.ones(source.n_columns)
    works = [lambda: first_read(path), lambda: source.scan(w, 0.0, worst=1000)]
    bare = [read_parquet, read_groups] if kind == "parquet" else [read_csv]
    works += [lambda read=read: read(path) for read in bare]
    works[1]()
    times = np.array([[seconds(work) for work in works] for _ in range(1 if source.n_rows >= LARGE else ROUNDS)])
    fastest = times[:, 2:].min(axis=1)
    shown = [np.median(fastest), *(np.median(times[:, k] / fastest) for k in (0, 1))]
    return [f"{number:.2f}" for number in shown]


def first_read(path):
    """Opening a file, its cache written anew."""
    with tempfile.TemporaryDirectory(dir=path.parent) as cache:
        linsep.open(path, label="y", memory=MEMORY, cache=cache)


def read_parquet(path):
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches():
            pass


def read_groups(path):
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            file.read_row_group(group)


def read_csv(path):
    from pyarrow import csv

    with csv.open_csv(path) as file:
        for _ in file:
            pass


if __name__ == "__main__":
    main()
