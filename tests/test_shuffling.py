"""The random order of a pass."""

from collections import Counter

import numpy as np
import pytest

from linsep.loops.shuffling import AT_ONCE, shuffled


@pytest.mark.parametrize("count", [0, 1, 2, 1000, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_every_number_comes_once(count):
    assert np.array_equal(np.sort(shuffled(np.random.default_rng(0), count)), np.arange(count))


def test_every_order_of_four_is_equally_likely():
    random = np.random.default_rng(0)
    drawn = Counter(tuple(shuffled(random, 4).tolist()) for _ in range(24_000))
    assert len(drawn) == 24
    assert sum((times - 1000) ** 2 / 1000 for times in drawn.values()) < 49.7  # one time in a thousand by chance


def test_a_late_number_reaches_the_front_and_an_early_one_the_end():
    orders = np.array([shuffled(np.random.default_rng(seed), AT_ONCE + 1000) for seed in range(200)])
    late = (orders[:, :1000] >= AT_ONCE).mean()
    early = (orders[:, -1000:] < AT_ONCE).mean()
    assert late == pytest.approx(1000 / (AT_ONCE + 1000), abs=0.002)
    assert early == pytest.approx(AT_ONCE / (AT_ONCE + 1000), abs=0.002)


def test_the_last_draw_below_1_is_in_range():
    class Highest:
        def random(self, count):
            return np.full(count, np.nextafter(1.0, 0.0))

    assert np.array_equal(shuffled(Highest(), 100_003), np.arange(100_003))
