"""What can be wrong is one table: every fault is used, explained, and put into words in one place."""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import linsep
from linsep import faults

ROOT = Path(__file__).parents[1]
FILES = [file for file in (ROOT / "src/linsep").rglob("*.py") if file.name != "faults.py"]
SOURCE = "".join(file.read_text(encoding="utf-8") for file in FILES)
WRONG = {"nan": float("nan"), "inf": float("inf")}
DOORS = {
    "decide": lambda frame, y, folder: linsep.decide(frame, y),
    "perceptron": lambda frame, y, folder: linsep.perceptron(frame, y),
    "fit": lambda frame, y, folder: linsep.PerceptronClassifier().fit(frame, y),
    "partial_fit": lambda frame, y, folder: linsep.PerceptronClassifier().partial_fit(frame, y, classes=[0, 1]),
    "kernel": lambda frame, y, folder: linsep.KernelPerceptronClassifier().fit(frame, y),
    "online": lambda frame, y, folder: linsep.OnlinePerceptron().predict_then_learn(frame, y),
    "score": lambda frame, y, folder: linsep.Halfspace([1.0, 1.0], 0.0, (0, 1)).score(frame),
    "csv": lambda frame, y, folder: opened(frame, y, folder / "a.csv"),
    "parquet": lambda frame, y, folder: opened(frame, y, folder / "a.parquet"),
}


def opened(frame, y, path):
    table = frame.assign(y=y)
    if path.suffix == ".csv":
        table.to_csv(path, index=False, na_rep="nan")
    else:
        pq.write_table(pa.table({**{name: pa.array(frame[name].to_numpy()) for name in frame}, "y": y}), path)
    return linsep.open(path, label="y")


def refusal(door, frame, y, folder):
    with pytest.raises(linsep.LinsepError) as refused:
        found = DOORS[door](frame, y, folder)
        if door in ("csv", "parquet"):  # what is wrong only for the question
            linsep.decide(found)
    return refused.value


def words(error):
    """What an error says, without the file and the line of it."""
    told = str(error).removeprefix(f"{error.file}: ").replace(f" (line {error.line})", "")
    return told[0].lower() + told[1:]


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_the_same_value_has_the_same_words_through_every_door(door, name, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, WRONG[name], 0.25]})
    error = refusal(door, frame, [0, 1, 1], tmp_path)
    shown = {"nan": "NaN", "inf": "inf"}[name]
    fix = "Drop the row or fill in the value."
    assert words(error) == f"row 1, column 'b' holds {shown}: not a finite number. {fix}"
    assert (error.code, error.row, error.column, error.fix) == ("E-NOT-FINITE", 1, "b", fix)


@pytest.mark.parametrize("door", ["decide", "fit", "csv", "parquet"])
def test_one_class_has_the_same_words_through_every_door(door, tmp_path):
    error = refusal(door, pd.DataFrame({"a": [1.0, 2.0]}), [1, 1], tmp_path)
    assert error.fault.what == "there is only one class: every label is 1"
    assert (error.code, error.fix) == ("E-ONE-CLASS", "Two classes are needed.")


@pytest.mark.parametrize("door", ["decide", "fit", "online", "parquet"])
def test_a_missing_label_has_the_same_words_through_every_door(door, tmp_path):
    error = refusal(door, pd.DataFrame({"a": [1.0, 2.0, 3.0]}), ["no", None, "yes"], tmp_path)
    assert (error.code, error.row, error.fault.what) == ("E-LABEL-MISSING", 1, "the label is missing")


@pytest.mark.parametrize("door", ["decide", "perceptron", "online", "csv"])
def test_text_among_numbers_has_the_same_words_through_every_door(door, tmp_path):
    frame = pd.DataFrame({"a": np.array([1.5, "red", 2.5], object), "b": [1.0, 2.0, 3.0]})
    error = refusal(door, frame, [0, 1, 1], tmp_path)
    assert error.code == "E-NOT-A-NUMBER" and error.fix == faults.TEXT_FIX


@pytest.mark.parametrize("door", ["fit", "online", "score"])
def test_an_integer_that_a_double_rounds_has_the_same_words(door, tmp_path):
    frame = pd.DataFrame({"a": [1, 2**53 + 1], "b": [1.0, 2.0]})
    error = refusal(door, frame, [0, 1], tmp_path)
    told = "row 1, column 'a' holds 9007199254740993: it cannot be stored exactly, and linsep never rounds silently."
    assert words(error) == f"{told} {faults.SHIFT}"


@pytest.mark.parametrize("name", faults.FAULTS)
def test_every_fault_is_raised_somewhere(name):
    assert SOURCE.count(f'"{name}"') > 0


def test_every_fault_that_is_raised_is_in_the_table():
    raised = set(re.findall(r'\bfault\(\s*"([^"]+)"', SOURCE)) | set(re.findall(r'_error\(\s*"([^"]+)"', SOURCE))
    assert raised <= set(faults.FAULTS) and len(raised) > 60


def test_no_message_is_edited_after_it_was_made():
    assert not re.findall(r"\w+\.args = ", SOURCE)
    assert not re.findall(r"str\(error\)\.(?:replace|rpartition|partition|index)\(", SOURCE)


@pytest.mark.parametrize("name", faults.FAULTS)
def test_a_sentence_ends_where_the_fix_begins(name):
    _, what, fix = faults.FAULTS[name]
    assert not what.endswith(".") and (not fix or fix.endswith((".", "}")))


def test_a_fault_that_moves_keeps_its_words():
    error = faults.fault("missing", "a.csv", row=3, column="x", value="NA")
    later = error.at(line=5, byte=40)
    assert (
        str(later)
        == "a.csv: row 3 (line 5), column 'x' holds 'NA': the value is missing. Drop the row or fill in the value."
    )
    assert (later.row, later.line, later.byte, later.fix) == (3, 5, 40, faults.DROP_OR_FILL)
    assert str(pickle.loads(pickle.dumps(later))) == str(later)


def test_a_value_with_marks_of_the_table_is_shown_as_it_is():
    assert "holds '{value}@{x}'" in str(faults.fault("missing", "a.csv", row=0, column="a{", value="{value}@{x}"))


def test_a_place_that_the_sentence_names_is_not_repeated():
    told = "a.csv: two columns are called 'x'. Rename one of them."
    assert str(faults.fault("name twice", "a.csv", column="x")) == told
