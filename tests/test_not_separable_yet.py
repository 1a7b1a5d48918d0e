"""What every face says when an obstruction is known and the time is over: not separable; whether weakly is open."""

import json
import re

import numpy as np
import pytest

import linsep
from linsep.cli import main
from linsep.explorer.engine import record
from linsep.explorer.requests import RunRequest
from linsep.proofs import Obstruction
from linsep.questions.decide import Case
from linsep.solvers.clock import OutOfTime
from linsep.solvers.wide.contradictions import contradictions

X = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 3.0], [-2.0, 0.5], [0.0, 1.0], [3.0, 9.0], [9.0, 1.0], [1.0, 7.0]])
Y = np.array([0, 1, 1, 0, 0, 1, 1, 0])


@pytest.fixture(autouse=True)
def the_time_is_over_once_two_rows_contradict_each_other(monkeypatch):
    settle = Case.settle

    def too_long(case):
        for pair in contradictions(case.source, 9, bias=case.bias):
            case.clock.met(Obstruction(pair, (1, 1)))
            raise OutOfTime
        return settle(case)

    monkeypatch.setattr(Case, "settle", too_long)


def decided(*_):
    verdict = linsep.decide(X, Y, time_limit=60)
    assert (verdict.kind, verdict.separable, verdict.obstruction.rows) == ("not-separable", False, (0, 1))
    verdict.verify(X, Y)
    return verdict.explain(X, Y)


def as_html(*_):
    return re.sub("<[^>]*>", " ", linsep.decide(X, Y, time_limit=60)._repr_html_())


def proved_in_writing(*_):
    verdict = linsep.verdict_from_json(linsep.decide(X, Y, time_limit=60).to_json())
    verdict.verify(X, Y)
    return verdict.report(X, Y).text()


def command_line(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.c_[X, Y], delimiter=",", header="a,b,y", comments="", fmt="%g")
    assert main(["decide", str(path), "--label", "y", "--time-limit", "60"]) == 1
    told = capsys.readouterr().out
    assert main(["decide", str(path), "--label", "y", "--time-limit", "60", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["separable"]) == ("not-separable", False)
    return told


def widest(*_):
    verdict = linsep.max_margin(X, Y, time_limit=60)
    assert (verdict.kind, verdict.separable) == ("not-separable", False)
    return verdict.explain()


def estimated(*_):
    report = linsep.mle_exists(X, Y, time_limit=60)
    assert report.verdict.kind == "not-separable" and report.exists is None
    assert {state for _, state in report.coefficients.items()} == {"unknown"}
    assert "Complete separation is ruled out (proved). It is not known whether the estimate exists" in report.explain()
    return report.verdict.explain()


def of_three_classes(*_):
    found = linsep.decide_classes(np.vstack([X, [[50.0, 50.0]]]), [*Y, 2], by="pairs", time_limit=60)
    assert [verdict.kind for verdict in found.verdicts] == ["not-separable", "separable", "separable"]
    assert not found.separable
    return found.explain()


def fitted(*_):
    with pytest.warns(linsep.errors.NotSeparableWarning, match="No hyperplane separates the classes"):
        model = linsep.MaxMarginClassifier(time_limit=60).fit(X, Y)
    assert model.separable_ is False and model.verdict_.kind == "not-separable"
    assert "A soft margin was fitted where there is no hyperplane." in model.explain()
    return model.report().text()


def explored(*_):
    answer = record(X, Y, RunRequest(), seconds=60.0)
    assert answer["verdict"]["kind"] == "not-separable" and answer["widest"] is answer["bound"] is None
    return answer["verdict"]["text"]


FACES = [decided, as_html, proved_in_writing, command_line, widest, estimated, of_three_classes, fitted, explored]


@pytest.mark.parametrize("face", FACES)
def test_every_face_says_that_it_is_proved_and_what_is_open(face, tmp_path, capsys):
    told = " ".join(face(tmp_path, capsys).split())
    assert "not separable; touching or overlapping not known" in told
