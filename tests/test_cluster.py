"""Real clusters of separate processes: the same verdict and proof from any of them, and clear words where one fails."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from cloudpickle import dumps

import linsep
from linsep.errors import ClusterError, NotFiniteError
from linsep.solvers import clock
from linsep.sources.cluster.dask_source import Cluster, _version_of

X, Y = linsep.datasets.planted(20_000, 4, margin=0.005, seed=5)
FLIPPED = np.where(np.arange(20_000) % 4999 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(20_000) % 9 == 0, FLIPPED, 0)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture(scope="module", params=[1, 2, 4])
def client(request):
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": "1GB"}
    with distributed.LocalCluster(n_workers=request.param, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def proof(verdict):
    told = json.loads(verdict.to_json())
    return json.dumps({key: value for key, value in told.items() if key not in ("effort", "sha256")})


def cut(X, y, rows):
    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)


@pytest.mark.parametrize("kind", CASES)
def test_workers_and_partitions_change_neither_verdict_nor_proof(client, kind):
    known = linsep.decide(*CASES[kind])
    for rows in (20_000, 7_001, 1_500):
        verdict = linsep.decide(*cut(*CASES[kind], rows))
        assert (verdict.kind, proof(verdict)) == (kind, proof(known))


@pytest.mark.parametrize("layout", ["arrays", "frame"])
def test_partitions_that_workers_hold_are_asked_about_in_few_tasks(client, layout, monkeypatch):
    if layout == "arrays":
        held = [own.persist() for own in cut(X, Y, 500)]
    else:
        held = [dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(kind=Y), npartitions=40).persist()]
    distributed.wait(held)
    run, sizes = Cluster._run, []
    monkeypatch.setattr(Cluster, "_run", lambda own, tasks: sizes.append(len(tasks)) or run(own, tasks))
    source = linsep.open(held[0], label=held[1] if held[1:] else "kind")
    assert source.n_partitions == 40
    assert linsep.decide(source).weights == linsep.decide(X, Y).weights
    assert max(sizes) <= 3 * len(client.nthreads())


def test_the_work_is_done_by_the_workers(client):
    source = linsep.open(*cut(X, Y, 5_000)[:1], label=cut(X, Y, 5_000)[1])
    pids = set(source.each(lambda block: os.getpid()))
    assert len(pids) <= len(client.scheduler_info(n_workers=-1)["workers"]) and os.getpid() not in pids


def test_a_fit_does_not_depend_on_the_number_of_workers(client, request):
    fitted = linsep.PerceptronClassifier(random_state=0, max_passes=3).fit(*cut(X, FLIPPED, 3_000))
    known = request.config.stash.setdefault(FITTED, fitted.coef_)
    assert np.array_equal(fitted.coef_, known)


FITTED = pytest.StashKey()


def test_files_are_read_by_the_workers_of_an_address(client, tmp_path):
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=Y)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=3_000, index=False)
    source = linsep.open(tmp_path / "*.parquet", label="kind", scheduler=client.scheduler.address)
    known = linsep.decide(linsep.open(tmp_path / "*.parquet", label="kind"))
    assert proof(linsep.decide(source)) == proof(known)


def test_files_with_gaps_and_ids_are_read_by_workers(client, tmp_path):
    """What rows are called is asked here: it was sent to the workers, with the client in it."""
    table = pd.DataFrame(X[:3_000], columns=list("abcd")).assign(kind=Y[:3_000], who=[f"r{k}" for k in range(3_000)])
    table.loc[7, "b"] = np.nan
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=700, index=False)
    options = {"label": "kind", "missing": "drop", "id": "who"}
    here, there = (linsep.open(tmp_path / "rows.parquet", **options, scheduler=own) for own in (None, client))
    assert proof(linsep.decide(there)) == proof(linsep.decide(here)) and there.facts.rows_left_out == 1
    assert linsep.novikoff(there).bound == linsep.novikoff(here).bound


def test_what_is_no_scheduler_or_closed_is_told_at_once(client, tmp_path):
    pd.DataFrame(X, columns=list("abcd")).assign(kind=Y).to_parquet(tmp_path / "a.parquet", row_group_size=1000)
    address = client.scheduler.address
    other = distributed.Client(address, set_as_default=False)
    source = linsep.open(tmp_path, label="kind", scheduler=other)
    other.close()
    for ask in (lambda: linsep.decide(source), lambda: linsep.open(tmp_path, label="kind", scheduler=other)):
        with pytest.raises(ClusterError, match="The client of Dask is closed"):
            ask()
    for wrong in (next(iter(client.nthreads())), address.replace("tcp", "tls")):
        with pytest.raises(ClusterError, match="No scheduler answers"):
            linsep.open(tmp_path, label="kind", scheduler=wrong)


def test_an_error_of_a_worker_names_its_partition(client):
    bad = X.copy()
    bad[17_003, 2] = np.inf
    with pytest.raises(NotFiniteError, match=r"partition 3: row 2003, column 2.* holds inf"):
        linsep.decide(*cut(bad, Y, 5_000))


def test_a_worker_with_another_version_or_without_linsep_is_named(client, monkeypatch):
    for version, said in (("0.0.9", "has linsep 0.0.9; here it is"), ("", "has no linsep; here it is")):
        monkeypatch.setattr("linsep.sources.cluster.dask_source._version_of", lambda version=version: lambda: version)
        with pytest.raises(ClusterError, match=rf"Worker tcp://127\.0\.0\.1:\d+ {said}"):
            linsep.decide(*cut(X, Y, 5_000))


def test_a_scan_moves_as_much_for_many_rows_as_for_few(client, monkeypatch):
    """What is sent to the workers, and what comes back from them, pickled: for four partitions of any size."""
    sent = []
    ask = Cluster._delayed
    monkeypatch.setattr(Cluster, "_delayed", lambda *a: sent[-1].append(len(dumps(a[1]))) or ask(*a))
    answers = []
    for times in (1, 4):
        rows, labels = cut(np.concatenate([X] * times), np.concatenate([Y] * times), 5_000 * times)
        sent.append([])
        source = linsep.open(rows.persist(), label=labels.persist())
        sent[-1] = []
        answers.append(len(dumps(source.scan(np.ones(4), 0.5, worst=50))))
    assert abs(sum(sent[1]) - sum(sent[0])) < 100 and abs(answers[1] - answers[0]) < 100
    assert sum(sent[1]) + 4 * answers[1] < 30_000 < X.nbytes


@pytest.mark.parametrize("ask", [linsep.decide, linsep.max_margin, linsep.mle_exists])
def test_a_mute_worker_does_not_outlast_the_time_limit(ask, monkeypatch):
    """A stopped process is not dead: the answer was awaited as long as it slept."""
    monkeypatch.setattr(clock, "LAST_STEPS_S", 1.0)
    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": 0, "processes": True}
    with distributed.LocalCluster(n_workers=1, **options) as cluster, distributed.Client(cluster) as client:
        source = linsep.open(*cut(X, FLIPPED, 5_000)[:1], label=cut(X, FLIPPED, 5_000)[1])
        (pid,) = client.run(os.getpid).values()
        os.kill(pid, signal.SIGSTOP)
        try:
            start = time.perf_counter()
            found = ask(source, time_limit=1.0)
            assert time.perf_counter() - start < 8
        finally:
            os.kill(pid, signal.SIGCONT)
    verdict = getattr(found, "verdict", found)
    assert verdict.reason == "The time limit of 1 seconds was too short to prove anything."


@pytest.mark.skipif(sys.platform == "win32", reason="a group of processes is interrupted")
@pytest.mark.parametrize("after", [None, 2.5, 3.5])
def test_own_workers_leave_in_silence(tmp_path, after):
    """Ctrl-C reaches all processes of a terminal; and Dask warned of the port of a page that nobody asked for."""
    pd.DataFrame(X, columns=list("abcd")).assign(kind=FLIPPED).to_parquet(tmp_path / "rows.parquet", index=False)
    command = [sys.executable, "-m", "linsep", "decide", str(tmp_path / "rows.parquet"), "--label", "kind"]
    with socket.socket() as busy:
        with suppress(OSError):  # else another program has it
            busy.bind(("127.0.0.1", 8787))
            busy.listen()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*command, "--workers", "2"], start_new_session=True, **pipes) as running:
            if after is not None:
                time.sleep(after)
                os.killpg(running.pid, signal.SIGINT)
            told = running.communicate(timeout=60)[1]
    while_python_ends = [(130, ""), (-signal.SIGINT, "")]  # the answer has been given; a shell says 130 for both
    assert (running.returncode, told) in [(130, "linsep: interrupted.\n"), (1, ""), *while_python_ends]


def test_the_question_about_the_version_can_be_asked_where_linsep_is_not():
    script = "import sys, pickle; sys.modules['linsep'] = None; print(repr(pickle.load(sys.stdin.buffer)()))"
    asked = subprocess.run([sys.executable, "-c", script], input=dumps(_version_of()), capture_output=True, check=True)
    assert asked.stdout == b"''\n"


@pytest.mark.campaign
@pytest.mark.timeout(600)
def test_rows_that_no_worker_could_hold_are_decided(tmp_path):
    """720 MB of rows; a worker may take 700 MB, of which Python and its libraries are half."""
    random, w = np.random.default_rng(0), np.ones(20) / np.sqrt(20)
    for k in range(18):
        X = random.standard_normal((250_000, 20))
        score = X @ w
        X += np.outer(0.5 * np.sign(score), w)
        table = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)]).assign(kind=score > 0)
        table.to_parquet(tmp_path / f"{k}.parquet", row_group_size=125_000, index=False, compression=None)
    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": "700MB"}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        source = linsep.open(tmp_path / "*.parquet", label="kind", scheduler=client)
        verdict = linsep.decide(source)
    assert verdict.kind == "separable" and (verdict.n_rows, source.n_partitions) == (4_500_000, 36)
