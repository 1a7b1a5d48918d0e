"""
A file larger than the memory it may use
========================================

A million rows in a Parquet file of 100 MB, read with 8 MB. linsep never holds them: it scans them a piece at a time, as
often as it needs to, and memory does not grow with the number of rows. The same call takes a folder of files, CSV,
Arrow, `.npy` and others.
"""

import tempfile
import time
from pathlib import Path

import linsep

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "planted.parquet"
linsep.datasets.write_planted(path, 1_000_000, 10, margin=0.01, seed=1)

start = time.perf_counter()
source = linsep.open(path, label="y", memory="8MB")
verdict = linsep.decide(source)
print(verdict.explain())
print(f"{path.stat().st_size / 1e6:.0f} MB decided in {time.perf_counter() - start:.1f} s")

# %%
# The proof is small, and is checked by one more read. It is the same with more memory.

verdict.verify(source)
print(f"{len(verdict.to_json()):,} characters")
print(linsep.decide(linsep.open(path, label="y")).weights == verdict.weights)

# %%
# A classifier learns from it in the same way.

model = linsep.PerceptronClassifier(order="cyclic", max_passes=3).fit(source)
print(f"error {1 - model.score(source):.2%} after {model.n_updates_:,} updates")

# %%
# Of so many rows a sample is drawn. The hyperplane is that of the verdict.

linsep.plots.separation(source, verdict=verdict)
folder.cleanup()
