"""Workers killed in the middle of a run: the right answer or a clean failure, never a wrong one.

    python -m tests.campaigns.worker_kills 50 [SEED]

Each run decides, or finds the widest margin of, rows whose answer and proof are known, on a cluster of three processes.
At a random moment one of them, sometimes two, is killed (SIGKILL). What comes out must be the verdict and the proof, to
the byte, that one process finds, or an error of linsep that says what happened. A third of the runs have a time limit.
"""

import json
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import linsep
from linsep.errors import LinsepError

WORKERS, ROWS, PARTS = 3, 240_000, 48
FAR = 600  # seconds: a limit that is not reached, but under which answers are awaited in another way


def proof(verdict):
    told = json.loads(verdict.to_json())
    return json.dumps({key: value for key, value in told.items() if key not in ("effort", "sha256")})


def questions(folder):
    """Rows, where they lie, and what is asked about them."""
    X, y = linsep.datasets.planted(ROWS, 6, margin=0.002, seed=3)
    flipped = np.where(np.arange(ROWS) % 49_999 == 5, -y, y)
    pure = np.column_stack([X, np.where(np.arange(ROWS) % 9 == 0, flipped, 0)])
    for k, (rows, labels) in enumerate([(X, y), (X, flipped), (pure, flipped)]):
        table = pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])]).assign(kind=labels)
        table.to_parquet(Path(folder, f"{k}.parquet"), row_group_size=ROWS // PARTS, index=False)
        for ask in (linsep.decide, linsep.max_margin) if k == 0 else (linsep.decide,):
            what = ask, rows, labels, Path(folder, f"{k}.parquet")
            known = {kind: asked(*what, kind, "synchronous") for kind in ("files", "array")}
            assert {verdict.kind for verdict in known.values()} == {ask(rows, labels).kind}
            yield *what, {kind: proof(verdict) for kind, verdict in known.items()}


def asked(ask, rows, labels, path, kind, client, **limit):
    """The answer from files, or from an array that workers hold."""
    if kind == "files":
        return ask(linsep.open(path, label="kind", scheduler=client), **limit)
    size = ROWS // PARTS
    parts = [da.from_array(rows, chunks=(size, -1)), da.from_array(labels, chunks=size)]
    if client != "synchronous":
        parts = client.persist(parts)
    return ask(linsep.open(parts[0], label=parts[1], scheduler=client), **limit)


def kill(pids, number, after, told):
    """Kill some workers after some seconds."""
    time.sleep(after)
    for pid in random.sample(pids, number):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            told.append(pid)


def run(client, question, kind, number, after, limit):
    """One run: whether its answer was right, how it failed, and how many workers died in it."""
    *what, known = question
    pids, told = list(client.run(os.getpid, on_error="ignore").values()), []
    killer = threading.Thread(target=kill, args=(pids, number, after, told))
    killer.start()
    started = time.monotonic()
    try:
        found = asked(*what, kind, client, **limit)
        outcome = "right" if proof(found) == known[kind] else "WRONG"
    except LinsepError as error:
        outcome = f"refused: {type(error).__name__}"
        print("   ", error, flush=True)
    took = time.monotonic() - started
    killer.join()
    return outcome, took, len(told), took > after


def are_there(client):
    """Whether all workers are back."""
    with suppress(Exception):
        client.wait_for_workers(WORKERS, timeout=15)
        return True
    return False


def main(runs, seed):
    random.seed(seed)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 60}
    outcomes, killed, inside, takes = Counter(), 0, 0, {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        every, client = list(questions(folder)), None
        for k in range(runs):
            if client is None or not are_there(client):
                stack.close()
                client = stack.enter_context(Client(stack.enter_context(LocalCluster(**options))))
            question, kind, number = every[k % len(every)], ("files", "array")[k // 4 % 2], 1 + (k % 5 == 4)
            usual = takes.get((k % len(every), kind), 6.0)
            limit = {"time_limit": FAR} if k % 3 == 2 else {}
            after = random.uniform(0.05, 0.8) * usual
            outcome, took, died, is_inside = run(client, question, kind, number, after, limit)
            takes[k % len(every), kind] = min(usual, took)
            outcomes[outcome], killed, inside = outcomes[outcome] + 1, killed + died, inside + is_inside
            print(f"{k + 1}: {question[0].__name__} {kind}: {outcome}, {took:.1f} s, {died} killed", flush=True)
    print(f"{runs} runs, {killed} workers killed, {inside} runs not yet done by then: {dict(outcomes)}")
    return int(outcomes["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
