"""Every container, number type, kind of label and file format; the long run is part of `make torture`."""

from itertools import islice

import pytest

from tests.campaigns import doors

TABLES = list(doors.tables(3))


@pytest.mark.campaign
@pytest.mark.parametrize("k", range(len(TABLES)))
def test_every_door_gives_the_verdict_that_fractions_give(k, tmp_path):
    count = doors.Count()
    doors.through(count, TABLES[k], tmp_path)
    assert not count.faults
    assert sum(count.kinds[kind] for kind in ("separable", "touching", "overlapping", "refused")) > 5


def test_labels_of_every_kind_are_read_or_refused_by_row():
    count = doors.Count()
    doors.labels(count)
    assert not count.faults
    assert count.kinds["labels"] > 90 and count.kinds["labels missing"] > 300


def test_the_campaign_notices_a_wrong_verdict(tmp_path):
    count, (xor, *_) = doors.Count(), islice(doors.named(), 1)
    count.verdict("lied to", xor, [[0, 0], [1, 1], [2, 2], [3, 3]], [-1, -1, 1, 1], tmp_path)
    assert count.faults
