"""Small rounds of what `make oracle` and the wide part of `make torture` run at length."""

import numpy as np
import pytest

import linsep
import naive
import wide_instances
from tests.campaigns import oracle


@pytest.mark.campaign
def test_small_tables_on_the_road_of_wide_ones_are_what_fractions_say():
    found = oracle.campaign(128, seed=3)
    assert not found.wrong and not found.undecided and found.definite > 10


def test_a_road_leaves_every_threshold_as_it_was():
    before = [getattr(*place) for place in oracle.SMALL]
    with oracle.road("everything"):
        assert [getattr(*place) for place in oracle.SMALL] != before
    assert [getattr(*place) for place in oracle.SMALL] == before


@pytest.mark.parametrize("family", wide_instances.FAMILIES)
def test_a_wide_instance_has_the_answer_that_was_planted(family):
    rng = np.random.default_rng(11)
    for one in family(rng, 200):  # its scores were looked at as it was made
        assert one.X.shape[1] in range(200, 401) and len(one.answers) == 1
        assert set(np.unique(one.y)) == {-1, 1}


TINY, LEAST = 2.2250738585072014e-308, 5e-324
TURNED_ROUND = [  # rows of a span that floats took for others were added to it again and again
    ("few rows at a time", [[0, 0, 0], [-LEAST, LEAST, 0], [-TINY, TINY, 0], [TINY, -TINY, 0]], [1, -1, -1, -1]),
    ("Newton first", [[0, 0], [TINY, TINY], [1, 1], [LEAST, LEAST], [1, 1], [0, 0]], [1, -1, -1, 1, 1, -1]),
]


@pytest.mark.parametrize(("way", "X", "y"), TURNED_ROUND)
def test_a_search_that_does_not_get_further_ends(way, X, y):
    with oracle.road(way):
        verdict = linsep.decide(X, y, time_limit=20)
    assert verdict.kind == naive.decide(np.array(X, float), np.array(y), True) and verdict.seconds < 10
