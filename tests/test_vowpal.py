"""Vowpal Wabbit text, and LIBSVM files as they are downloaded: read by what is written in them."""

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

import linsep
from linsep import errors
from linsep.cli import main
from linsep.sources.files.paths import kind_of_text

LIBSVM = b"+1 1:0.5 3:2\n-1 2:1\n+1 3:1\n"
ROWS = [[0.5, 0, 2], [0, 1, 0], [0, 0, 1]]
MAIL = b"1 'doc7 |text cat:2 dog |meta long\n-1 |text cat bird\n\n1 |text dog dog:0.5\n"


def rows_of(path, **options):
    source = linsep.open(path, **options)
    return source, source.take(range(source.n_rows)).values.toarray().tolist()


@pytest.mark.parametrize("name", ["a9a", "a9a.t", "news20.binary", "a.scale"])
@pytest.mark.parametrize(
    ("packing", "pack"),
    [("", bytes), (".bz2", bz2.compress), (".xz", lzma.compress), (".gz", gzip.compress),
     (".zst", lambda text: pa.Codec("zstd").compress(text, asbytes=True))],
)  # fmt: skip
def test_libsvm_files_are_read_as_they_are_downloaded(name, packing, pack, tmp_path, capsys):
    path = tmp_path / (name + packing)
    path.write_bytes(pack(LIBSVM))
    source, rows = rows_of(path)
    assert (rows, source.facts.labels) == (ROWS, (-1, 1))
    assert source.remarks()[0] == f"{path} is read as LIBSVM text."


def test_a_downloaded_file_is_decided_and_its_proof_verified_on_the_command_line(tmp_path, capsys):
    (tmp_path / "a9a.xz").write_bytes(lzma.compress(LIBSVM))
    assert main(["decide", str(tmp_path / "a9a.xz"), "--proof", str(tmp_path / "p.json")]) == 0
    assert main(["verify", str(tmp_path / "p.json"), str(tmp_path / "a9a.xz")]) == 0
    assert "is read as LIBSVM text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LIBSVM, "svmlight"), (b"1 qid:3 1:2 # note\n", "svmlight"), (b"# note\n-1 2:1e-3\n", "svmlight"),
        (b"1\n-1 3:1\n", "svmlight"), (b"1\n2\n3\n", None), (b"", None), (b"1,3 2:0.5\n", None), (b"12:30 tea\n", None),
        (b"a,b\n1,2\n", None), (b"1 2 3\n", None), (b"\xff\xfe", None),
        (MAIL, "vw"), (b"1 x|ns a\n", "vw"), (b"1 0.5 |a b:2\n", "vw"), (b"1 | cat dog\n", "vw"),
        (b"1|2|3\n", None), (b"1 | 2 | 3\n", None), (b"1 | red | 3\n", None), (b"label | a b\n", None),
        (b"1 |a b\nhello\n", None),
    ],
)  # fmt: skip
def test_what_is_written_says_what_a_file_is_or_nothing(text, kind):
    assert kind_of_text(text) == kind


def test_a_name_that_says_nothing_and_a_content_that_says_nothing_are_refused(tmp_path):
    (tmp_path / "data").write_text("a,b,y\n1,2,0\n")
    with pytest.raises(errors.FileKindError, match="the name has no extension"):
        linsep.open(tmp_path / "data", label="y")


DAMAGES = [lambda x: x[:-6], lambda x: x + b"junk", lambda x: x[:40] + bytes([x[40] ^ 255]) + x[41:]]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_xz_file_is_an_error(damage, tmp_path):
    (tmp_path / "a.svm.xz").write_bytes(damage(lzma.compress(LIBSVM * 50)))
    with pytest.raises(errors.DamagedFileError, match="cannot be decompressed"):
        linsep.open(tmp_path / "a.svm.xz")


def test_an_xz_file_may_have_several_streams_and_padding(tmp_path):
    (tmp_path / "a.svm.xz").write_bytes(lzma.compress(LIBSVM) + bytes(4) + lzma.compress(LIBSVM))
    assert rows_of(tmp_path / "a.svm.xz")[1] == ROWS * 2


# Vowpal Wabbit --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mail.vw", "mail", "mail.vw.gz", "mail.dat.xz"])
def test_features_are_columns_by_name_in_their_order(name, tmp_path):
    packing = {"gz": gzip.compress, "xz": lzma.compress}.get(name[-2:], bytes)
    (tmp_path / name).write_bytes(packing(MAIL))
    source, rows = rows_of(tmp_path / name)
    assert source.facts.names == ("meta^long", "text^bird", "text^cat", "text^dog")
    assert rows == [[1, 0, 2, 1], [0, 1, 1, 0], [0, 0, 0, 1.5]]
    verdict = linsep.decide(source)
    verdict.verify(source)
    assert (verdict.kind, verdict.labels) == ("separable", (-1, 1))


def test_a_feature_of_one_file_is_a_column_of_all(tmp_path):
    (tmp_path / "a.vw").write_text("1 | a\n")
    (tmp_path / "b.vw").write_text("-1 | b:2\n")
    source, rows = rows_of([tmp_path / "a.vw", tmp_path / "b.vw"])
    assert (source.facts.names, rows) == (("a", "b"), [[1, 0], [0, 2]])


def test_a_model_labels_new_lines_also_without_labels(tmp_path, capsys):
    (tmp_path / "a.vw").write_bytes(MAIL)
    (tmp_path / "new.vw").write_text("|text dog:2 fish\n|text bird:3\n")
    assert main(["fit", str(tmp_path / "a.vw"), "-o", str(tmp_path / "m.json")]) == 0
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "new.vw")]) == 0
    out, err = capsys.readouterr()
    assert out.split() == ["1", "-1"] and "the model does not know are ignored" in err


BAD = {
    "a weight": ("1 2 |a b\n", errors.FileError, "holds '2': a weight of a row"),
    "a start": ("1 1 0.5 |a b\n", errors.FileError, "holds '0.5': an initial prediction"),
    "a weight of a namespace": ("1 |a:2 b\n", errors.FileError, "holds 'a:2': a namespace with a weight"),
    "no number": ("1 |a b:x\n", errors.FileError, "the value after the colon is not a number"),
    "a sum that is rounded": ("1 |a b:0.1 b:0.2\n", errors.InexactError, "column 'a^b'"),
    "no label": ("|a b\n", errors.MissingLabelError, "row 0"),
    "infinite": ("1 |a b:1e400\n", errors.NotFiniteError, "column 'a^b'"),
    "long": ("1 |a b:9007199254740993\n", errors.InexactError, "9007199254740993"),
    "costs": ("1:2:3 |a b\n", errors.FileError, "'1:2:3': not a label"),
    "several lines": ("shared |a b\n", errors.FileError, "'shared': not a label"),
    "a comment": ("# note |a b\n", errors.FileError, "'#': not a label"),
    "no bar": ("1 a b\n", errors.FileError, r"there is no \| before the features"),
    "one name twice": ("1 |a b | a^b\n", errors.FileError, "two features of two namespaces"),
    "not text": ("1 |a \udcff\n", errors.EncodingError, "not UTF-8"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_line_that_would_mean_something_else_is_refused_or_rejected(kind, tmp_path):
    line, error, said = BAD[kind]
    text = (line + "-1 |c d\n1 |c e\n").encode("utf-8", "surrogateescape")
    (tmp_path / "a.vw").write_bytes(text)
    with pytest.raises(error, match=said.replace("^", r"\^")) as caught:
        linsep.open(tmp_path / "a.vw")
    assert (caught.value.row, caught.value.line) == (0, 1)
    source, rows = rows_of(tmp_path / "a.vw", reject=tmp_path / "bad.csv")
    assert (source.facts.names, rows, source.facts.rows_left_out) == (("c^d", "c^e"), [[1, 0], [0, 1]], 1)


def test_a_weight_of_one_and_an_empty_namespace_change_nothing(tmp_path):
    (tmp_path / "a.vw").write_text("1 1.0 0 tag|a:1 b\n-1 |a\n")
    assert rows_of(tmp_path / "a.vw")[1] == [[1], [0]]


def test_label_and_columns_have_no_meaning_there(tmp_path):
    (tmp_path / "a.vw").write_bytes(MAIL)
    with pytest.raises(errors.ArgumentError, match="begins with its label"):
        linsep.open(tmp_path / "a.vw", label="y")


def test_more_features_than_memory_has_room_for_are_refused(tmp_path):
    (tmp_path / "a.vw").write_text("1 | " + " ".join(f"f{k}" for k in range(6000)) + "\n-1 | f1\n")
    with pytest.raises(errors.WideFileError, match="more columns than fit in memory"):
        linsep.open(tmp_path / "a.vw", memory="1MiB")


@pytest.mark.parametrize(("name", "before", "line"), [("a.vw", "1 |a b\n", 2), ("a.svm", "# a comment\n1 1:1\n", 3)])
def test_a_line_without_an_end_is_refused_by_its_row_and_line(tmp_path, name, before, line):
    (tmp_path / name).write_text(before + "1" * 400_000)
    with pytest.raises(linsep.LinsepError, match="is longer than 262,144 bytes") as found:
        linsep.open(tmp_path / name, memory="1MiB")
    assert (found.value.row, found.value.line) == (1, line)
