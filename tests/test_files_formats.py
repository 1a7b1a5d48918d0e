"""The same rows give the same verdict and the same proof, whatever files they come from."""

import bz2
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import linsep

SETS = {
    "separable": linsep.datasets.planted(6000, 5, margin=0.05, seed=1),
    "overlapping": linsep.datasets.planted(6000, 5, margin=0.05, flipped=60, seed=1),
    "integers": linsep.datasets.planted(4000, 3, margin=0.1, seed=2),
}
SETS["integers"] = (np.round(SETS["integers"][0] * 50).astype(np.int64), SETS["integers"][1])
FORMATS = {
    "a.csv": lambda table, path: pyarrow.csv.write_csv(table, path),
    "a.tsv": lambda table, path: pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter="\t")),
    "a.csv.gz": lambda table, path: path.write_bytes(gzip.compress(text_of(table))),
    "a.csv.bz2": lambda table, path: path.write_bytes(bz2.compress(text_of(table))),
    "a.csv.zst": lambda table, path: path.write_bytes(pa.Codec("zstd").compress(text_of(table), asbytes=True)),
    "a.parquet": lambda table, path: pa.parquet.write_table(table, path),
    "groups.parquet": lambda table, path: pa.parquet.write_table(table, path, row_group_size=700, compression="zstd"),
    "a.feather": lambda table, path: pa.feather.write_feather(table, path),
    "a.arrow": lambda table, path: pa.feather.write_feather(table, path, compression="uncompressed", chunksize=900),
}


def text_of(table):
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue().to_pybytes()


def table_of(X, y):
    return pa.table({**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": y})


def proof(verdict):
    """The written proof without what the work cost, and without names, which arrays have none of."""
    document = json.loads(verdict.to_json())
    del document["effort"], document["sha256"]
    document["data"]["names"] = None
    return document


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", SETS)
def test_every_format_and_batch_size_gives_the_proof_of_the_rows_in_memory(kind, name, memory, tmp_path):
    X, y = SETS[kind]
    FORMATS[name](table_of(X, y), tmp_path / name)
    source = linsep.open(tmp_path / name, label="y", memory=memory)
    verdict = linsep.decide(source)
    assert proof(verdict) == proof(linsep.decide(X, y))
    verdict.verify(source)
    verdict.verify(X, y)


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("kind", SETS)
def test_arrays_on_disk_give_the_proof_of_the_arrays(kind, memory, tmp_path):
    X, y = SETS[kind]
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    np.save(tmp_path / "f.npy", np.asfortranarray(np.column_stack([y, X])))
    np.savez(tmp_path / "a.npz", X=X, y=y)
    for name, label in (("a.npy", -1), ("f.npy", 0), ("a.npz", None)):
        source = linsep.open(tmp_path / name, label=label, memory=memory)
        assert proof(linsep.decide(source)) == proof(linsep.decide(X, y))


def test_a_folder_of_parts_is_the_table_they_are_parts_of(tmp_path):
    X, y = SETS["overlapping"]
    table = table_of(X, y)
    pa.parquet.write_table(table[:1000], tmp_path / "a.parquet")
    pyarrow.csv.write_csv(table[1000:2500], tmp_path / "b.csv")
    pa.feather.write_feather(table[2500:], tmp_path / "c.feather")
    whole = proof(linsep.decide(X, y))
    for path in (tmp_path, tmp_path / "*", [tmp_path / "a.parquet", tmp_path / "[bc]*"]):
        assert proof(linsep.decide(linsep.open(path, label="y", memory="1MiB"))) == whole


def test_files_given_in_another_order_give_the_same_verdict(tmp_path):
    X, y = SETS["overlapping"]
    for name, part in (("a.csv", slice(0, 2000)), ("b.csv", slice(2000, 6000))):
        pyarrow.csv.write_csv(table_of(X[part], y[part]), tmp_path / name)
    source = linsep.open([tmp_path / "b.csv", tmp_path / "a.csv"], label="y")
    verdict = linsep.decide(source)
    assert verdict.kind == "overlapping"
    verdict.verify(np.concatenate([X[2000:], X[:2000]]), np.concatenate([y[2000:], y[:2000]]))


def test_a_row_is_found_in_its_file(tmp_path):
    X, y = SETS["separable"]
    for name, part in (("a.csv", slice(0, 2000)), ("b.csv", slice(2000, 6000))):
        pyarrow.csv.write_csv(table_of(X[part], y[part]), tmp_path / name)
    source = linsep.open(tmp_path, label="y", memory="1MiB")
    assert source.where(2004) == (str(tmp_path / "b.csv"), 4)
    assert source.lines([2004, 3]) == {3: 5, 2004: 6}
    rows = [5999, 3, 2004, 3]
    block = source.take(rows)
    assert np.array_equal(block.values, X[rows])
    assert block.row_numbers.tolist() == rows
