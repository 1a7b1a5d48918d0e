"""Saved classifiers: what comes back predicts and learns as before, bit for bit; anything else is refused."""

import json
import random
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import linsep
from linsep import KernelPerceptronClassifier, MaxMarginClassifier, PerceptronClassifier
from linsep.errors import LinsepError, ModelError, NotSeparableWarning
from linsep.estimators.saving import document_of
from linsep.models import MODEL, Model
from linsep.saved_models.load import from_json
from linsep.storage.checksum import FIELD, seal
from test_models import model

KEEPS = ("last", "average", "vote", "best")
SHAPES = [*((keep, "joint") for keep in KEEPS), *((keep, "ovr") for keep in KEEPS)]
LAYOUTS = {"dense": np.asarray, "csr": sp.csr_array, "matrix": sp.csr_matrix}
TYPES = {
    "text": np.array(["blau", "grün", "rot"]),
    "object": np.array(["blau", "grün", "rot"], dtype=object),
    "integer": np.array([-(2**62), 7, 2**62]),
    "small integer": np.array([1, 2, 3], np.uint8),
    "large integer": np.array([1, 2**63, 2**64 - 1], np.uint64),
    "float": np.array([0.0, 1.0, 2.0]),
    "single": np.array([0.0, 1.0, 2.0], np.float32),
    "boolean": np.array([False, True]),
}


def rows(n_classes=3, n=80, d=4, dtype=np.float64, seed=0):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(n, d)).astype(dtype), draw.integers(n_classes, size=n)


def again(estimator):
    return from_json(MODEL.write(document_of(estimator)))


def attributes(estimator):
    """Everything public that fitting set, in a form that can be compared to the last bit."""
    found = {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("_")}
    return {name: exactly(value) for name, value in sorted(found.items())}


def exactly(value):
    if sp.issparse(value):
        return [exactly(part) for part in (value.data, value.indices.astype(np.int64), value.indptr.astype(np.int64))]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist() if value.dtype == object else value.tobytes()
    return type(value), value


def assert_same(before, after, X):
    assert type(after) is type(before)
    assert after.get_params() == before.get_params()
    assert attributes(after) == attributes(before)
    assert after.decision_function(X).tobytes() == before.decision_function(X).tobytes()
    assert exactly(after.predict(X)) == exactly(before.predict(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("keep", "multiclass"), SHAPES)
def test_a_perceptron_comes_back_and_learns_on_as_if_nothing_had_happened(keep, multiclass, n_classes, layout, dtype):
    (X, y), (X_new, y_new) = (rows(n_classes, dtype=dtype, seed=seed) for seed in (0, 1))
    X, X_new = LAYOUTS[layout](X), LAYOUTS[layout](X_new)
    before = PerceptronClassifier(keep, multiclass=multiclass, max_passes=3, random_state=1).fit(X, y)
    after = again(before)
    assert_same(before, after, X_new)
    for _ in range(2):
        assert_same(before.partial_fit(X_new, y_new), after.partial_fit(X_new, y_new), X)


def test_a_stream_goes_on_with_the_state_of_its_random_numbers_halfway_through_a_draw():
    X, y = rows(n=7)
    before = PerceptronClassifier(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    before._learners[0].random.integers(2, dtype=np.uint32)  # leaves half of 64 bits behind
    assert before._learners[0].random.bit_generator.state["has_uint32"] == 1
    after = again(before)
    assert document_of(after) == document_of(before)
    assert_same(before.partial_fit(X, y), after.partial_fit(X, y), X)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_kernel_perceptron_comes_back(kernel, keep, n_classes, layout):
    X, y = rows(n_classes, dtype=np.float32 if kernel == "poly" else np.float64)
    X = LAYOUTS[layout](X)
    options = {"degree": 4, "gamma": "auto", "budget": 9} if kernel == "poly" else {"gamma": 0.7}
    before = KernelPerceptronClassifier(kernel, keep=keep, max_passes=3, random_state=np.int64(5), **options)
    assert_same(before.fit(X, y), again(before), X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_separable", [True, False])
def test_a_widest_margin_comes_back_with_its_proofs(n_classes, is_separable):
    X, y = rows(n_classes, n=30)
    X = np.hstack([X, np.eye(n_classes)[y] * (9 if is_separable else 1)])
    with warnings.catch_warnings(action="ignore", category=NotSeparableWarning):
        before = MaxMarginClassifier(gap=1e-4, time_limit=60).fit(X, y)
    after = again(before)
    assert_same(before, after, X)
    for k, verdict in enumerate(after.verdicts_):
        verdict.verify(X, y if n_classes == 2 else y == k)


@pytest.mark.parametrize("classes", TYPES.values(), ids=TYPES)
def test_classes_keep_their_type(classes):
    X, y = rows(len(classes))
    for blank in (PerceptronClassifier(random_state=0), KernelPerceptronClassifier(random_state=0)):
        before = blank.fit(X, classes[y])
        assert_same(before, again(before), X)


def test_columns_keep_their_names():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "ü", "d\n"])
    after = again(PerceptronClassifier().fit(frame, y))
    assert after.feature_names_in_.tolist() == ["a", "b", "ü", "d\n"]
    with pytest.raises(ValueError, match="feature names should match"):
        after.predict(frame.rename(columns={"a": "z"}))


def test_a_classifier_without_a_seed_comes_back_without_one():
    X, y = rows()
    assert again(PerceptronClassifier().fit(X, y)).random_state is None


def test_parameters_set_after_the_fit_change_nothing_that_was_fitted():
    X, y = rows()
    before = PerceptronClassifier("vote", random_state=0).fit(X, y).set_params(keep="last", bias=False, margin=2)
    assert_same(before, again(before), X)


def test_load_reads_every_kind_of_file(tmp_path):
    X, y = rows(2)
    for estimator in (PerceptronClassifier(), KernelPerceptronClassifier()):
        estimator.fit(X, y).save(tmp_path / "m.json")
        assert_same(estimator, linsep.load(str(tmp_path / "m.json")), X)
    model().save(tmp_path / "m.json")
    assert linsep.load(tmp_path / "m.json") == model()
    assert isinstance(linsep.load(tmp_path / "m.json"), Model)


def test_a_file_of_another_kind_is_refused_by_the_command_line_reader(tmp_path):
    X, y = rows(2)
    PerceptronClassifier().fit(X, y).save(tmp_path / "m.json")
    with pytest.raises(ModelError, match=r"m\.json: kind is 'perceptron', not 'halfspace'"):
        linsep.models.load(tmp_path / "m.json")


class Child(PerceptronClassifier):
    pass


@pytest.mark.parametrize(
    ("estimator", "says"),
    [
        (KernelPerceptronClassifier(lambda A, B: A @ B.T), "kernel is a function"),
        (PerceptronClassifier(random_state=np.random.RandomState(0)), r"set_params\(random_state=None\)"),
        (Child(), "Child cannot be saved"),
        (PerceptronClassifier(), "as text"),
    ],
    ids=["function", "generator", "subclass", "size"],
)
def test_what_a_file_cannot_hold_is_refused_when_it_is_saved(estimator, says, tmp_path, monkeypatch):
    X, y = rows()
    monkeypatch.setattr("linsep.storage.documents.MOST_BYTES", 1000)
    with pytest.raises(ModelError, match=says):
        estimator.fit(X, y).save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_labels_that_are_not_text_are_refused_when_they_are_saved(tmp_path):
    X, y = rows()
    with pytest.raises(ModelError, match="half a surrogate pair"):
        PerceptronClassifier().fit(X, np.array(["a", "b", "\ud800"])[y]).save(tmp_path / "m.json")
    with pytest.raises(ModelError, match="cannot be saved"):
        PerceptronClassifier().fit(X, np.array([1, 2, 3], np.longdouble)[y]).save(tmp_path / "m.json")


def test_an_unfitted_classifier_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        PerceptronClassifier().save(tmp_path / "m.json")


def test_so_many_mistake_counts_that_none_would_be_read_are_left_out(monkeypatch):
    X, y = rows()
    monkeypatch.setattr("linsep.estimators.document_parts.MOST_ENTRIES", 79)
    after = again(PerceptronClassifier().fit(X, y))
    assert not hasattr(after, "mistakes_per_row_") and after.n_updates_ > 0


# Hostile files


def small():
    """One document of each kind, with every part a file can have."""
    X, y = rows(3, n=12, d=2)
    with warnings.catch_warnings(action="ignore", category=NotSeparableWarning):
        fitted = [
            *(PerceptronClassifier(keep, max_passes=2, random_state=0).fit(X, y) for keep in KEEPS),
            PerceptronClassifier("vote", max_passes=2).fit(sp.csr_array(X), y == 1),
            KernelPerceptronClassifier(keep="vote", max_passes=2).fit(sp.csr_array(X), y),
            KernelPerceptronClassifier(max_passes=2).fit(X, np.array(["a", "b", "c"])[y]),
            MaxMarginClassifier().fit(X, y),
            MaxMarginClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 0] > 0),
        ]
    documents = [json.loads(MODEL.write(document_of(estimator))) for estimator in fitted]
    return [{name: value for name, value in document.items() if name != FIELD} for document in documents]


def written(document):
    """The document with a checksum of its own: what is wrong with it must be found elsewhere."""
    return seal(json.dumps(document)) if isinstance(document, dict) else json.dumps(document)


DOCUMENTS = small()
RNG = np.random.default_rng(0)
PROBES = RNG.normal(size=(3, 2))


def places(value, path=()):
    """The path to each value of a document, down to the first entries of each list."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, part in inside:
        yield from places(part, (*path, name))


def at(document, path):
    for name in path:
        document = document[name]
    return document


def changed(document, path, put):
    """A copy with another value in that place."""
    copy = json.loads(json.dumps(document))
    if not path:
        return put
    at(copy, path[:-1])[path[-1]] = put
    return copy


def read_or_refused(text):
    """The classifier, which must then be of use, or None if it is refused; any other error fails the test."""
    try:
        found = from_json(text)
    except ModelError:
        return None
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"), suppress(LinsepError):
        if found.n_features_in_ == 2:
            found.predict(PROBES)
            if isinstance(found, PerceptronClassifier):
                found.partial_fit(PROBES, found.classes_[[0, 1, 0]]).predict(PROBES)
    return found


POSITIONS = {"row", "label", "rival", "born", "place", "indices", "indptr", "at"}
OF_SEVERAL_TYPES = {  # fields that may be null, or a word or a number
    *("names", "mistakes_per_row", "gamma", "budget", "random_state", "time_limit", "spare", "votes"),
    *("class_weight", "stop_after"),
}


def are_numbers(*values):
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def of_another_type(value):
    others = [None, True, 3, -1, 2**53 + 2, 10**30, 0.5, -1e300, "x", "7", [], [[]], {}, {"a": 1}, "9" * 200, [None]]
    return [other for other in others if type(other) is not type(value)]


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_value_of_the_wrong_type_is_refused_wherever_it_stands(document):
    for path in places(document):
        value = at(document, path)
        for put in of_another_type(value):
            found = read_or_refused(written(changed(document, path, put)))
            assert found is None or are_numbers(value, put) or path[-1] in OF_SEVERAL_TYPES, (path, put)


@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_counts_and_positions_that_cannot_be_are_refused_and_none_crashes(document):
    for path in places(document):
        whole = at(document, path)
        if path and path[-1] in POSITIONS and whole:
            for put in (99, 2**31, 2**53):
                hostile = changed(document, (*path, len(whole) - 1), put)
                assert read_or_refused(written(hostile)) is None, (path, put)


@pytest.mark.parametrize("count", [0, 1, 3, 2**40, 2**48, 2**53, 2**63, 10**400])
@pytest.mark.parametrize("path", [("features", "count"), ("mistakes_per_row", "rows")])
def test_huge_counts_are_refused_before_room_is_made(path, count):
    assert read_or_refused(written(changed(DOCUMENTS[0], path, count))) is None


@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_field_missing_added_or_there_twice_is_refused(document):
    for path in places(document):
        part = at(document, path)
        if isinstance(part, dict):
            assert read_or_refused(written(changed(document, path, {**part, "extra": 1}))) is None
            for name in part:
                without = {key: value for key, value in part.items() if key != name}
                assert read_or_refused(written(changed(document, path, without))) is None
    text = written(document)
    twice = text.replace('"kind"', '"kind": "perceptron", "kind"', 1)
    assert read_or_refused(seal(twice.partition(f',\n "{FIELD}"')[0] + "}")) is None


@pytest.mark.parametrize("document", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_every_truncation_and_every_flipped_bit_is_refused(document):
    content, draw = written(document).encode(), random.Random(0)
    for length in {*range(0, len(content), 97), *range(len(content) - 20, len(content))}:
        assert read_or_refused(content[:length].decode()) is None
    for _ in range(300):
        at, bit = draw.randrange(len(content)), 1 << draw.randrange(8)
        damaged = content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :]
        assert read_or_refused(damaged.decode(errors="replace")) is None


@pytest.mark.parametrize(
    ("path", "put", "says"),
    [
        (
            ("kind",),
            "linsep.PerceptronClassifier",
            "kind is 'linsep.PerceptronClassifier': it must be one of halfspace",
        ),
        (("parameters", "keep"), "all", "parameters.keep is 'all': it must be one of last, average"),
        (("classes", "values"), ["0", "2", "1"], "each larger than the one before"),
        (("classes", "dtype"), "int8", None),
        (("classes",), {"type": "text", "dtype": "str", "values": ["a", "a\0", "b"]}, "do not fit str"),
        (("classes",), {"type": "integer", "dtype": "int8", "values": ["0", "1", "128"]}, "do not fit int8"),
        (("classes",), {"type": "float", "dtype": "float32", "values": [0.0, 0.1, 1.0]}, "do not fit float32"),
        (("coef",), [[1.0, 2.0]], "coef has 1 entries: it must have 3"),
        (("coef", 0, 0), 2**60, "without rounding"),
        (("rule", "margin"), -1.0, "rule.margin is -1.0"),
        (("rule", "keep"), "best", "with keep"),
        (("runs",), [], "runs has 0 entries"),
        (("runs", 0, "random", "state"), str(2**128), "not a state of PCG64"),
        (("dtype",), "float32", "float32 without rounding"),
        (("features", "names"), ["a"], "features.names has 1 entries: it must have 2"),
        (("features", "names"), ["a", "a"], "'a' appears twice"),
    ],
)
def test_what_is_wrong_is_named(path, put, says):
    text = written(changed(DOCUMENTS[1], path, put))
    if says is None:
        assert from_json(text).classes_.dtype == np.int8
        return
    with pytest.raises(ModelError, match=says):
        from_json(text)


def test_every_field_is_named_in_the_docs():
    page = (Path(__file__).parents[1] / "docs/model-format.md").read_text()
    names = {name for document in DOCUMENTS for path in places(document) for name in path if isinstance(name, str)}
    of_parameters = {name for document in DOCUMENTS for name in document["parameters"]}
    assert {name for name in names - of_parameters if f"`{name}`" not in page} == set()
