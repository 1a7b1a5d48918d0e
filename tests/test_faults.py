"""What can be wrong with a file is one table: every fault is used, explained, and rendered in one place."""

import pickle
import re
from pathlib import Path

import pytest

import linsep
from linsep.sources.files import faults

ROOT = Path(__file__).parents[1]
SOURCE = "".join(file.read_text(encoding="utf-8") for file in ROOT.glob("src/linsep/sources/files/*.py"))


@pytest.mark.parametrize("name", faults.FAULTS)
def test_every_fault_is_raised_somewhere(name):
    table = Path(faults.__file__).read_text(encoding="utf-8")
    assert SOURCE.replace(table, "").count(f'"{name}"') > 0


def test_every_fault_that_is_raised_is_in_the_table():
    raised = set(re.findall(r'fault\(\s*"([^"]+)"', SOURCE)) | set(re.findall(r'_error\(\s*"([^"]+)"', SOURCE))
    assert raised <= set(faults.FAULTS) and len(raised) > 60


@pytest.mark.parametrize("name", faults.FAULTS)
def test_every_code_of_the_table_is_on_the_page_of_errors(name):
    assert f"| `{faults.FAULTS[name].kind.code}` |" in (ROOT / "docs/errors.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", faults.FAULTS)
def test_a_sentence_ends_where_the_fix_begins(name):
    _, what, fix = faults.FAULTS[name]
    assert not what.endswith(".") and (not fix or fix.endswith((".", "}")))


def test_a_fault_that_moves_keeps_its_words():
    error = faults.fault("missing", "a.csv", row=3, column="x", value="NA")
    later = faults.moved(error, line=5, byte=40)
    assert (
        str(later)
        == "a.csv: row 3 (line 5), column 'x' holds 'NA': the value is missing. Drop the row or fill the value in."
    )
    assert (later.row, later.byte, later.fix) == (3, 40, faults.DROP_OR_FILL)
    assert str(pickle.loads(pickle.dumps(later))) == str(later)


def test_a_value_with_marks_of_the_table_is_shown_as_it_is():
    assert "holds '@=@{x}'" in str(faults.fault("missing", "a.csv", row=0, column="a@", value="@=@{x}"))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_same_fault_has_the_same_words_in_every_format(name, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1.0, float("inf")], "y": [0, 1]}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("a,y\n1,0\ninf,1\n")
    with pytest.raises(
        linsep.LinsepError, match=r"row 1( \(line 3\))?, column 'a' holds '?inf'?: not a finite number\. Drop"
    ):
        linsep.open(tmp_path / name, label="y")
