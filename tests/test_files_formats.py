"""The same rows give the same verdict and the same proof, whatever files they come from."""

import bz2
import glob
import gzip
import json
import lzma
import os
import threading
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import linsep
from linsep import errors
from linsep.cli import main
from linsep.sources.files.paths import expand

pytestmark = pytest.mark.usefixtures("streamed")

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
    """The written proof without what the work cost, and without names of columns, which arrays have none of."""
    document = json.loads(verdict.to_json())
    del document["effort"], document["sha256"]
    document["data"] |= {"names": None, "label_column": None}
    return document


@pytest.mark.slow
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


def thinned(X, flipped):
    """Rows half of whose values are 0, and labels by a hyperplane; some of them may be wrong."""
    rows = np.where(np.abs(X) > 0.6, X, 0.0)
    scores = rows @ np.arange(1.0, X.shape[1] + 1) + 0.25
    rows, y = rows[np.abs(scores) > 0.1], np.sign(scores[np.abs(scores) > 0.1])
    y[:flipped] *= -1
    return rows, y.astype(int)


SPARSE = {kind: thinned(SETS["separable"][0], flipped) for kind, flipped in (("separable", 0), ("overlapping", 5))}
PACKINGS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda text: pa.Codec("zstd").compress(text, asbytes=True),
}


def svmlight(X, y):
    pairs = (" ".join(f"{j}:{value!r}" for j, value in enumerate(row, start=1) if value) for row in X.tolist())
    return "".join(f"{label} {row}\n" for label, row in zip(y, pairs, strict=True)).encode()


def sparse_archive(save, path, X, y):
    matrix = sp.csr_array(X)
    save(path, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape, y=y)


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", SPARSE)
def test_packed_svmlight_gives_the_proof_of_the_rows_in_memory(kind, packing, memory, tmp_path):
    X, y = SPARSE[kind]
    path = tmp_path / f"a.svm{packing}"
    path.write_bytes(PACKINGS[packing](svmlight(X, y)))
    for cache in (None, False):
        source = linsep.open(path, memory=memory, cache=cache)
        verdict = linsep.decide(source)
        assert verdict.kind == kind
        assert proof(verdict) == proof(linsep.decide(X, y)) == proof(linsep.decide(sp.csr_array(X), y))
        verdict.verify(source)
        verdict.verify(X, y)


@pytest.mark.parametrize("memory", ["1MiB", "512MB"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("kind", SPARSE)
def test_archives_give_the_proof_of_the_rows_in_memory(kind, save, memory, tmp_path):
    X, y = SPARSE[kind]
    sparse_archive(save, tmp_path / "sparse.npz", X, y)
    save(tmp_path / "dense.npz", X=X, y=y)
    save(tmp_path / "fortran.npz", X=np.asfortranarray(X), y=y)
    for name in ("sparse", "dense", "fortran"):
        source = linsep.open(tmp_path / f"{name}.npz", memory=memory)
        assert proof(linsep.decide(source)) == proof(linsep.decide(X, y))


def test_text_packed_in_several_members_is_all_of_it(tmp_path):
    X, y = SPARSE["overlapping"]
    text = svmlight(X, y)
    for packing, pack in PACKINGS.items():
        (tmp_path / f"a.svm{packing}").write_bytes(pack(text[:5000]) + pack(text[5000:]))  # as `cat` joins packed files
        assert proof(linsep.decide(linsep.open(tmp_path / f"a.svm{packing}"))) == proof(linsep.decide(X, y))


CUTS = [slice(0, 1000), slice(1000, 2500), slice(2500, None)]


@pytest.mark.parametrize("packings", [("", ".gz", ".zst"), (".bz2", "", ".gz")])
def test_parts_may_be_packed_each_in_its_own_way(packings, tmp_path):
    X, y = SPARSE["overlapping"]
    (tmp_path / "csv").mkdir()
    (tmp_path / "svm").mkdir()
    for number, (cut, packing) in enumerate(zip(CUTS, packings, strict=True)):
        text = text_of(table_of(X[cut], y[cut]))
        (tmp_path / "csv" / f"{number}.csv{packing}").write_bytes(PACKINGS[packing](text))
        (tmp_path / "svm" / f"{number}.svm{packing}").write_bytes(PACKINGS[packing](svmlight(X[cut], y[cut])))
    whole = proof(linsep.decide(X, y))
    for memory in ("1MiB", "512MB"):
        assert proof(linsep.decide(linsep.open(tmp_path / "svm", memory=memory))) == whole
        assert proof(linsep.decide(linsep.open(tmp_path / "csv" / "*", label="y", memory=memory))) == whole


def test_parts_of_arrays_are_the_array(tmp_path):
    X, y = SPARSE["overlapping"]
    for number, cut in enumerate(CUTS):
        np.save(tmp_path / f"{number}.npy", np.column_stack([X[cut], y[cut]]))
    np.savez_compressed(tmp_path / "0.npz", X=X[CUTS[0]], y=y[CUTS[0]])
    sparse_archive(np.savez, tmp_path / "1.npz", X[CUTS[1]], y[CUTS[1]])
    sparse_archive(np.savez_compressed, tmp_path / "2.npz", X[CUTS[2]], y[CUTS[2]])
    whole = proof(linsep.decide(X, y))
    for memory in ("1MiB", "512MB"):
        assert proof(linsep.decide(linsep.open(tmp_path / "*.npy", label=-1, memory=memory))) == whole
        assert proof(linsep.decide(linsep.open([tmp_path / "1.npz", tmp_path / "2.npz"], memory=memory))) == proof(
            linsep.decide(X[1000:], y[1000:])
        )


def test_a_folder_of_parts_is_the_table_they_are_parts_of(tmp_path):
    X, y = SETS["overlapping"]
    table = table_of(X, y)
    pa.parquet.write_table(table[:1000], tmp_path / "a.parquet")
    pyarrow.csv.write_csv(table[1000:2500], tmp_path / "b.csv")
    pa.feather.write_feather(table[2500:], tmp_path / "c.feather")
    whole = proof(linsep.decide(X, y))
    for path in (tmp_path, tmp_path / "*", [tmp_path / "a.parquet", tmp_path / "[bc]*"]):
        assert proof(linsep.decide(linsep.open(path, label="y", memory="1MiB"))) == whole


def shared_point(X):
    """Rows on both sides of a hyperplane, and one point on it that has both labels: the one obstruction there is."""
    side = X[:, 0] > 0
    rows = np.where(side[:, None], np.abs(X) + 1, -np.abs(X) - 1)
    rows[[700, 3000]] = 0.0
    labels = np.where(side, 1, -1)
    labels[[700, 3000]] = [1, -1]
    return rows, labels


ORDERS = {**SETS, "touching": shared_point(SETS["separable"][0])}
PARTS = ["a.csv", "a.parquet", "a.csv.gz"]


@pytest.fixture(params=ORDERS)
def in_parts(request, tmp_path):
    """The rows of a set in three files of different kinds, and where each begins."""
    X, y = ORDERS[request.param]
    for name, cut in zip(PARTS, CUTS, strict=True):
        FORMATS[name](table_of(X[cut], y[cut]), tmp_path / name)
    return request.param.replace("integers", "separable"), X, y, tmp_path


def test_files_in_every_order_give_the_same_verdict_about_the_same_rows(in_parts):
    kind, X, y, folder = in_parts
    named = set()
    for order in permutations(range(3)):
        source = linsep.open([folder / PARTS[k] for k in order], label="y")
        verdict = linsep.decide(source)
        moved = np.concatenate([np.arange(len(X))[CUTS[k]] for k in order])  # the row that each row of the source is
        assert verdict.kind == kind
        verdict.verify(source)
        verdict.verify(X[moved], y[moved])
        if kind == "touching":
            named.add(tuple(sorted(moved[list(verdict.obstruction.rows)].tolist())))
            assert {source.where(row) for row in verdict.obstruction.rows} == {
                (str(folder / "a.csv"), 700), (str(folder / "a.csv.gz"), 500),
            }  # fmt: skip
    assert named == ({(700, 3000)} if kind == "touching" else set())


@pytest.mark.parametrize("in_parts", ["separable", "integers"], indirect=True)
def test_files_in_every_order_give_the_same_margin(in_parts):
    _, X, y, folder = in_parts
    best = linsep.max_margin(X, y)
    for order in permutations(range(3)):
        source = linsep.open([folder / PARTS[k] for k in order], label="y")
        found = linsep.max_margin(source)
        assert found.margin[0] <= best.margin[1] and best.margin[0] <= found.margin[1]
        unit = found.halfspace.w / np.linalg.norm(found.halfspace.w)
        assert unit == pytest.approx(best.halfspace.w / np.linalg.norm(best.halfspace.w), abs=2e-3)


def test_a_folder_and_a_pattern_do_not_depend_on_the_order_of_the_disk(tmp_path, monkeypatch):
    names = ["b.csv", "a.csv", "c.csv", "B.csv", "a10.csv", "a2.csv"]
    for name in names:
        (tmp_path / name).write_text("x,y\n1,0\n2,1\n")
    wanted = [str(tmp_path / name) for name in sorted(names)]
    listed, matched = Path.iterdir, glob.glob
    for order in (sorted, lambda found: sorted(found, reverse=True)):
        monkeypatch.setattr(Path, "iterdir", lambda self, order=order: iter(order(listed(self))))
        monkeypatch.setattr(glob, "glob", lambda *given, order=order, **how: order(matched(*given, **how)))
        assert expand(tmp_path) == expand(str(tmp_path / "*.csv")) == wanted


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


@pytest.mark.parametrize("ending", PACKINGS)
def test_reading_a_compressed_file_says_nothing_on_stderr(ending, tmp_path, capfd):
    (tmp_path / f"a.csv{ending}").write_bytes(PACKINGS[ending](b"x,y\n1,0\n2,1\n"))
    assert linsep.open(tmp_path / f"a.csv{ending}", label="y").n_rows == 2
    assert capfd.readouterr().err == ""


# ---- parts without rows, and compressed pipes ----------------------------------------------------------------------

PART = pd.DataFrame({"a": [1.5, 2.0, -1.0], "site": ["u", "v", "u"], "y": [0, 1, 0]})
WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "feather": lambda frame, path: frame.to_feather(path),
    "npy": lambda frame, path: np.save(path, frame[["a", "y"]].to_numpy(float)),
}


OF_NUMBERS = {kind: {} if kind == "npy" else {"columns": ["a"]} for kind in WRITERS}


def parts(folder, kind, *frames):
    for number, frame in enumerate(frames):
        WRITERS[kind](frame.reset_index(drop=True), folder / f"{number}.{kind}")
    return folder


@pytest.mark.parametrize("options", [{}, {"numbers": "decimal"}, {"missing": "drop"}, {"cache": False}])
@pytest.mark.parametrize("kind", WRITERS)
def test_parts_without_rows_add_nothing(kind, options, tmp_path):
    if "numbers" in options and kind not in ("csv", "tsv"):
        pytest.skip("floats")
    options = {"label": -1, **({"categories": "all"} if kind != "npy" else {}), **options}
    part = parts(tmp_path, kind, PART[:0], PART[:2], PART[:0], PART[2:])
    source = linsep.open(part, **options)
    (tmp_path / "whole").mkdir()
    whole = linsep.open(parts(tmp_path / "whole", kind, PART), **options)
    assert proof(linsep.decide(source)) == proof(linsep.decide(whole))
    assert source.where(2) == (str(tmp_path / f"3.{kind}"), 0)
    assert linsep.PerceptronClassifier().fit(linsep.open(part, label=-1, **OF_NUMBERS[kind])).n_updates_


def test_parts_with_categories_of_their_own_share_the_places_of_decimals(tmp_path):
    part = parts(tmp_path, "csv", PART[:1], PART[1:].assign(a=[0.25, 1]))
    assert linsep.open(part, label="y", categories="all", numbers="decimal").facts.scales == (100, 1, 1)


def test_a_part_whose_rows_are_all_rejected_adds_nothing(tmp_path):
    part = parts(tmp_path, "csv", PART.assign(a=np.nan), PART)
    source = linsep.open(part, label="y", columns=["a"], reject=tmp_path.parent / "bad.csv")
    assert (source.n_rows, source.facts.rows_left_out) == (3, 3)


@pytest.mark.parametrize("kind", WRITERS)
def test_files_without_any_row_are_refused_together(kind, tmp_path):
    with pytest.raises(errors.NoRowsError, match=rf"0\.{kind}.*and 1 more"):
        linsep.open(parts(tmp_path, kind, PART[:0], PART[:0]), label=-1, **OF_NUMBERS[kind])


def test_a_part_without_rows_must_have_the_same_columns(tmp_path):
    with pytest.raises(errors.DifferentFilesError):
        linsep.open(parts(tmp_path, "csv", PART, PART[:0].assign(more=0)), label="y", columns=None, categories="all")


def test_parts_without_rows_are_predicted_and_learned_from(tmp_path, capsys):
    part = parts(tmp_path, "csv", PART[:0][["a", "y"]], PART[["a", "y"]], PART[:0][["a", "y"]])
    model = str(tmp_path / "model.json")
    assert main(["fit", str(part), "--label", "y", "-o", model]) == 0
    assert main(["predict", model, str(part)]) == 0
    assert main(["learn", str(part), "--label", "y"]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(part / "0.csv")]) == 2
    assert "no row below it" in capsys.readouterr().err


PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda text: pa.compress(text, "zstd", asbytes=True),
}


@pytest.fixture
def fifo(tmp_path):
    def made(name, content):
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_bytes, args=(content,), daemon=True).start()
        return str(tmp_path / name)

    return made


@pytest.mark.parametrize("name", ["k.csv.{}", "pipe"])
@pytest.mark.parametrize("packing", PACK)
def test_a_compressed_pipe_is_read(packing, name, fifo, tmp_path, capsys):
    text, model, name = b"a,y\n1,0\n-2,1\n", str(tmp_path / "model.json"), name.format(packing)
    path = fifo(name, PACK[packing](text))
    assert main(["fit", path, "--label", "y", "-o", model]) == 0
    Path(path).unlink()
    path = fifo(name, PACK[packing](text))
    capsys.readouterr()
    assert main(["predict", model, path]) == 0
    assert capsys.readouterr().out == "0\n1\n"


def test_compressed_lines_of_text_are_refused_with_what_unpacks_them(fifo, capsys):
    assert main(["learn", "--text", fifo("mail.gz", gzip.compress(b"ham\thello\n"))]) == 2
    assert "the text is compressed. Decompress it on the way: zcat FILE |" in capsys.readouterr().err


def test_a_compression_is_not_a_format(tmp_path, capsys):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,y\n1,0\n-2,1\n"))
    assert main(["decide", str(tmp_path / "a.csv.gz"), "--label", "y", "--format", "csv.gz"]) == 2
    said = capsys.readouterr().err
    assert "'csv.gz' is not a format. The formats are arrow, csv," in said and "seen from its extension" in said
