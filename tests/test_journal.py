"""A search over a journaled source goes on where it was stopped, and ends with the same proof."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep.checkpoints import CheckpointFile, key
from linsep.errors import CertificateError, CheckpointError
from linsep.sources.calls import CallSource
from linsep.sources.inputs import as_source
from linsep.sources.journal import JournaledSource
from linsep.sources.memory import MemorySource

X, Y = linsep.datasets.planted(900, 3, margin=0.002, seed=5)
FLIPPED = np.where(np.arange(900) % 97 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(900) % 9 == 0, FLIPPED, 0)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}


class Stop(Exception):  # noqa: N818 - a kill is not an error
    """A kill, as far as the solver is concerned."""


class Counting(CallSource):
    """Rows in six parts, whose function may stop after so many of them."""

    def __init__(self, rows, y, patience=10**9):
        self.handed, self.patience = 0, 10**9
        edges = [len(y) * k // 6 for k in range(7)]

        def parts():
            for start, stop in pairwise(edges):
                self.handed += 1
                if self.handed > self.patience:
                    raise Stop
                yield rows[start:stop], y[start:stop]

        super().__init__(parts)
        self.handed, self.patience = 0, patience

    def fingerprint(self):
        return "0" * 64


def timeless(verdict):
    return replace(verdict, seconds=0.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.checkpoint"


def stopped(work, make, path, patience):
    """Start again after each stop; the answer, and how often it was started."""
    starts = 0
    while starts < 50:
        source = JournaledSource(make(patience), path)
        starts += 1
        try:
            return work(source), starts
        except Stop:
            source.file.save(now=True)
    raise AssertionError("it does not get on")


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_a_decision_that_is_stopped_again_and_again_ends_with_the_same_proof(kind, layout, path):
    rows, y = CASES[kind]
    make = lambda patience: Counting(layout(rows), y, patience)  # noqa: E731
    undisturbed = make(10**9)
    whole = linsep.decide(undisturbed)
    assert whole.kind == kind
    verdict, starts = stopped(linsep.decide, make, path, undisturbed.handed * 2 // 3)
    assert timeless(verdict) == timeless(whole) and starts > 1


@pytest.mark.parametrize(
    ("work", "patience"), [(linsep.max_margin, 40), (lambda source: linsep.mle_exists(source).verdict, 40)]
)
def test_so_do_the_margin_and_the_likelihood(work, patience, path):
    make = lambda patience: Counting(X, Y, patience)  # noqa: E731
    whole = work(make(10**9))
    verdict, starts = stopped(work, make, path, patience)
    assert timeless(verdict) == timeless(whole) and starts > 1


def test_a_second_start_reads_no_scan_again_but_checks_the_verdict_against_the_data(path):
    first = JournaledSource(Counting(X, Y), path)
    verdict = linsep.decide(first)
    first.file.save(now=True)
    again = JournaledSource(Counting(X, Y), path)
    assert timeless(linsep.decide(again)) == timeless(verdict)
    assert 6 <= again.fresh().handed <= 13 < first.fresh().handed


def test_a_verdict_from_a_false_journal_is_not_handed_out(path):
    source = JournaledSource(Counting(X, FLIPPED), path)
    found = source.scan(np.array([1.0, 2.0, 3.0]), 0.0)
    lie = JournaledSource(Counting(X, FLIPPED), path)
    lie.scan = lambda w, b, worst=0: replace(found, mistakes=0, certain=0, lowest=(1.0, 1.0))
    with pytest.raises(CertificateError):
        linsep.decide(lie)


def test_a_scan_of_many_parts_goes_on_in_the_middle(path):
    w = np.array([1.0, -2.0, 0.5])
    whole = Counting(X, Y).scan(w, 0.25, worst=7)
    first = JournaledSource(Counting(X, Y, patience=4), path)
    with pytest.raises(Stop):
        first.scan(w, 0.25, worst=7)
    first.file.save(now=True)
    second = JournaledSource(Counting(X, Y), path)
    scan = second.scan(w, 0.25, worst=7)
    assert (scan.rows, scan.mistakes, scan.lowest, scan.longest2) == (900, whole.mistakes, whole.lowest, whole.longest2)
    assert scan.worst.numbers.tolist() == whole.worst.numbers.tolist()
    assert np.array_equal(scan.worst.values, whole.worst.values) and np.array_equal(scan.doubtful, whole.doubtful)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, lambda rows: np.rint(rows * 9).astype(np.int32)])
def test_answers_come_back_as_they_were(layout, path):
    rows = layout(X)
    first, plain = JournaledSource(as_source(rows, Y), path), as_source(rows, Y)
    ask = lambda source: (source.sample(5, 1), source.take([3, 1, 3]), source.scan(np.ones(3), 0.5, worst=4).worst)  # noqa: E731
    ask(first)
    first.file.save(now=True)
    again = JournaledSource(as_source(rows, Y), path)
    again._source = None  # nothing may be read
    for block, expected in zip(ask(again), ask(plain), strict=True):
        assert block.row_numbers.tolist() == expected.row_numbers.tolist() and block.y.tolist() == expected.y.tolist()
        for array, original in zip(block.table, expected.table, strict=True):
            assert array.dtype == original.dtype and np.array_equal(array, original)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"values": np.zeros((1, 3))},
        {"values": np.zeros((1, 4)), "y": np.array([1], np.int8), "numbers": np.array([0])},
        {"values": np.zeros((1, 3)), "y": np.array([2], np.int8), "numbers": np.array([0])},
        {"values": np.zeros((1, 3)), "y": np.array([1], np.int8), "numbers": np.array([900])},
        {"values": np.zeros((1, 3)), "y": np.array([1], np.int8), "numbers": np.array([0, 1])},
        {"data": np.ones(1), "indices": np.array([3], np.uint32), "indptr": np.array([0, 1], np.uint64),
         "y": np.array([1], np.int8), "numbers": np.array([0])},
        {"data": np.ones(1), "indices": np.array([0], np.uint32), "indptr": np.array([0, 9], np.uint64),
         "y": np.array([1], np.int8), "numbers": np.array([0])},
    ],
)  # fmt: skip
def test_a_record_that_does_not_fit_the_rows_is_read_again(arrays, path):
    source = JournaledSource(Counting(X, Y), path)
    source.file.put(key("take", np.array([5])), arrays)
    assert np.array_equal(source.take([5]).values, X[[5]])


def test_a_recalled_answer_of_another_form_is_worked_out_again(path):
    source = JournaledSource(Counting(X, Y), path)
    source.file.put(key("recall", "what?"), {"found": np.array([900])})
    assert source.recall("what?", lambda: np.array([1]), source.are_rows).tolist() == [1]
    assert source.recall("what?", lambda: np.array([2]), source.are_rows).tolist() == [1]


def test_a_fingerprint_sees_every_value_label_and_name():
    seen = {as_source(X, Y).fingerprint(), as_source(X + 0.0, Y).fingerprint()}
    assert len(seen) == 1
    changed = X.copy()
    changed[-1, -1] = np.nextafter(changed[-1, -1], 9)
    seen |= {as_source(changed, Y).fingerprint(), as_source(X, -Y).fingerprint(), as_source(X, Y > 0).fingerprint()}
    block = next(as_source(X, Y).blocks())
    seen |= {MemorySource(block.table, block.y, 3, columns=("a", "b", "c")).fingerprint()}
    seen |= {as_source(sp.csr_array(X), Y).fingerprint()}
    assert len(seen) == 6


def test_a_source_in_one_piece_cannot_go_on_in_its_middle():
    source = as_source(X, Y)
    assert [part.rows for part in source.scan_parts(np.ones(3), 0.0)] == [900]
    assert list(source.scan_parts(np.ones(3), 0.0, start=900)) == []
    with pytest.raises(CheckpointError, match="start over"):
        list(source.scan_parts(np.ones(3), 0.0, start=5))


def test_the_journal_is_saved_by_the_time_an_answer_is_handed_out(path):
    source = JournaledSource(Counting(X, Y), path)
    source.take([1, 2])
    assert CheckpointFile(path, source.file.identity).get(key("take", np.array([1, 2]))) is not None
