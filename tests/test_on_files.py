"""Whole jobs on files from Python: what the commands print is what these functions return."""

import json

import pytest

import linsep
from linsep import on_files
from linsep.cli import main
from linsep.errors import CertificateError, OneClassError

ROWS = "a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)


def printed(capsys, *command):
    main([*command, "data.csv", "--label", "y", "--json"])
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def without_time(facts):
    return {name: value for name, value in facts.items() if name != "seconds"}


def test_the_json_of_decide_and_mle_are_the_facts_of_their_results(capsys):
    source = linsep.open("data.csv", label="y")
    seen = without_time(printed(capsys, "decide"))
    assert {**without_time(linsep.decide(source).facts()), "data": seen["data"]} == seen
    assert without_time(linsep.mle_exists(source).facts()) == without_time(printed(capsys, "mle"))


def test_a_trainer_returns_what_fit_and_trace_print(capsys):
    source = linsep.open("data.csv", label="y")
    assert {**on_files.Trainer(source).run().facts(), "separable": True} == printed(capsys, "fit")
    trainer = on_files.Trainer(source, keep="last")
    assert [step.update for step in trainer.steps()][-1] == trainer.result().updates
    assert {"summary": True, **trainer.result().facts()} == printed(capsys, "trace")


def test_a_trainer_stops_when_it_is_told_to_and_says_by_what():
    result = on_files.Trainer(*linsep.datasets.xor()).run(stopped_by=lambda: 15)
    assert (result.stopped_by, result.separated) == (15, False)
    assert "interrupted" in result.explain()


def test_one_pass_and_its_predictions_say_how_many_were_wrong(capsys):
    stream = on_files.OnePass(linsep.OnlinePerceptron(), ["data.csv"], label="y")
    assert [look.counts.rows for look in stream.looks()] == [1, 2, 4]
    assert {"summary": True, **stream.facts()} == printed(capsys, "learn")
    found = on_files.Predictions(stream.model, ["data.csv"])
    assert sum(len(part.codes) for part in found.labelled()) == found.facts()["compared"] == 4
    assert found.error().startswith("Error: ")


def test_a_stream_of_one_class_cannot_be_finished(tmp_path):
    (tmp_path / "one.csv").write_text("a,y\n1,no\n2,no\n")
    stream = on_files.OnePass(linsep.OnlinePerceptron(), ["one.csv"], label="y")
    list(stream.looks())
    with pytest.raises(OneClassError, match="only one class"):
        stream.finish()


def test_files_are_opened_as_their_proof_reads_them():
    linsep.decide(linsep.open("data.csv", label="y"))
    main(["decide", "data.csv", "--label", "y", "--proof", "proof.json"])
    proof = on_files.load_proof("proof.json")
    proof.verify(on_files.open_for_proof(proof, ["data.csv"]))


def test_a_report_about_data_checks_them_unless_they_are_taken_on_trust():
    (X, y), (other, _) = linsep.datasets.xor(), linsep.datasets.cornwell()
    verdict = linsep.decide(X, y)
    assert verdict.report(X, y) == verdict.report(X, y, verify=False)
    with pytest.raises(CertificateError):
        verdict.report(other[:, ::-1], y)
