"""The campaign of mutants: what it changes, and which survivors it expects."""

from pathlib import Path

import pytest

from tests.campaigns import mutants

SOURCES = mutants.ROOT / "src"
ENTRIES = [line for line in mutants.ALIVE.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def changes(module):
    source = SOURCES / Path(*module.split(".")).with_suffix(".py")
    text = source.read_text("utf-8")
    return [(text.splitlines()[line - 1], words) for line, words, _, _ in mutants.mutants(text)]


def test_every_module_of_proofs_has_mutants_or_is_named_as_having_none():
    here = {f"linsep.proofs.{path.stem}" for path in (SOURCES / "linsep/proofs").glob("[a-z]*.py")}
    assert here == {name for name in mutants.TESTS if ".proofs." in name} | mutants.NOT_TRIED


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_survivor_that_is_explained_is_a_change_of_its_module(entry):
    module, _, _, reason = entry.split("  |  ")
    assert any(mutants.reason_for(module, *change) == reason for change in changes(module))


def test_a_survivor_without_a_reason_ends_the_campaign_with_1(monkeypatch, capsys):
    monkeypatch.setattr(mutants, "judge_of", lambda name, path: lambda code: False)
    monkeypatch.setattr(mutants, "reason_for", lambda *change: None)
    monkeypatch.chdir(mutants.ROOT)
    assert mutants.main("linsep.proofs.checks", 3) == 1
    assert "3 survived, 3 of them without a reason" in capsys.readouterr().out
    monkeypatch.setattr(mutants, "reason_for", lambda *change: "the answer is the same")
    assert mutants.main("linsep.proofs.checks", 3) == 0
