"""What a cluster costs beside one process on the same cores, and what it moves.

    python benchmarks/cluster.py [ROWS] [COLUMNS] [WORKERS]

The same rows are decided by one process with as many threads as there are workers, and by workers of one thread each:
rows in memory against an array that workers hold, and Parquet files against Parquet files. Times are wall seconds and
CPU seconds of all processes together; bytes are those on the loopback device, heartbeats included.
"""

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

ROWS, COLUMNS, WORKERS = 20_000_000, 10, 2
SEEN = 2  # the better of two runs


def main(n_rows, n_columns, workers):
    os.environ["LINSEP_THREADS"] = str(workers)
    with tempfile.TemporaryDirectory(dir=os.environ.get("LINSEP_SCALE")) as folder:
        write(Path(folder), n_rows, n_columns)
        measure(Path(folder), workers)


def measure(folder, workers):
    for name, row in [*in_memory(folder), ("files", in_files(folder))]:
        show("one process", name, row)
    for name, row in on_cluster(folder, workers):
        show(f"{workers} workers", name, row)


def write(folder, n_rows, n_columns, at_once=1_000_000):
    """Rows with a margin, a million at a time: of each a file, with two row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    w = np.random.default_rng(0).standard_normal(n_columns)
    w /= np.linalg.norm(w)
    for k, start in enumerate(range(0, n_rows, at_once)):
        random = np.random.default_rng(k + 1)
        X = random.standard_normal((min(at_once, n_rows - start), n_columns))
        score = X @ w
        X += np.outer(np.sign(score) * 0.01, w)
        columns = {f"c{j}": X[:, j] for j in range(n_columns)} | {"kind": np.where(score > 0, 1, -1)}
        pq.write_table(pa.table(columns), folder / f"{k:04}.parquet", row_group_size=at_once // 2, compression="none")


def load(file):
    """One file as rows and labels."""
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    values = [table[name].to_numpy() for name in table.column_names[:-1]]
    return np.ascontiguousarray(np.column_stack(values)), table["kind"].to_numpy()


def in_memory(folder):
    """Deciding rows in memory, and one scan of them."""
    import linsep
    from linsep.sources.inputs import as_source

    parts = [load(file) for file in sorted(folder.glob("*.parquet"))]
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    del parts
    yield "in memory", best(partial(linsep.decide, X, y))
    yield "one scan", best(scan_of(as_source(X, y)))


def in_files(folder):
    import linsep

    return best(lambda: linsep.decide(linsep.open(f"{folder}/*.parquet", label="kind")))


def on_cluster(folder, workers):
    """The same on workers that hold the rows, and on workers that read them."""
    from distributed import Client, LocalCluster, wait

    import linsep

    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0, "silence_logs": 40}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        files = sorted(folder.glob("*.parquet"))
        X, y = held(client, files)
        wait([X, y])
        yield "in memory", best(partial(linsep.decide, X, y), pids)
        yield "one scan", best(scan_of(linsep.open(X, label=y)), pids)
        X = y = None
        asked = {"label": "kind", "scheduler": client}
        yield "files", best(lambda: linsep.decide(linsep.open(f"{folder}/*.parquet", **asked)), pids)


def held(client, files):
    """The rows and labels of files as arrays that workers hold, each file a chunk."""
    import dask
    import dask.array as da

    both, columns = [dask.delayed(load, nout=2)(file) for file in files], load(files[-1])[0].shape[1]
    rows = [da.from_delayed(x, (np.nan, columns), float) for x, _ in both]
    labels = [da.from_delayed(y, (np.nan,), int) for _, y in both]
    return client.persist([da.concatenate(part, allow_unknown_chunksizes=True) for part in (rows, labels)])


def scan_of(source):
    """One round: all rows scanned under one vector."""
    w = np.ones(source.n_columns)
    return lambda: source.scan(w, 0.5, worst=200)


def best(work, pids=()):
    """The better of two runs: wall and CPU seconds, and bytes on the loopback device."""
    found = []
    for _ in range(SEEN):
        started, cpu, moved = time.perf_counter(), seconds(pids), loopback()
        answer = work()
        took = time.perf_counter() - started, seconds(pids) - cpu, loopback() - moved
        found.append((*took, getattr(answer, "kind", "scan"), getattr(answer, "reads", 1)))
    return min(found, key=lambda row: row[1])


def seconds(pids):
    """CPU seconds of this process and of others."""
    ticks = 0
    for pid in [os.getpid(), *pids]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def loopback():
    """Bytes received on the loopback device so far."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[0])


def show(who, what, row):
    wall, cpu, moved, kind, reads = row
    print(
        f"{who:12} {what:10} {kind:10} {reads} reads {wall:7.2f} s {cpu:7.2f} CPU s {moved / 1e6:8.2f} MB", flush=True
    )


if __name__ == "__main__":
    main(*(int(one) for one in [*sys.argv[1:], *[str(n) for n in (ROWS, COLUMNS, WORKERS)][len(sys.argv) - 1 :]]))
