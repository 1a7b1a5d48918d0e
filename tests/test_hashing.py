"""The compiled hashing of text, held against scikit-learn's own."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer

from linsep.errors import ArgumentError, NotFiniteError, NotNumericError
from linsep.loops.text_hash import NO_LABEL
from linsep.sources.hashing import _folds, hash_dicts, hash_lines, hash_texts, require_bits

WORDY = st.text(alphabet="abZ09_ .'\t\n\r£éÉßİΣςǅ中😀𐐀́", max_size=60)


def same(ours, theirs):
    return (
        ours.shape == theirs.shape
        and np.array_equal(ours.indptr, theirs.indptr)
        and np.array_equal(ours.indices, theirs.indices)
        and np.array_equal(ours.data, theirs.data)
    )


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(WORDY | st.text(max_size=40), min_size=1, max_size=6), st.integers(1, 24))
@example(["ΣΑΣ ΟΔΟΣ", "İstanbul", "plain"], 18)
@example(["a" * 5000 + " bb", "aa bb " * 100], 3)
def test_text_is_hashed_to_scikit_learns_matrix(texts, bits):
    theirs = HashingVectorizer(n_features=1 << bits, norm=None).transform(texts)
    assert same(hash_texts(texts, bits), theirs)


def test_every_character_ends_or_continues_a_word_as_in_scikit_learn():
    words = HashingVectorizer().build_analyzer()
    folds = _folds()
    for code in [*range(0x3400), *range(0xA000, 0xD800, 3), *range(0xE000, 0x20000, 3), 0xE0001, 0x10FFFF]:
        found = words(f"q{chr(code)}q")
        kept = folds[code]
        if kept != 0xFFFFFFFF:
            assert found == ([f"q{chr(kept)}q"] if kept else []), hex(code)


def test_lines_have_labels_and_numbers_and_blank_ones_are_none():
    lines = hash_lines(b"spam\twin\n\n\r\nham\tlunch at one\r\nspam\t\n", [b"ham"], 4)
    assert lines.labels == [b"ham", b"spam"]
    assert lines.codes.tolist() == [1, 0, 1]
    assert lines.numbers.tolist() == [0, 3, 4]
    assert same(lines.X, HashingVectorizer(n_features=16, norm=None).transform(["win", "lunch at one", ""]))


def test_a_line_without_a_label_is_all_text():
    lines = hash_lines(b"no label here\n\tnor here\nx\ty z\tword\n", [], 18)
    assert lines.codes.tolist() == [NO_LABEL, NO_LABEL, 0]
    texts = ["no label here", "nor here", "y z word"]
    assert same(lines.X, HashingVectorizer(n_features=1 << 18, norm=None).transform(texts))


def test_lines_left_to_python_keep_their_numbers_and_places():
    lines = hash_lines("a\tone two\nb\tΣΑΣ two\na\tthree\n".encode(), [], 18)
    assert lines.numbers.tolist() == [0, 1, 2]
    assert same(lines.X, HashingVectorizer(n_features=1 << 18, norm=None).transform(["one two", "ΣΑΣ two", "three"]))


def test_labels_that_begin_alike_are_told_apart():
    lines = hash_lines(b"a\tx\nab\tx\na\tx\nabc\tx\nb\tx\n", [b"ab", b"a"], 2)
    assert (lines.labels, lines.codes.tolist()) == ([b"ab", b"a", b"abc", b"b"], [1, 0, 1, 2, 3])


def test_dicts_are_hashed_by_scikit_learn():
    rows = [{"length": 2.5, "colour": "red"}, {}, {"late": -1}]
    assert same(hash_dicts(rows, 10), FeatureHasher(n_features=1024).transform(rows))


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([{"a": float("nan")}], NotFiniteError, "Row 0, column 'a'"),
        ([{"a": 1}, {"b": None}], NotNumericError, "Row 1, column 'b': neither a number nor text"),
        ([{1: 1}], NotNumericError, "names of features must be text"),
        ([{"a": 1}, "text"], NotNumericError, "Row 1 holds 'text': if one row is a dict"),
    ],
)
def test_a_bad_dict_is_named(rows, error, said):
    with pytest.raises(error, match=said):
        hash_dicts(rows, 4)


@pytest.mark.parametrize("texts", [["a", 1], ["a", "\ud800"]])
def test_what_is_not_text_is_named(texts):
    with pytest.raises(NotNumericError, match="Row 1"):
        hash_texts(texts, 4)


@pytest.mark.parametrize("bits", [0, 29, 2.0, True, "18"])
def test_bits_out_of_range_are_refused(bits):
    with pytest.raises(ArgumentError, match="bits"):
        require_bits(bits)
