"""Three judges on forged proofs; the long run is `python -m tests.campaigns.forge 100000`."""

import pytest

from tests.campaigns import forge_classes, forge_definite
from tests.campaigns.forge import forge
from tests.campaigns.forge_files import forge_containers, forge_files


@pytest.mark.campaign
def test_both_checkers_refuse_every_forgery_and_accept_every_truth(tmp_path):
    accepted, refused = forge(1500, seed=0, folder=tmp_path)
    assert accepted > 300 and refused > 600


@pytest.mark.campaign
def test_no_statement_about_a_file_is_accepted_that_is_not_so(tmp_path):
    counts = forge_files(250, seed=0, folder=tmp_path)
    assert 30 < counts.accepted.total() < 120
    assert len(counts.tried) == 9


@pytest.mark.campaign
def test_proofs_of_what_a_library_makes_of_a_table_are_refused():
    assert forge_containers(300) > 100


@pytest.mark.campaign
def test_no_forged_positive_definite_proof_is_accepted_that_is_not_true():
    court = forge_definite.forge(1000, seed=5)
    assert not court.false and not court.disagreed and court.accepted.total() > 100


def test_no_forged_proof_about_many_classes_is_accepted_that_is_not_true():
    assert forge_classes.main(4, 120, 11) == 0
