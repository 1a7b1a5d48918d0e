"""The checkpoint file: what is recorded comes back, and what is damaged, foreign or of other data is not used."""

import base64
import json

import numpy as np
import pytest

from linsep.errors import CheckpointError, FileError
from linsep.learners import checkpoints
from linsep.learners.checkpoints import CheckpointFile, Identity, key, read
from linsep.storage.checksum import seal
from tests.campaigns.fuzz import READERS, bombard, fuzz
from tests.test_sealed import accepted, damaged

DATA = Identity(4, 2, "0" * 64)
KEY = key("cyclic", True, 0)


@pytest.fixture
def notes():
    return []


@pytest.fixture
def opened(tmp_path, notes):
    """Open the file anew, as the next process would."""
    return lambda data=DATA: CheckpointFile(tmp_path / "run.checkpoint", data, notes.append)


def saved(opened, *values):
    """A file with one save for each value."""
    for value in values:
        file = opened()
        file.put(KEY, {"a": np.array([value])})
        file.save(now=True)
    return file


def text(**changes):
    array = {"type": "<i8", "shape": [1], "data": base64.b64encode(bytes(8)).decode()}
    run = {"question": "1" * 64, "arrays": {"a": array | changes.pop("array", {})}}
    data = {"rows": 4, "columns": 2, "fingerprint": "0" * 64} | changes.pop("data", {})
    document = {
        "format": "linsep-checkpoint",
        "version": 2,
        "data": data,
        "run": run | changes.pop("run", {}),
    }
    return seal(json.dumps(document | changes))


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, np.nan], [-0.0, np.inf]]),
        np.array([2**63 - 1, -(2**63)]),
        np.array([True, False]),
        np.zeros((0, 3), np.float32),
        np.array([1, 2], ">u4"),
        np.array(7, np.int8),
    ],
)
def test_arrays_come_back_to_the_last_bit(opened, array):
    file = opened()
    file.put(KEY, {"a": array})
    file.save(now=True)
    back = opened().get(KEY)["a"]
    assert back.dtype == array.dtype.newbyteorder("=") and back.shape == array.shape
    assert back.tobytes() == array.astype(back.dtype).tobytes() and back.flags.writeable


def test_a_run_is_known_by_its_exact_arguments():
    questions = [("cyclic", 0), ("cyclic", 0.0), ("cyclic", False), ("cyclic", "0"), ("worst", 0), ("cyclic",)]
    assert len({key(*question) for question in questions}) == len(questions)


def test_the_newest_is_used_and_the_one_before_it_kept(opened, notes, tmp_path):
    saved(opened, 1, 2)
    assert opened().get(KEY)["a"].tolist() == [2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.checkpoint", "run.checkpoint.previous"]
    assert notes == []


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-1], lambda content: content.replace(b'"shape": [1', b'"shape": [2')]
)
def test_if_the_newest_is_damaged_the_one_before_it_is_used(opened, notes, damage):
    newest = saved(opened, 1, 2).path
    newest.write_bytes(damage(newest.read_bytes()))
    assert opened().get(KEY)["a"].tolist() == [1]
    assert len(notes) == 1 and "not intact" in notes[0] and notes[0].endswith("This checkpoint is not used.")


def test_a_kill_between_the_two_renames_leaves_the_one_before(opened, notes):
    saved(opened, 1, 2).path.unlink()
    assert opened().get(KEY)["a"].tolist() == [1] and notes == []


def test_without_a_whole_one_it_starts_over_and_says_so(opened, notes):
    saved(opened, 1).path.write_bytes(b'{\n "format"')
    assert opened().get(KEY) is None
    assert notes[-1] == "No intact checkpoint is left. Starting over."


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (Identity(5, 2, "0" * 64), "about 4 rows, and the data have 5"),
        (Identity(4, 3, "0" * 64), "about 2 columns, and the data have 3"),
        (Identity(4, 2, "1" * 64), "the data have changed since"),
    ],
)
def test_other_data_start_over_and_the_reason_is_said(opened, notes, data, says):
    saved(opened, 1)
    assert opened(data).get(KEY) is None
    assert len(notes) == 1 and says in notes[0] and notes[0].endswith("Starting over.")


def test_a_file_that_is_no_checkpoint_is_left_alone(opened, tmp_path):
    (tmp_path / "run.checkpoint").write_text("a,b,y\n1,2,0\n")
    with pytest.raises(CheckpointError, match="Give the run another file name"):
        opened()
    assert (tmp_path / "run.checkpoint").read_text() == "a,b,y\n1,2,0\n"


def test_every_damaged_checkpoint_is_refused_with_a_reason(opened):
    content = saved(opened, 1).path.read_text()
    assert read(content)[0] == DATA
    assert accepted(damaged(content), read, CheckpointError) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "linsep-model"}, "format"),
        ({"version": 1}, "version is 1"),
        ({"version": True}, "version is True"),
        ({"extra": 1}, "the field 'extra' is unknown"),
        ({"data": {"rows": -1}}, "a count"),
        ({"data": {"rows": "4"}}, "a count"),
        ({"data": {"fingerprint": "x"}}, "not of the form"),
        ({"run": {"question": "Eval!"}}, "not of the form"),
        ({"run": {"arrays": []}}, "run.arrays is .*, not a JSON object"),
        ({"run": {"more": 1}}, "the field 'more' of run is unknown"),
        ({"array": {"type": "|O"}}, "arrays.a.type is '|O': it must be one of"),
        ({"array": {"type": ["<i8"]}}, "arrays.a.type is"),
        ({"array": {"shape": [2]}}, "does not fit its 8 bytes"),
        ({"array": {"shape": [2**50, 2**50]}}, "does not fit"),
        ({"array": {"shape": [1, 1, 1]}}, "two dimensions"),
        ({"array": {"shape": [1.0]}}, r"arrays.a.shape\[0\] is 1.0: it must be a count"),
        ({"array": {"data": "????????"}}, "base64"),
        ({"array": {"type": "|b1", "shape": [3], "data": "AgEA"}}, "does not fit"),
    ],
)
def test_a_wrong_field_is_refused_by_name(changes, says):
    assert read(text())[0] == DATA
    with pytest.raises(CheckpointError, match=says.replace("|", r"\|")):
        read(text(**changes))


def test_what_would_make_the_file_too_large_is_not_recorded(opened, monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_BYTES", 1000)
    file = opened()
    file.put(KEY, {"a": np.zeros(1000)})
    assert file.get(KEY) is None


def test_a_file_beyond_the_cap_is_refused_before_it_is_parsed(opened, monkeypatch):
    saved(opened, 1)
    monkeypatch.setattr("linsep.storage.documents.MOST_BYTES", 100)
    with pytest.raises(CheckpointError, match="too large"):
        opened()


def test_saves_are_rare_where_they_are_slow(opened, tmp_path):
    file = saved(opened, 1)
    file._cost = 1000.0
    file.put(KEY, {"a": np.array([2])})
    file.save()
    assert opened().get(KEY)["a"].tolist() == [1]
    file.save(now=True)
    assert opened().get(KEY)["a"].tolist() == [2]


def test_a_finished_run_takes_its_files_away(opened, tmp_path):
    saved(opened, 1, 2).remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    file = CheckpointFile(tmp_path / "none" / "run.checkpoint", DATA)
    file.put(KEY, {})
    with pytest.raises(FileError, match="cannot be written"):
        file.save(now=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.bombs is not list])
def test_a_few_bytes_take_no_more_memory_than_files_may(name):
    accepted, refused = bombard(name)
    assert accepted + refused >= 3


@pytest.mark.campaign
@pytest.mark.parametrize("name", READERS)
def test_mutated_texts_are_refused_and_nothing_else_happens(name):
    """The long run is `make fuzz`."""
    accepted, refused = fuzz(name, 1500, seed=1)
    assert refused > 500 and accepted > 10
