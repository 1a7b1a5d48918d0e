"""Every known answer, by both ways to it: the exact LP on all rows, and floats that guide it."""

import pytest

import linsep
from linsep import _decide


@pytest.fixture(params=["exact", "by floats"])
def way(request, monkeypatch):
    """Small instances go to the exact LP at once; by floats, they go the way of large ones."""
    if request.param == "by floats":
        monkeypatch.setattr(_decide, "FEW_ROWS", 0)
    return request.param


def test_weights_beyond_the_largest_double_do_not_hang_the_search(way):
    assert linsep.decide([[2.0**-1074], [0.0]], [1, 0]).kind == "separable"
