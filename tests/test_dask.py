"""Rows of a Dask collection: the verdicts, proofs and refusals of the same rows in memory, however they are cut up."""

import asyncio
import json
import socket
import time
from contextlib import nullcontext
from decimal import Decimal
from types import SimpleNamespace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import linsep
from linsep.cli import main
from linsep.errors import (
    ArgumentError,
    ChangedFileError,
    ClusterError,
    ColumnTypeError,
    DamagedFileError,
    DifferentFilesError,
    InputError,
    LengthError,
    NoRowsError,
    NotFiniteError,
    OneClassError,
)
from linsep.questions import mistakes as mistakes_module
from linsep.solvers import peel, working_set
from linsep.sources.cluster import dask_source
from linsep.sources.cluster.row_groups import RowGroup
from linsep.sources.inputs import as_classes, as_source

X, Y = linsep.datasets.planted(2500, 4, margin=0.01, seed=5)
FLIPPED = np.where(np.arange(2500) % 997 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(2500) % 9 == 0, FLIPPED, 0)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}
CUTS = {"one": (2500,), "even": (500,) * 5, "odd": (1, 1700, 0, 3, 700, 96), "small": (50,) * 50}


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(X, y, cut=(900, 1600)):
    rows = [dask.delayed(part) for part in np.split(X, np.cumsum(cut)[:-1])]
    labels = [dask.delayed(part) for part in np.split(np.asarray(y), np.cumsum(cut)[:-1])]
    join = [da.from_delayed(part, (size, X.shape[1]), X.dtype) for part, size in zip(rows, cut, strict=True)]
    own = [da.from_delayed(part, (size,), np.asarray(y).dtype) for part, size in zip(labels, cut, strict=True)]
    return da.concatenate(join), da.concatenate(own)


def frames(*parts):
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False)


def proof(verdict):
    """The proof as text, without what measures the work."""
    told = json.loads(verdict.to_json())
    return json.dumps({key: value for key, value in told.items() if key not in ("effort", "sha256")})


@pytest.fixture(params=["in NumPy", "compiled"])
def way(request, monkeypatch):
    """Few rows are scanned in NumPy, many by compiled loops: what is said here holds for both."""
    if request.param == "compiled":
        monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)


@pytest.mark.parametrize("kind", CASES)
def test_neither_verdict_nor_proof_depends_on_the_partitions(kind, way):
    verdicts = [linsep.decide(*arrays(*CASES[kind], cut)) for cut in CUTS.values()]
    assert {verdict.kind for verdict in verdicts} == {kind}
    assert len({proof(verdict) for verdict in [*verdicts, linsep.decide(*CASES[kind])]}) == 1


@pytest.mark.parametrize("kind", CASES)
def test_nor_on_whether_they_are_arrays_or_dataframes(kind, way):
    rows, labels = CASES[kind]
    frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(rows.shape[1])]).assign(kind=labels)
    known = proof(linsep.decide(frame.drop(columns="kind"), labels))
    for partitions in (1, 7):
        assert proof(linsep.decide(dd.from_pandas(frame, npartitions=partitions), "kind")) == known


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_nor_where_the_rows_are_too_many_to_be_held(kind, way, monkeypatch):
    monkeypatch.setattr(dask_source, "SAMPLE_BYTES", 1)
    monkeypatch.setattr(dask_source, "LEAST_AT_HAND", 64)
    monkeypatch.setattr(peel, "AT_HAND", 16)
    monkeypatch.setattr(working_set, "MANY", 3)
    verdicts = [linsep.decide(*arrays(*CASES[kind], cut)) for cut in CUTS.values()]
    assert {verdict.kind for verdict in verdicts} == {kind}
    assert len({proof(verdict) for verdict in verdicts}) == 1


@pytest.mark.parametrize("layout", ["frame", "label column", "sparse", "float32", "integers", "unknown chunks"])
def test_every_kind_of_partition_is_read(layout):
    whole = np.round(X * 100).astype(np.int64) if layout == "integers" else X
    rows, labels = arrays(whole.astype(np.float32) if layout == "float32" else whole, Y)
    if layout in ("frame", "label column"):
        frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(kind=Y), npartitions=3)
        rows, labels = (frame, "kind") if layout == "label column" else (frame[list("abcd")], frame["kind"])
    if layout == "sparse":
        rows = rows.map_blocks(sp.csr_array)
    if layout == "unknown chunks":
        rows, labels = rows[labels > -9], labels[labels > -9]
    assert linsep.decide(rows, labels).kind == linsep.decide(whole, Y).kind


@pytest.mark.slow
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_margin_likelihood_and_mistakes_are_those_of_the_rows_in_memory(cut):
    pairs = [(linsep.max_margin, (X, Y)), (linsep.mle_exists, (PURE, FLIPPED)), (linsep.novikoff, (X, Y))]
    for ask, data in pairs:
        mine, known = ask(*arrays(*data, cut)), ask(*data)
        mine, known = getattr(mine, "verdict", mine), getattr(known, "verdict", known)
        assert proof(mine) == proof(known) if hasattr(mine, "to_json") else mine.bound == known.bound


def test_of_too_many_rows_to_be_held_the_fewest_mistakes_are_bounded(monkeypatch):
    monkeypatch.setattr(dask_source, "SAMPLE_BYTES", 1)
    monkeypatch.setattr(mistakes_module, "SAMPLE", 300)
    found = linsep.fewest_mistakes(*arrays(X, FLIPPED), time_limit=20)
    assert 1 <= found.lower <= found.best <= 50
    found.verify(linsep.open(arrays(X, FLIPPED)[0], label=arrays(X, FLIPPED)[1]))


def test_a_verdict_is_verified_on_the_cluster_too():
    rows, labels = arrays(X, Y)
    verdict = linsep.decide(X, Y)
    verdict.verify(linsep.open(rows, label=labels))
    with pytest.raises(linsep.CertificateError):
        verdict.verify(linsep.open(rows[::-1].rechunk((900, 4)), label=labels.rechunk(900)))


def test_only_the_rows_asked_for_leave_a_partition():
    source = as_source(*arrays(X, Y, CUTS["odd"]))
    block = source.take([2400, 3, 3, 1702])
    assert block.row_numbers.tolist() == [2400, 3, 3, 1702]
    assert np.array_equal(block.values, X[[2400, 3, 3, 1702]]) and len(source.take([])) == 0
    assert np.array_equal(source.sample(50, 7).values, as_source(X, Y).sample(50, 7).values)


def test_blocks_and_work_come_in_row_order():
    source = as_source(*arrays(X, Y, CUTS["odd"]))
    assert np.concatenate([block.row_numbers for block in source.blocks()]).tolist() == [*range(2500)]
    assert list(source.each(len)) == [1, 1700, 3, 700, 96]


def test_more_than_two_classes_are_learned_from_and_not_decided():
    rows, labels = arrays(X, np.arange(2500) % 3)
    assert as_classes(rows, labels).facts.labels == (0, 1, 2)
    with pytest.raises(InputError, match="more than two labels"):
        linsep.decide(rows, labels)
    assert linsep.decide(linsep.open(rows, label=labels, positive=2)).labels == ("not 2", 2)


@pytest.mark.parametrize("labels", [Y, np.argmax(X[:, :2] * [1, 9], axis=1)], ids=["as they are", "by columns"])
def test_the_widest_margin_is_fitted_on_a_cluster(labels):
    fitted = linsep.MaxMarginClassifier().fit(*arrays(X, labels))
    known = linsep.MaxMarginClassifier().fit(X, labels)
    assert fitted.margin_ == known.margin_ and fitted.coef_.tolist() == known.coef_.tolist()
    assert fitted.score(*arrays(X, labels)) == 1.0


def test_the_fewest_mistakes_are_fitted_on_a_cluster():
    few, labels = X[:60], np.where(np.arange(60) % 17 == 5, -Y[:60], Y[:60])
    fitted = linsep.FewestMistakesClassifier(cost={-1: 1, 1: 2}).fit(*arrays(few, labels, (10, 50)))
    assert fitted.best_.tolist() == linsep.FewestMistakesClassifier(cost={-1: 1, 1: 2}).fit(few, labels).best_.tolist()


@pytest.mark.parametrize("model", ["Perceptron", "MaxMargin", "KernelPerceptron", "Regions"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::linsep.NotSeparableWarning")
def test_scores_of_a_dask_collection_wait_until_they_are_needed(model, n_classes):
    rows, labels = X[:150], np.arange(150) % 3 if n_classes == 3 else Y[:150]
    fitted = getattr(linsep, f"{model}Classifier")().fit(rows, labels)
    known = fitted.decision_function(rows)
    for X_there in (da.from_array(rows, chunks=(70, 2)), dd.from_pandas(pd.DataFrame(rows), npartitions=3)):
        found = fitted.decision_function(X_there)
        assert isinstance(found, da.Array) and found.ndim == known.ndim
        assert np.allclose(found.compute(), known, rtol=1e-12, atol=0)
        assert fitted.predict(X_there).compute().tolist() == fitted.predict(rows).tolist()


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_of_a_dask_array_are_predicted_too(layout):
    fitted = linsep.PerceptronClassifier().fit(X, Y)
    there = da.from_array(X, chunks=(900, 4)).map_blocks(layout)
    assert fitted.predict(there).compute().tolist() == fitted.predict(X).tolist()


def test_rows_without_a_margin_get_a_soft_one():
    with pytest.warns(linsep.NotSeparableWarning):
        fitted = linsep.MaxMarginClassifier().fit(*arrays(X, FLIPPED))
    assert fitted.score(X, FLIPPED) > 0.95


# What cannot be used ---------------------------------------------------------------------------------


def part(**changed):
    return pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.5, 3.0], "kind": ["x", "y", "y"]}).assign(**changed)


def refused(*parts, kind=InputError):
    with pytest.raises(kind) as caught:
        linsep.decide(frames(*parts), "kind")
    return str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_bad_number_is_named_by_partition_row_column_and_value(value, way):
    said = refused(part(), part(b=[1.0, 2.0, value]), kind=NotFiniteError)
    assert said.startswith(f"partition 1: row 2, column 'b' holds {'NaN' if np.isnan(value) else value}: not a finite")


def test_partitions_of_different_types_are_refused_by_name():
    said = refused(part(), part(a=[1, 2, 3]), kind=DifferentFilesError)
    assert said.startswith("partition 1: column 'a' is of type int64, but float64 in partition 0.")


def test_partitions_of_different_columns_are_refused_by_name():
    said = refused(part(), part().rename(columns={"b": "c"}), kind=DifferentFilesError)
    assert said.startswith("partition 1: the columns are 'a', 'c', but 'a', 'b' in partition 0.")


def test_labels_of_different_types_are_refused_by_name():
    assert refused(part(), part(kind=[1, 2, 2])).startswith("partition 1: the labels are of type int64, but ")


def test_a_dense_partition_beside_sparse_ones_is_refused_by_name():
    rows, labels = arrays(X, Y)
    mixed = da.concatenate([rows.blocks[0], rows.blocks[1].map_blocks(sp.csr_array)])
    with pytest.raises(DifferentFilesError, match="partition 1: the rows are sparse, but dense in partition 0"):
        linsep.decide(mixed, labels)


def test_empty_partitions_are_passed_by_unless_all_are():
    assert linsep.decide(frames(part()[:0], part(), part()[:0].astype(object)), "kind").kind == "separable"
    assert "None of the 2 partitions has a row" in refused(part()[:0], part()[:0], kind=NoRowsError)


def test_one_class_is_refused():
    assert "only one class" in refused(part(kind="x"), part(kind="x"), kind=OneClassError)


def test_a_missing_label_column_is_named():
    with pytest.raises(InputError, match=r"partition 0: there is no column 'sort'\. The columns are 'a', 'b', 'kind'"):
        linsep.decide(frames(part()), "sort")


def test_labels_cut_up_differently_are_refused():
    rows, labels = arrays(X, Y)
    with pytest.raises(ArgumentError, match="X has 2 partitions, but y has 1"):
        linsep.decide(rows[rows[:, 0] > -9], labels.rechunk(2500))
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    with pytest.raises(InputError, match="partition 0: X has 1,250 rows, but y has 900 labels"):
        linsep.decide(frame, labels)


def test_labels_that_are_no_collection_are_refused():
    with pytest.raises(ArgumentError, match="its labels are of type ndarray"):
        linsep.decide(arrays(X, Y)[0], Y)
    with pytest.raises(ArgumentError, match="y is missing"):
        linsep.decide(arrays(X, Y)[0])


def test_a_partition_that_changes_between_two_reads_is_refused():
    calls = []

    def fickle():
        calls.append(1)
        return X[: 2000 + len(calls)]

    rows = da.from_delayed(dask.delayed(fickle)(), (np.nan, 4), float)
    labels = da.from_delayed(dask.delayed(lambda: Y[: 2000 + len(calls)])(), (np.nan,), int)
    with pytest.raises(InputError):
        linsep.decide(rows, labels)


def test_no_scheduler_there():
    quickly = dask.config.set({"distributed.comm.timeouts.connect": "200ms"})
    with quickly, pytest.raises(ClusterError, match=r"No scheduler answers at tcp://127\.0\.0\.1:9"):
        linsep.open("x.parquet", label="y", scheduler="tcp://127.0.0.1:9")


def test_an_address_that_refuses_connections_is_not_tried_for_half_a_minute(monkeypatch):
    monkeypatch.setattr(dask_source, "REFUSED_S", 0.2)
    before = time.monotonic()
    with pytest.raises(ClusterError, match=r"No scheduler answers at tcp://127\.0\.0\.1:9"):
        linsep.open("x.parquet", label="y", scheduler="tcp://127.0.0.1:9")
    assert time.monotonic() - before < 10


def test_a_name_with_two_addresses_is_waited_for_too(monkeypatch):
    """If both refuse, asyncio raises a plain OSError."""
    both, stream = OSError("Multiple exceptions: ..., ..."), SimpleNamespace(close=lambda: None)
    answers = iter([both, both, (None, stream)])

    async def connected(host, port):
        if isinstance(answer := next(answers), OSError):
            raise answer
        return answer

    monkeypatch.setattr(asyncio, "open_connection", connected)
    asyncio.run(dask_source._require_listener("tcp://localhost:8786", 60.0))
    assert next(answers, None) is None


def test_a_person_sees_which_scheduler_is_asked(monkeypatch):
    told = []
    monkeypatch.setattr(dask_source, "REFUSED_S", 0.1)
    monkeypatch.setattr("linsep.cli.progress.waiting", lambda doing: told.append(doing) or nullcontext())
    assert main(["decide", "x.parquet", "--label", "y", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert told == ["Asking the scheduler at tcp://127.0.0.1:9"]


def test_what_never_answers_is_not_waited_for():
    quickly = dask.config.set({"distributed.comm.timeouts.connect": "200ms"})
    with socket.create_server(("127.0.0.1", 0)) as mute, quickly, pytest.raises(ClusterError, match="No scheduler"):
        linsep.open("x.parquet", label="y", scheduler=f"tcp://127.0.0.1:{mute.getsockname()[1]}")


# Files -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=Y.astype(float))
    table[:1000].to_parquet(tmp_path / "1.parquet", row_group_size=300, index=False)
    table[1000:].to_parquet(tmp_path / "2.parquet", row_group_size=2000, index=False)
    return tmp_path


def test_parquet_files_are_read_row_group_by_row_group(folder):
    source = linsep.open(folder / "*.parquet", label="kind", scheduler="synchronous")
    assert (source.n_rows, source.n_partitions, source.facts.labels) == (2500, 5, (-1, 1))
    assert source.where(1003) == (str(folder / "2.parquet"), 3)
    assert proof(linsep.decide(source)) == proof(linsep.decide(linsep.open(folder / "*.parquet", label="kind")))


def test_a_folder_a_list_and_another_filesystem_are_read_too(folder):
    import fsspec

    for file in folder.iterdir():
        fsspec.filesystem("memory").pipe(f"/rows/{file.name}", file.read_bytes())
    known = proof(linsep.decide(linsep.open(folder, label="kind", scheduler="synchronous")))
    for path in ("memory://rows/*.parquet", ["memory://rows/1.parquet", "memory://rows/2.parquet"]):
        source = linsep.open(path, label="kind", columns=["a", "b", "c", "d"], scheduler="synchronous")
        assert proof(linsep.decide(source)) == known


def test_a_bad_file_is_named(folder):
    (folder / "3.parquet").write_bytes(b"PAR1nonsensePAR1")
    with pytest.raises(InputError, match=r"3\.parquet: cannot be read as Parquet"):
        linsep.open(folder, label="kind", scheduler="synchronous")
    with pytest.raises(InputError, match="no file matches this pattern"):
        linsep.open(f"{folder}/*.pq", label="kind", scheduler="synchronous")
    with pytest.raises(InputError, match="there is no such file"):
        linsep.open(f"{folder}/4.parquet", label="kind", scheduler="synchronous")


def test_a_damaged_page_is_told_as_damage(folder):
    file = folder / "2.parquet"
    whole = bytearray(file.read_bytes())
    whole[4:2004] = b"U" * 2000
    file.write_bytes(whole)
    with pytest.raises(DamagedFileError, match=r"2\.parquet: cannot be read as Parquet: .*[^.]\. Download"):
        linsep.open(folder, label="kind", scheduler="synchronous")


@pytest.mark.parametrize("place", ["folder", "memory://changing"])
def test_a_file_that_changes_after_it_was_opened_is_refused(folder, place):
    """The same rows, labels and types with other numbers were decided, half of them old and half new."""
    import fsspec

    place = str(folder) if place == "folder" else place
    system, where = fsspec.url_to_fs(place)
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=Y)
    for values in (table, table.assign(a=table["a"].sample(frac=1, random_state=0, ignore_index=True))):
        if values is not table:
            source = linsep.open(f"{place}/*.parquet", label="kind", id="b", scheduler="threads")
        for k in (1, 2):
            system.pipe(f"{where}/{k}.parquet", values[1000 * (k - 1) : 1000 * k].to_parquet(index=False))
    for ask in (linsep.decide, linsep.novikoff, lambda own: own.facts.ids.at([3])):
        with pytest.raises(ChangedFileError, match=r"[12]\.parquet: the file changed while it was read\. Wait"):
            ask(source)


def test_what_a_cluster_cannot_do_is_refused(folder):
    with pytest.raises(ArgumentError, match="leave the other options out"):
        linsep.open(folder, label="kind", categories="all", scheduler="synchronous")
    with pytest.raises(ArgumentError, match="it must be the name of the label column"):
        linsep.open(folder, label=-1, scheduler="synchronous")


# Found by a stranger


def test_the_label_is_not_a_column_of_a_cluster_either(tmp_path):
    pd.DataFrame({"a": [1.0, 2, 3, 1.5], "k": [0, 1, 0, 1]}).to_parquet(tmp_path / "n.parquet")
    for columns, words in ((["a", "k"], "is the label"), (["a", "zz"], "zz"), (["a", "a"], "chosen twice")):
        with pytest.raises(linsep.InputError, match=words):
            linsep.open(tmp_path / "n.parquet", label="k", columns=columns, scheduler="synchronous")


def test_columns_called_by_numbers_are_found():
    frame = dd.from_pandas(pd.DataFrame({0: [1.0, 2, 3, 4], 1: [0, 0, 1, 1]}), npartitions=2)
    with dask.config.set(scheduler="synchronous"):
        assert linsep.decide(frame, "1").kind == "separable"


@pytest.mark.parametrize("scheduler", ["banana", "banana://x:1", 5, "tcp://nowhere"])
def test_what_is_no_scheduler_is_refused_at_once(scheduler, tmp_path):
    pd.DataFrame({"a": [1.0, 2], "k": [0, 1]}).to_parquet(tmp_path / "n.parquet")
    with pytest.raises(linsep.InputError, match="scheduler is"):
        linsep.open(tmp_path / "n.parquet", label="k", scheduler=scheduler)


def test_a_frame_whose_rows_are_elsewhere_is_not_read_here():
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2, 3, 4], "k": [0, 0, 1, 1]}), npartitions=2)
    with dask.config.set(scheduler="synchronous"):
        verdict = linsep.decide(frame, "k")
        verdict.verify(linsep.open(frame, label="k"))
        with pytest.raises(linsep.InputError, match="whose rows are on a cluster"):
            verdict.verify(frame[["a"]], frame["k"])


def test_a_file_that_is_read_by_its_url_is_not_written_to(tmp_path):
    path = tmp_path / "n.parquet"
    pd.DataFrame({"a": [1.0, 2], "k": [0, 1]}).to_parquet(path)
    content = path.read_bytes()
    for url in (f"file://{path}", f"local://{path}"):
        command = ["decide", url, "--label", "k", "--scheduler", "synchronous", "--proof", str(path)]
        assert main(command) == 2 and path.read_bytes() == content


def test_the_command_that_checks_a_proof_from_workers_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": [1.0, 2], "k": [0, 1]}).to_parquet("n.parquet")
    assert main(["decide", "n.*et", "--label", "k", "--scheduler", "synchronous", "--proof", "p.json"]) == 0
    assert "Check it with: linsep verify p.json 'n.*et' --label k\n" in capsys.readouterr().err
    assert main(["verify", "p.json", "n.*et", "--label", "k"]) == 0
    url = f"file://{tmp_path}/n.parquet"
    main(["decide", url, "--label", "k", "--scheduler", "synchronous", "--proof", "p.json"])
    assert "Check it where the rows are" in capsys.readouterr().err


def test_a_dask_frame_keeps_its_names_and_says_what_it_cannot_do():
    frame = dd.from_pandas(pd.DataFrame({"height": [1.0, 2.0, 3.0], "kind": ["a", "a", "b"]}), npartitions=2)
    assert linsep.decide(frame[["height"]], frame["kind"]).names == ("height",)
    assert linsep.decide(frame, "kind").names == ("height",)
    for options in ({"missing": "fill"}, {"categories": {"height": "all"}}):
        with pytest.raises(ArgumentError):
            linsep.decide(frame[["height"]], frame["kind"], **options)


NAMED = pd.DataFrame(
    {"x": [1.0, 2, 3, 4, 2.5], "who": list("pqrst"), "kind": list("abaab")}, index=[10, 20, 30, 40, 50]
)


@pytest.mark.parametrize("partitions", [1, 3, 5])
def test_rows_on_a_cluster_are_called_what_a_column_or_the_index_says(partitions):
    frame = dd.from_pandas(NAMED, npartitions=partitions)
    for asked in ((frame, "kind"), (frame[["x", "who"]], frame["kind"])):
        verdict = linsep.decide(*asked, ids="who")
        assert (verdict.names, verdict.obstruction.ids) == (("x",), ("p", "q", "s"))
    assert linsep.decide(frame[["x"]], frame["kind"]).obstruction.ids == (10, 20, 40)
    assert linsep.fewest_mistakes(frame, "kind", ids="who").mistaken_ids == ("p",)
    linsep.decide(frame, "kind", ids="who").verify(linsep.open(frame, label="kind", id="who"))
    text = dd.from_pandas(NAMED.set_index("who"), npartitions=partitions)
    assert linsep.decide(text, "kind").obstruction.ids == ("p", "q", "s")


@pytest.mark.parametrize("partitions", [1, 5])
def test_rows_with_gaps_are_dropped_where_they_lie_and_the_others_keep_numbers_and_names(partitions):
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"a": random.normal(size=40), "b": random.normal(size=40), "y": random.integers(0, 2, 40)})
    frame["name"] = [f"p{k}" for k in range(40)]
    frame.loc[random.random(40) < 0.2, "a"] = np.nan
    frame.loc[[0, 1, 2, 3, 4, 5, 6, 7], "b"] = np.nan  # all rows of the first of five partitions
    known, there = linsep.decide(frame, "y", ids="name", missing="drop"), dd.from_pandas(frame, npartitions=partitions)
    found = linsep.decide(there, "y", ids="name", missing="drop")
    assert found.rows_left_out == known.rows_left_out > 8 and found.obstruction.ids == known.obstruction.ids
    plain = linsep.open(there.drop(columns="name"), label="y", missing="drop")
    numbered = linsep.decide(plain)
    assert numbered.obstruction.ids == known.obstruction.rows and numbered.row_names.word == "table number"
    numbered.verify(plain)
    with pytest.raises(InputError, match="each of the 40 rows has a missing value"):
        linsep.decide(there.assign(a=np.nan), "y", ids="name", missing="drop")


@pytest.mark.parametrize("rows", [4, 400])
def test_an_error_counts_the_rows_that_were_dropped_too(tmp_path, rows):
    frame = pd.DataFrame({"a": np.arange(float(rows)), "kind": [0.0, None, *[1.0] * (rows - 2)]})
    frame.loc[2, "a"] = np.inf
    frame.to_parquet(tmp_path / "dr.parquet", index=False)
    frame.to_parquet(tmp_path / "er.parquet", index=False, row_group_size=3)
    there = {"y": "kind", "missing": "drop"}
    asks = [lambda: linsep.decide(dd.from_pandas(frame, npartitions=1), **there)]
    for name in ("dr", "er"):
        for way in (None, "synchronous"):
            options = {"label": "kind", "missing": "drop", "scheduler": way}
            asks.append(lambda name=name, options=options: linsep.open(tmp_path / f"{name}.parquet", **options))
    for ask in asks:
        with pytest.raises(NotFiniteError, match=r": row 2, column 'a' holds inf"):
            ask()


@pytest.mark.parametrize("missing", [None, "drop"])
def test_parquet_on_a_cluster_has_ids_and_drops_as_without_one(tmp_path, missing):
    random = np.random.default_rng(6)
    frame = pd.DataFrame({"name": range(100, 130), "a": random.normal(size=30), "y": random.integers(0, 2, 30)})
    if missing:
        frame.loc[[0, 1, 2, 3, 17, 29], "a"] = np.nan
    frame[:16].to_parquet(tmp_path / "1.parquet", row_group_size=4)
    frame[16:].to_parquet(tmp_path / "2.parquet", row_group_size=4)
    for columns in (None, ["a"]):
        chosen = {"label": "y", "columns": columns, "missing": missing}
        here, there = (linsep.open(tmp_path, id="name", scheduler=way, **chosen) for way in (None, "synchronous"))
        found = linsep.decide(there)
        assert found.obstruction.ids == linsep.decide(here).obstruction.ids and found.names == ("a",)
        assert there.ids([1, 0]) == here.ids([1, 0]) and found.rows_left_out == 6 * (missing is not None)
        found.verify(here)
        assert there.facts.ids.at([3, 1]) == here.facts.ids.at([3, 1])
    here, there = (
        linsep.open(tmp_path, label="y", columns=["a"], missing=missing, scheduler=way) for way in (None, "synchronous")
    )
    found, known = linsep.decide(there), linsep.decide(here)
    assert found.obstruction.ids == known.obstruction.ids
    assert [there.where(row) for row in range(20)] == [here.where(row) for row in range(20)]


def test_ids_that_cannot_be_on_a_cluster_are_refused(tmp_path):
    frame = pd.DataFrame({"name": ["u", "v"], "a": [0.0, 1.0], "y": [0, 1]})
    frame.to_parquet(tmp_path / "1.parquet")
    for name, said in (
        ("who", "there is no column 'who'"),
        ("y", "'y' is the label"),
        (0, "the name of the id column"),
    ):
        with pytest.raises(InputError, match=said):
            linsep.open(tmp_path, label="y", id=name, scheduler="synchronous")
    with pytest.raises(InputError, match="'name' holds the ids"):
        linsep.open(tmp_path, label="y", id="name", columns=["name"], scheduler="synchronous")


@pytest.mark.parametrize("ask", [linsep.decide, linsep.max_margin])
def test_a_read_in_progress_is_given_up_when_the_time_limit_passes(ask):
    """Sixteen partitions of 0.3 s took 5.5 s with a limit of 0.4."""
    loads, nap = [], 0.0

    def load(rows):
        time.sleep(nap)
        loads.append(len(rows))
        return rows

    rows, labels = arrays(X, Y, (156,) * 15 + (160,))
    source = linsep.open(rows.map_blocks(load, dtype=float, meta=np.empty((0, 0))), label=labels)
    loads.clear()
    nap = 0.05
    verdict = ask(source, time_limit=0.1)
    assert verdict.reason == "The time limit of 0.1 seconds was too short to prove anything."
    assert 1 <= len(loads) < 6


@pytest.mark.parametrize("name", ["X", "y"])
def test_a_delayed_table_and_a_bag_are_refused_in_words(name):
    import dask.bag

    frame = frames(part())
    for other, words in (
        (dask.delayed(part()), "a Delayed of Dask"),
        (dask.bag.from_sequence([1, 2]), "a Bag of Dask"),
    ):
        with pytest.raises(ArgumentError, match=rf"^{name} is {words}"):
            linsep.decide(*((other, frame["kind"]) if name == "X" else (frame[["a", "b"]], other)))


def test_what_is_no_table_or_no_label_on_a_cluster_is_told():
    table = NAMED[["x", "kind"]]
    there = dd.from_pandas(table, npartitions=2)
    for data, told in (
        ((there["x"], there["kind"]), r"X is a Series of Dask; a table has two dimensions.* X\.to_frame\(\)"),
        ((table[["x"]], there["kind"]), "A Series of Dask was given, whose rows are on a cluster"),
        ((there, 1), "The label is 1, a number: columns of a Dask collection have no positions"),
    ):
        with pytest.raises(InputError, match=told):
            linsep.decide(*data)
    for model in (linsep.KernelPerceptronClassifier(), linsep.RegionsClassifier()):
        with pytest.raises(InputError, match="A Series of Dask was given"):
            model.fit(there[["x"]], there["kind"])


def test_an_error_of_the_users_own_code_names_its_partition():
    def divide(part):
        return part.assign(x=1 // int(part["x"].iloc[0] < 4)) if len(part) else part

    there = dd.from_pandas(NAMED[["x", "kind"]], npartitions=5).map_partitions(divide, meta=NAMED[["x", "kind"]])
    with pytest.raises(ClusterError, match=r"partition 3 cannot be computed: ZeroDivisionError: '.*'\.") as told:
        linsep.decide(there, "kind")
    assert isinstance(told.value.__cause__, ZeroDivisionError)


def test_a_graph_that_is_broken_is_no_cluster_that_is_lost():
    lost = type("FutureCancelledError", (Exception,), {})("sum-1 cancelled for reason: lost dependencies.")
    told = str(dask_source._explained(lost))
    assert "lost dependencies. Make the collection again" in told and "no longer answers" not in told


def test_decimal_labels_of_files_are_refused_as_by_one_process(tmp_path):
    table = pd.DataFrame({"a": [1.0, 2], "k": [Decimal("0.5"), Decimal("1.5")]})
    table.to_parquet(tmp_path / "d.parquet")
    for way in (None, "synchronous"):
        with pytest.raises(ColumnTypeError, match="the label column 'k' holds decimal128"):
            linsep.open(tmp_path, label="k", scheduler=way)


def test_files_of_two_types_get_the_advice_for_files(tmp_path):
    for k, kind in enumerate(("int64", "float64")):
        pd.DataFrame({"a": [1, 2], "k": [0, 1]}).astype({"a": kind}).to_parquet(tmp_path / f"{k}.parquet")
    with pytest.raises(DifferentFilesError, match=r"column 'a' is of type double.*open them without a scheduler"):
        linsep.open(tmp_path, label="k", scheduler="synchronous")
    assert linsep.decide(linsep.open(tmp_path, label="k")).separable


def test_ids_come_in_the_order_that_was_asked_for():
    source = as_source(dd.from_pandas(NAMED, npartitions=3), "kind", ids="who")
    assert list(source.facts.ids.at([4, 0, 3, 1, 0])) == ["t", "p", "s", "q", "p"] and source.facts.ids.at([]) == []


def test_an_index_that_counts_the_rows_is_no_name_and_ids_on_a_cluster_are_its_own():
    plain = dd.from_pandas(NAMED[["x", "kind"]].reset_index(drop=True), npartitions=3)
    assert linsep.decide(plain, "kind").row_names is None
    again = frames(NAMED[["x", "kind"]].iloc[:3].reset_index(drop=True), NAMED[["x", "kind"]].iloc[:2])
    assert linsep.decide(again, "kind").row_names is None  # begins anew in each partition
    for ids, told in (("nobody", "no column 'nobody'"), (list("pqrst"), "Say ids='NAME'")):
        with pytest.raises(InputError if ids == "nobody" else ArgumentError, match=told):
            linsep.decide(dd.from_pandas(NAMED, npartitions=3), "kind", ids=ids)


def test_labels_of_another_index_are_refused():
    """They were joined by place, and the verdict was about other rows' labels."""
    rows = pd.DataFrame({"a": np.arange(60.0), "b": 1.0})
    labels = pd.Series(np.arange(60) > 30, rows.index)
    other = labels.sample(frac=1.0, random_state=0)
    parts = dd.from_pandas(rows, npartitions=3)
    assert linsep.decide(parts, dd.from_pandas(labels, npartitions=3)).separable
    for ask in (linsep.decide, linsep.PerceptronClassifier().fit):
        with pytest.raises(LengthError, match=r"partition 0: row 0: X calls the row 0, and y calls it"):
            ask(parts, dd.from_pandas(other, npartitions=3, sort=False))


def test_many_row_groups_are_asked_about_by_few_tasks(tmp_path, monkeypatch):
    """Each task costs the scheduler milliseconds: of rows that no worker holds, one task reads several parts."""
    X, y = linsep.datasets.planted(600, 3, margin=0.05, seed=2)
    table = pd.DataFrame(X, columns=list("abc")).assign(kind=y)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=20, index=False)
    monkeypatch.setattr(dask_source.Cluster, "n_threads", 2)
    run, sizes = dask_source.Cluster._run, []
    monkeypatch.setattr(dask_source.Cluster, "_run", lambda own, *a: sizes.append(len(a[0])) or run(own, *a))
    source = linsep.open(tmp_path / "rows.parquet", label="kind", scheduler="sync")
    assert source.n_partitions == 30
    assert proof(linsep.decide(source)) == proof(linsep.decide(linsep.open(tmp_path / "rows.parquet", label="kind")))
    assert max(sizes) <= 8 and source.take([599, 3]).row_numbers.tolist() == [599, 3]


ASKED = {
    "decide": linsep.decide,
    "max_margin": linsep.max_margin,
    "mle_exists": linsep.mle_exists,
    "fewest_mistakes": linsep.fewest_mistakes,
    "clean": linsep.clean,
    "decide_classes": linsep.decide_classes,
    "separate_regions": linsep.separate_regions,
    "describe": linsep.describe,
    "perceptron": linsep.perceptron,
    "PerceptronClassifier": lambda *data: linsep.PerceptronClassifier().fit(*data),
    "MaxMarginClassifier": lambda *data: linsep.MaxMarginClassifier().fit(*data),
}


@pytest.mark.parametrize("labels", [Y, FLIPPED], ids=["separable", "overlapping"])
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_a_bad_number_that_the_first_look_did_not_read_is_refused_by_every_question(ask, labels, monkeypatch):
    monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)
    rows = X.copy()
    rows[2300, 1] = rows[2400, 0] = np.nan
    with pytest.raises(NotFiniteError, match=r"(partition 4: row 300|Row 2300), column 1 \(both counted"):
        ask(*arrays(rows, labels, (500, 500, 500, 500, 500)))


def test_of_files_of_doubles_the_first_look_reads_only_the_labels(tmp_path, monkeypatch):
    table = pd.DataFrame(np.tile(X, (3, 1)), columns=list("abcd")).assign(kind=np.tile(Y, 3))
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=2500, index=False)
    load, loaded = RowGroup.load, []
    monkeypatch.setattr(RowGroup, "load", lambda own: loaded.append(own.group) or load(own))
    monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)
    source = linsep.open(tmp_path / "rows.parquet", label="kind", scheduler="sync")
    assert loaded == [] and not source.facts.is_finite
    source.scan(np.ones(4), 0.0)
    source.require_finite()
    assert sorted(loaded) == [0, 1, 2] and source.facts.is_finite


@pytest.mark.parametrize("ask", [linsep.decide, linsep.decide_classes])
def test_the_read_that_looks_for_bad_numbers_is_counted(ask, monkeypatch):
    monkeypatch.setattr("linsep.exact.FEW_CELLS", 0)
    fresh, known = (as_source(*arrays(X, FLIPPED)) for _ in range(2))
    known.require_finite()
    assert ask(fresh).reads == ask(known).reads + 1
