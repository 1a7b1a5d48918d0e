"""Models and proofs that were cut or changed anywhere are refused."""

from contextlib import suppress

import numpy as np
import pytest

from linsep import checker
from linsep.errors import CertificateError, ModelError
from linsep.halfspace import Halfspace
from linsep.models import Model, Training, from_json, load
from linsep.proofs import Obstruction, Overlapping, Separable, Touching, Undecided
from linsep.proofs.proof_json import verdict_from_json
from linsep.storage.checksum import fault, seal

PAIR = Obstruction((0, 1), (1, 1))
PROOFS = {
    "separable": Separable(n_rows=2, n_columns=1, weights=(1,), bias_weight=0, margin=(1e-5, 2e300), nearest=PAIR),
    "touching": Touching(n_rows=3, n_columns=1, weights=(1,), bias_weight=0, obstruction=PAIR),
    "overlapping": Overlapping(n_rows=2, n_columns=1, obstruction=PAIR, spread=PAIR, labels=("nö", "yes")),
    "undecided": Undecided(n_rows=1, n_columns=1, reason="time", seconds=1e-7),
}
TRAINING = Training(rows=4, mistakes=0, updates=9, passes=6, converged=True, order="cyclic", seed=1, linsep="0.1.0")
MODEL = Model(Halfspace(np.array([4e-7, -0.5]), 1.0, ("ä", "b")), True, ("x", "ü"), "y", TRAINING)


def damaged(text):
    """The text cut at each byte, and with each bit of each byte flipped."""
    content = text.encode()
    for place in range(len(content)):
        yield content[:place]
        for bit in range(8):
            yield content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def accepted(contents, read, *refusals):
    """Those of the contents that are read without a refusal."""
    taken = []
    for content in contents:
        with suppress(*refusals):
            read(content)
            taken.append(content)
    return taken


@pytest.mark.parametrize("kind", PROOFS)
def test_a_proof_damaged_in_any_bit_or_cut_anywhere_is_refused(kind):
    assert accepted(damaged(PROOFS[kind].to_json()), verdict_from_json, CertificateError) == []


@pytest.mark.campaign
@pytest.mark.parametrize("kind", PROOFS)
def test_the_checker_refuses_the_same_proofs(kind, tmp_path):
    path = tmp_path / "proof.json"

    def read(content):
        path.write_bytes(content)
        checker.read_proof(path)

    refusals = checker.CheckError, ValueError  # what its main reports as bad input
    assert accepted([PROOFS[kind].to_json().encode()], read, *refusals)
    assert accepted(damaged(PROOFS[kind].to_json()), read, *refusals) == []


@pytest.mark.campaign
def test_a_model_damaged_in_any_bit_or_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "model.json"

    def read(content):
        path.write_bytes(content)
        load(path)

    assert from_json(MODEL.to_json()) == MODEL
    assert accepted(damaged(MODEL.to_json()), read, ModelError) == []


def test_the_checker_says_that_a_proof_was_edited(tmp_path, capsys):
    (tmp_path / "proof.json").write_text(PROOFS["touching"].to_json().replace('"rows": "3"', '"rows": "4"'))
    assert checker.main([str(tmp_path / "proof.json"), "none.csv"]) == 2
    assert "does not end in its checksum" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (seal("{}"), None),
        (seal('{"a": 1}').replace("\n", "\r\n"), "cut, reformatted"),
        (seal('{"a": 1}') + "\n", "cut, reformatted"),
        (seal('{"a": 1}').replace("1", "2", 1), "does not match"),
        ("\ud800", "surrogate"),
        ("", "cut"),
    ],
)
def test_a_fault_is_named(text, says):
    assert fault(text) is says or says in fault(text)
