"""The model file: what is written comes back, and anything else is refused with a reason."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep
from linsep.errors import FileError, ModelError
from linsep.halfspace import Halfspace
from linsep.models import Model, Training, from_json, load
from linsep.outputs import write_file
from linsep.saved_models.load import CLASSIFIERS, HALFSPACE, ONLINE
from linsep.storage.checksum import seal

TRAINING = Training(rows=4, mistakes=0, updates=9, passes=6, converged=True, order="cyclic", seed=2**70, linsep="0.1.0")


def model(w=(4.0, -0.5), b=1.0, labels=(-1, 1), columns=("x1", "x2"), label="y", bias=True):
    return Model(Halfspace(np.array(w), b, labels), bias, columns, label, TRAINING)


def document(**changes):
    return {**json.loads(model().to_json()), **changes}


def resealed(fields):
    return seal(json.dumps({name: value for name, value in fields.items() if name != "sha256"}))


def refused(text, says):
    with pytest.raises(ModelError, match=says):
        from_json(text if isinstance(text, str) else resealed(text))


@given(w=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), b=st.floats(-1e300, 1e300))
def test_every_float_comes_back_to_the_last_bit(w, b):
    back = from_json(model(w, b, columns=None).to_json()).halfspace
    assert back.w.tobytes() == np.array(w, dtype=float).tobytes()
    assert (back.b, np.signbit(back.b)) == (b, np.signbit(b))


@given(w=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_every_integer_comes_back_and_none_is_a_json_number(w):
    text = model(np.array(w, dtype=np.int64), 2**62, columns=None).to_json()
    back = from_json(text).halfspace
    assert back.w.dtype == np.int64
    assert back.w.tolist() == w
    assert all(isinstance(value, str) for value in json.loads(text)["w"])


@pytest.mark.parametrize("labels", [(-1, 1), (False, True), ("ham", "späm\n"), (0.1, 0.5), (2**60, 2**60 + 1)])
def test_labels_keep_their_type(labels):
    back = from_json(model(labels=labels).to_json()).halfspace.labels
    assert back == labels
    assert [type(label) for label in back] == [type(label) for label in labels]


def test_the_rest_of_a_model_comes_back():
    for columns, label in ((("a", "ü"), "y"), (None, -1), (None, None)):
        back = from_json(model(columns=columns, label=label).to_json())
        assert (back.columns, back.label, back.bias, back.training) == (columns, label, True, TRAINING)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "pickle"}, "not a linsep model"),
        ({"version": 2}, "version is 2"),
        ({"version": True}, "version is True"),
        ({"version": 1.0}, "version is 1.0"),
        ({"extra": 1}, "the field 'extra' is unknown"),
        ({"numbers": "complex"}, "numbers is 'complex'"),
        ({"w": []}, "w is empty"),
        ({"w": 3}, "must be a list"),
        ({"w": [1.0, "2"]}, r"w\[1\] is '2': it must be a number"),
        ({"w": [1.0, True]}, r"w\[1\] is True"),
        ({"w": [1.0, 2**53 + 1]}, "without rounding"),
        ({"w": [1.0]}, "columns has 2 names but w has 1"),
        ({"numbers": "integer"}, "string of digits"),
        ({"numbers": "integer", "w": ["1", "02"], "b": "0"}, "string of digits"),
        ({"numbers": "integer", "w": ["1", "٣"], "b": "0"}, "string of digits"),
        ({"numbers": "integer", "w": ["1", "9223372036854775808"], "b": "0"}, "64 bits"),
        ({"b": None}, "b is None"),
        ({"bias": False}, "through the origin"),
        ({"bias": 1}, "true or false"),
        ({"columns": ["a", "a"]}, "'a' appears twice"),
        ({"columns": ["a", 1]}, "must be text"),
        ({"columns": ["a", "\ud800"]}, "surrogate"),
        ({"label": 1.5}, "label is 1.5"),
        ({"labels": ["a", "b"]}, "not a JSON object"),
        ({"labels": {"type": "object", "negative": 0, "positive": 1}}, "labels.type"),
        ({"labels": {"type": [], "negative": 0, "positive": 1}}, "labels.type"),
        ({"labels": {"type": "text", "negative": "a", "positive": "a"}}, "both 'a'"),
        ({"labels": {"type": "text", "negative": "a"}}, "'positive' of labels is missing"),
        ({"training": {**document()["training"], "mistakes": 5}}, "more than the 4 rows"),
        ({"training": {**document()["training"], "updates": -1}}, "must be a count"),
        ({"training": {**document()["training"], "order": "random"}}, "training.order"),
        ({"training": {**document()["training"], "order": []}}, "training.order"),
        ({"training": {**document()["training"], "seed": "-1"}}, "training.seed"),
    ],
)
def test_a_wrong_field_is_refused_by_name(changes, says):
    refused(document(**changes), says)


@pytest.mark.parametrize("name", sorted(document().keys() - {"sha256"}))
def test_a_missing_field_is_refused(name):
    refused({key: value for key, value in document().items() if key != name}, name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a linsep model"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": "linsep-model", "format": "linsep-model"}', "'format' appears twice"),
        ('{"w": NaN}', "NaN"),
        ('{"w": -Infinity}', "Infinity"),
        ('{"version": ' + "1" * 5000 + "}", "not a linsep model"),
        (model().to_json() + "{}", "Extra data"),
        (seal(model().to_json().replace("4.0", "1e999").partition(',\n "sha256"')[0] + "}"), "without rounding"),
        (model().to_json().replace("4.0", "4.5"), "checksum does not match"),
        (model().to_json().replace("\n", "\r\n"), "does not end in its checksum"),
        ("\x80\x04\x95", "not a linsep model"),
    ],
)
def test_what_is_not_such_json_is_refused(text, says):
    refused(text, says)


def test_a_file_comes_back_and_errors_name_it(tmp_path):
    path = tmp_path / "model.json"
    model().save(path)
    assert load(path) == model()
    path.write_bytes(b"\xff")
    with pytest.raises(ModelError, match=r"model.json: this is not a linsep model: byte 0"):
        load(path)
    with pytest.raises(ModelError, match=r"none.json: cannot be read: No such file"):
        load(tmp_path / "none.json")


def test_a_file_beyond_the_cap_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr("linsep.storage.documents.MOST_BYTES", 100)
    (tmp_path / "model.json").write_text(model().to_json())
    with pytest.raises(ModelError, match="too large"):
        load(tmp_path / "model.json")


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old")

    def full(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"model\.json: cannot be written: disk full"):
        write_file(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


PAGE = Path(__file__).parents[1] / "docs" / "model-format.md"


@pytest.mark.parametrize("example", re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
def test_the_examples_of_the_page_are_loaded(example, tmp_path):
    (tmp_path / "model.json").write_text(example, "utf-8")
    assert linsep.load(tmp_path / "model.json")


def test_the_page_names_every_kind_and_has_two_examples():
    page = PAGE.read_text("utf-8")
    assert page.count("```json") == 2
    assert all(f'`"{kind}"`' in page.split("\n\n")[1] for kind in (HALFSPACE, ONLINE, *CLASSIFIERS))
