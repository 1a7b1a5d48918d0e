"""Faults that independent testers found, each by its smallest instance."""

import json
import os
import subprocess
import sys
import threading

import pytest

import linsep
from linsep import checker
from linsep.cli import main
from linsep.errors import CertificateError, HeaderError
from linsep.storage.sealed import seal


@pytest.fixture
def proof(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("a,b,y\n0,0,0\n1,1,1\n2,3,1\n")
    (tmp_path / "p.json").write_text(linsep.decide(linsep.open("d.csv", label="y")).to_json())
    return tmp_path


def test_the_checker_refuses_a_pipe_which_it_cannot_read_twice(proof, capsys):
    os.mkfifo("pipe.csv")
    assert checker.main(["p.json", "pipe.csv"]) == 2
    assert "a pipe will not do" in capsys.readouterr().out


def test_the_checker_refuses_a_file_without_rows(proof, capsys):
    (proof / "none.csv").write_text("a,b,y\n")
    empty = json.loads((proof / "p.json").read_text())
    empty["data"]["rows"] = "0"
    del empty["sha256"]
    (proof / "p0.json").write_text(seal(json.dumps(empty)))
    assert checker.main(["p0.json", "none.csv", "--label", "y"]) == 2
    assert "no rows" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["/dev/full", None])
def test_an_answer_of_the_checker_that_cannot_be_written_is_not_an_answer(proof, out):
    command = [sys.executable, "-m", "linsep.checker", "p.json", "d.csv"]
    closing = " >&-" if out is None else f" > {out}"
    seen = subprocess.run(" ".join(command) + closing, shell=True, capture_output=True, text=True, check=False)
    assert seen.returncode == 2 and "Traceback" not in seen.stderr


def test_a_label_that_is_nearly_0_is_not_0(tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,1e-400\n2,1\n")
    assert linsep.decide(linsep.open(tmp_path / "d.csv", label="y")).labels == ("1", "1e-400")
    (tmp_path / "zero.csv").write_text("a,y\n1,0\n2,1\n")
    verdict = linsep.decide(linsep.open(tmp_path / "zero.csv", label="y"))
    with pytest.raises(CertificateError):
        verdict.verify(linsep.open(tmp_path / "d.csv", label="y"))


def test_a_pipe_in_the_place_of_a_cache_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setenv("LINSEP_CACHE", str(tmp_path / "caches"))
    (tmp_path / "d.csv").write_text("a,y\n" + "".join(f"{k},{int(k > 300)}\n" for k in range(200_000)))
    first = linsep.decide(linsep.open(tmp_path / "d.csv", label="y", memory="1MiB"))
    caches = list((tmp_path / "caches").iterdir())
    for cache in caches:
        cache.unlink()
        os.mkfifo(cache)
    found = []
    worker = threading.Thread(
        target=lambda: found.append(linsep.decide(linsep.open(tmp_path / "d.csv", label="y", memory="1MiB"))),
        daemon=True,
    )
    worker.start()
    worker.join(60)
    assert found and found[0].weights == first.weights


def test_a_category_that_would_take_the_name_of_a_column_is_refused(tmp_path):
    (tmp_path / "d.csv").write_text("s,s=A,y\nA,0,0\nB,1,1\n")
    with pytest.raises(HeaderError, match="two columns would be called 's=A'"):
        linsep.open(tmp_path / "d.csv", label="y", one_hot=True)


def test_the_json_of_the_checker_is_one_object(proof, capsys):
    assert checker.main(["p.json", "d.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "verified"
    assert main(["verify", "p.json", "d.csv"]) == 0
