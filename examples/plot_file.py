"""
A file, read where it lies
==========================

A million rows in a Parquet file. linsep never holds them: it scans them a piece at a time, as often as it needs to, and
memory does not grow with the number of rows. The same call takes a folder of files, CSV, Arrow, `.npy` and others.
"""

import tempfile
import time
from pathlib import Path

import linsep

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "planted.parquet"
linsep.datasets.write_planted(path, 1_000_000, 10, margin=0.01, seed=1)

start = time.perf_counter()
source = linsep.open(path, label="y")
verdict = linsep.decide(source)
print(verdict.explain())
print(f"{path.stat().st_size / 1e6:.0f} MB decided in {time.perf_counter() - start:.1f} s")

# %%
# The proof is small, and is checked by one more read.

verdict.verify(source)
print(f"{len(verdict.to_json()):,} characters")
folder.cleanup()
