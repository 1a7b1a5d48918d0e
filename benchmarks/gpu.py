"""Rows on a GPU: the bandwidth that a scan reaches, a billion rows decided, and impossibility proved in wide spaces.

python benchmarks/gpu.py [scan] [billion] [wide] [mnist]      needs a CUDA device and PyTorch
"""

import sys
import time

import numpy as np
import torch

import linsep
from linsep.sources.device.gpu import on_device
from timing import table

GB = 10**9
PIECE = 1 << 24


def timed(work, rounds=7):
    """The median of several runs, in seconds, by the device's own clock."""
    work()
    found = []
    for _ in range(rounds):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(stop) / 1e3)
    return sorted(found)[rounds // 2]


def planted(n_rows, n_columns, margin, dtype=torch.float32, seed=0):
    """Normal rows made on the device, pushed away from a hidden hyperplane, and their labels."""
    random = torch.Generator("cuda").manual_seed(seed)
    normal = torch.randn(n_columns, generator=random, device="cuda", dtype=torch.float64)
    normal /= normal.norm()
    X = torch.empty((n_rows, n_columns), dtype=dtype, device="cuda")
    y = torch.empty(n_rows, dtype=torch.int8, device="cuda")
    step = max(1, PIECE * 32 // n_columns)
    for start in range(0, n_rows, step):
        part = X[start : start + step]
        part.normal_(generator=random)
        scores = part @ normal.to(dtype)
        side = torch.where(scores > 0, 1.0, -1.0).to(dtype)
        push = side * (1.001 * margin - scores.abs()).clamp_(min=0)
        part.addr_(push, normal.to(dtype))
        y[start : start + step] = side.to(torch.int8)
    return X, y


def read_bandwidth():
    """Bytes a second that a sum of 8 GiB reads."""
    values = torch.empty(2 << 30, dtype=torch.float32, device="cuda").normal_()
    return values.numel() * 4 / timed(values.sum)


def scans():
    """For each type and width: the bandwidth of the one pass over the rows, and of a scan with the 50 worst rows."""
    limit = read_bandwidth()
    for dtype in (torch.float32, torch.float64):
        for d in (32, 100, 1000):
            n_rows = (32 << 30) // (d * dtype.itemsize)
            X, y = planted(n_rows, d, 1e-2, dtype)
            source, w = on_device(X, y), np.random.default_rng(1).standard_normal(d)
            size = X.numel() * X.element_size() + n_rows
            bare = size / timed(lambda s=source, w=w: s._tiles(w, 0.5, 1e-9))
            there = torch.from_numpy(w).to("cuda", dtype)
            library = size / timed(lambda X=X, w=there: X @ w)
            whole = size / timed(lambda s=source, w=w: s.scan(w, 0.5, worst=50))
            yield [
                str(dtype)[6:], f"{d:,}", f"{limit / GB:,.0f}", f"{bare / GB:,.0f}", f"{bare / limit:.0%}",
                f"{whole / GB:,.0f}", f"{library / GB:,.0f}",
            ]  # fmt: skip
            del X, y, source
            torch.cuda.empty_cache()


def billion(n_rows=10**9):
    """A billion rows of 32 columns, 128 GB, made on the device: separable, and with one label turned over."""
    X, y = planted(n_rows, 32, 1e-2)
    linsep.decide(X[: 1 << 22], y[: 1 << 22])  # compiles
    for name in ("margin 0.01", "one label flipped"):
        if name != "margin 0.01":
            y[n_rows // 3] *= -1
        for _ in range(2):
            torch.cuda.synchronize()
            start = time.perf_counter()
            source = on_device(X, y)
            made = time.perf_counter() - start
            verdict = linsep.decide(source)
            total = time.perf_counter() - start
        start = time.perf_counter()
        verdict.verify(source)
        checked = time.perf_counter() - start
        rows = "" if verdict.kind == "separable" else len(verdict.obstruction.rows)
        yield [
            f"{n_rows:,} x 32, {name}", verdict.kind, verdict.reads, rows, f"{made:.2f}", f"{total:.2f}",
            f"{checked:.2f}",
        ]  # fmt: skip


def impossible(widths=(5_000, 10_000, 20_000)):
    """Random labels, 3.5 rows for each column: no hyperplane separates them, proved and checked there."""
    for d in (1_000, *widths):
        n_rows = int(3.5 * d)
        random = torch.Generator("cuda").manual_seed(d)
        X = torch.randn((n_rows, d), generator=random, device="cuda")
        y = torch.where(torch.rand(n_rows, generator=random, device="cuda") < 0.5, -1, 1).to(torch.int8)
        for _ in range(2):  # the first compiles for this number of columns
            torch.cuda.synchronize()
            start = time.perf_counter()
            source = on_device(X, y)
            verdict = linsep.decide(source)
            decided = time.perf_counter() - start
        start = time.perf_counter()
        verdict.verify(source)
        checked = time.perf_counter() - start
        size = len(verdict.to_json())
        peak = torch.cuda.max_memory_allocated() / 2**30
        if d > 1_000:  # the first warms up
            yield [
                f"{n_rows:,} x {d:,}", verdict.kind, f"{decided:.2f}", f"{checked:.2f}", len(verdict.obstruction.rows),
                f"{size / 1000:,.0f} kB", f"{peak:.1f}",
            ]  # fmt: skip
        del X, y, source, verdict
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def digits():
    """The 165 questions about MNIST of `mnist.py`, on the device."""
    import mnist
    from real_data import data_folder

    data = np.load(data_folder() / "mnist.npz")
    train, test = (data["X"], data["y"]), (data["X_test"], data["y_test"])
    both = tuple(np.concatenate(pair) for pair in zip(train, test, strict=True))
    for what, (images, labels) in (("test", test), ("training", train), ("both", both)):
        X, y = images.reshape(len(images), -1), labels.astype(int)
        found = []
        for name, rows, classes in mnist.problems(X, y):
            there = torch.from_numpy(np.ascontiguousarray(rows)).cuda()
            own = torch.from_numpy(np.ascontiguousarray(classes)).cuda()
            torch.cuda.synchronize()
            start = time.perf_counter()
            verdict = linsep.decide(there, own)
            found.append((time.perf_counter() - start, f"{name}: {verdict.kind}"))
        total, (longest, name) = sum(seconds for seconds, _ in found), max(found)
        print(what, len(found), f"{total:.1f} s", sorted(found)[-6:], flush=True)
        yield [what, len(found), f"{total:.1f}", f"{longest:.2f}", name]


def main(parts):
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    if "scan" in parts:
        heads = ["numbers", "columns", "read GB/s", "scan GB/s", "of the limit", "with worst rows", "torch X @ w"]
        print(table(heads, scans()), flush=True)
    if "billion" in parts:
        heads = [
            "rows",
            "verdict",
            "reads",
            "rows of the proof",
            "first read (s)",
            "with the verdict (s)",
            "verify (s)",
        ]
        print(table(heads, billion()), flush=True)
    if "wide" in parts:
        heads = ["rows", "verdict", "decide (s)", "verify (s)", "rows named", "proof", "GiB"]
        print(table(heads, impossible()), flush=True)
    if "mnist" in parts:
        heads = ["MNIST", "questions", "seconds", "longest", "which"]
        print(table(heads, digits()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["scan", "billion", "wide"])
