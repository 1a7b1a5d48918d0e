"""Files walked once: rows that need no labels, and pipes that are read as they are written."""

import fcntl
import io
import os
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from linsep.errors import InexactError, InputError, MissingColumnError, NoRowsError, ShapeError
from linsep.sources.files import streaming
from linsep.sources.files.csv_reader import CsvReader
from linsep.sources.files.options import Needs, Options
from linsep.sources.files.svmlight import SvmlightReader
from linsep.sources.files.text_reader import Pipe, next_bytes

pytestmark = pytest.mark.usefixtures("streamed")

CSV = 'a,"b",y\r\n1,2,no\r\n\r\n3.5,"4",yes\n9,8,"two\nlines"\n'


class Trickle(io.BytesIO):
    """A stream that gives a few bytes at a time, whatever is asked for."""

    def __init__(self, text, most):
        super().__init__(text)
        self.most = most

    def read(self, size=-1):
        return super().read(min(size, self.most))


def walked(reader):
    parts = list(streaming.stretches(reader))
    if reader.why_empty is not None:
        raise reader.why_empty
    labels = [None if part.labels is None else label for part in parts for label in (part.labels or [None])]
    return np.vstack([part.X if isinstance(part.X, np.ndarray) else part.X.toarray() for part in parts]), labels


@pytest.mark.parametrize("most", [*range(1, 20), 60])
def test_a_pipe_in_pieces_of_any_size_is_the_file(most):
    reader = CsvReader("stdin", Options(label="y"), Pipe(Trickle(CSV.encode(), most)))
    values, labels = walked(reader)
    assert values.tolist() == [[1, 2], [3.5, 4], [9, 8]]
    assert [str(label) for label in labels] == ["no", "yes", "two\nlines"]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 9, 12, 30])
def test_sparse_rows_of_a_pipe_are_those_of_the_file(most):
    reader = SvmlightReader("stdin", Options(n_columns=3), Pipe(Trickle(b"1 1:2 3:4\n-1 2:1\n1 1:7", most)))
    parts = list(streaming.stretches(reader))
    assert np.vstack([b.X.toarray() for b in parts]).tolist() == [[2, 0, 4], [0, 1, 0], [7, 0, 0]]
    assert np.concatenate([b.labels for b in parts]).tolist() == [1, -1, 1]


@pytest.mark.parametrize("text", ["", "a,b\n", 'a,b\n1,"2\n', "a,a\n1,2\n", "a,b\n1,\x00\n", "a,b\n1,2,3\n"])
def test_a_bad_pipe_is_an_error_about_stdin(text):
    with pytest.raises(InputError, match=r"^stdin: "):
        walked(CsvReader("stdin", Options(label="b"), Pipe(io.BytesIO(text.encode()))))


def test_what_a_pipe_has_is_handed_on_without_waiting_for_more():
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as stream:  # noqa: PTH123
        os.write(writing, b"first")
        later = threading.Timer(0.5, lambda: (os.write(writing, b"second"), os.close(writing)))
        later.start()
        started = time.monotonic()
        assert next_bytes(stream, 1 << 20) == b"first"
        assert time.monotonic() - started < 0.4
        assert next_bytes(stream, 1 << 20) == b"second"
        assert next_bytes(stream, 1 << 20) == b""
        later.join()


def test_a_pipe_of_a_process_with_many_open_files_is_read():
    reading, writing = os.pipe()
    try:
        high = fcntl.fcntl(reading, fcntl.F_DUPFD, 1100)
    except OSError:
        pytest.skip("fewer files may be open here")
    os.write(writing, b"first")
    with open(high, "rb", buffering=0) as stream:  # noqa: PTH123
        assert next_bytes(stream, 1 << 20) == b"first"
    os.close(reading)
    os.close(writing)


def needs(names=("b", "a"), width=2, label="y"):
    return Options(needs=Needs(names, width, label))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels_are_used_if_they_are_there(ending, tmp_path):
    table = pa.table({"id": ["p", "q"], "a": [1.0, 2.0], "b": [3.0, 4.0], "y": ["no", None]})
    path = tmp_path / f"t.{ending}"
    for content, labels in ((table, ["no", None]), (table.drop_columns(["y"]), [None])):
        pyarrow.parquet.write_table(content, path) if ending == "parquet" else pyarrow.csv.write_csv(content, path)
        (reader,) = streaming.readers(path, needs())
        values, seen = walked(reader)
        assert values.tolist() == [[3, 1], [4, 2]]
        assert [label if label is None else label.as_py() for label in seen] == labels
        assert "'id'" in reader.remarks[0]


def test_a_column_is_never_taken_for_a_position(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(MissingColumnError, match="needs the column '0'") as caught:
        list(streaming.readers(tmp_path / "t.csv", needs(("a", "0"))))
    assert (caught.value.code, caught.value.column) == ("E-NO-COLUMN", "0")


def test_without_names_the_width_decides(tmp_path):
    (tmp_path / "t.csv").write_text("p,q,r\n1,2,0\n")
    (reader,) = streaming.readers(tmp_path / "t.csv", needs(None, 2, -1))
    assert walked(reader)[0].tolist() == [[1, 2]]
    with pytest.raises(ShapeError, match="3 columns, but the model has 2 weights"):
        list(streaming.readers(tmp_path / "t.csv", needs(None, 2, None)))


def test_categories_of_a_model_must_stand_together(tmp_path):
    (tmp_path / "t.csv").write_text("c,h\nred,1\n")
    (reader,) = streaming.readers(tmp_path / "t.csv", needs(("h", "c[blue]", "c[red]"), 3))
    assert walked(reader)[0].tolist() == [[1, 0, 1]]
    with pytest.raises(MissingColumnError, match="a column 'h' of its own"):
        list(streaming.readers(tmp_path / "t.csv", needs(("c[blue]", "h", "c[red]"), 3)))


def test_a_name_that_cannot_be_read_is_an_error_before_the_first_row(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    with pytest.raises(InputError, match=r"none\.csv: there is no such file"):
        next(streaming.readers([tmp_path / "t.csv", tmp_path / "none.csv"], Options(label="y")))


def test_long_integers_are_doubles_only_where_nothing_is_lost(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[2**53, -(2**53)], [2**53 + 1, 0]]), y=[0, 1])
    (reader,) = streaming.readers(tmp_path / "t.npz", Options())
    with pytest.raises(InexactError, match=f"row 1, column 0 .* holds {2**53 + 1}"):
        list(streaming.stretches(reader, as_doubles=True))


def test_no_rows_is_an_error_here_too(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(NoRowsError):
        for reader in streaming.readers(tmp_path / "t.csv", needs(("a", "b"))):
            list(streaming.stretches(reader))


@pytest.mark.parametrize(("label", "text"), [(1.0, "1"), (1, "1"), (0.5, "0.5"), (True, "true"), ("+1", "+1")])
def test_a_label_is_text_as_a_text_file_has_it(label, text):
    assert streaming.text_of(label) == text
