"""Three judges on forged proofs; the long run is `python -m tests.forge 100000`."""

import pytest

from tests.forge import forge


@pytest.mark.parametrize("seed", [0, 1])
def test_both_checkers_refuse_every_forgery_and_accept_every_truth(seed, tmp_path):
    accepted, refused = forge(1500, seed=seed, folder=tmp_path)
    assert accepted > 300 and refused > 600
