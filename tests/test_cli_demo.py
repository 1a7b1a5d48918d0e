"""The first command: what it says is computed, what it writes is checked, and it is pleasant to look at."""

import contextlib
import io
import re

import numpy as np
import pytest
from numba.core import event

import linsep
from linsep.cli import linsep_demo as demo
from linsep.cli import main, terminal
from linsep.errors import CertificateError
from linsep.loops import compiler


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(demo, "ROWS", 3000)
    monkeypatch.setattr(demo, "WARM_ROWS", 300)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


class Terminal(io.StringIO):
    """A page that somebody is looking at."""

    def isatty(self):
        return True


def seen(*options):
    page = Terminal()
    with contextlib.redirect_stdout(page):
        assert main(["demo", *options]) == 0
    return page.getvalue()


def said(capsys, *options):
    assert main(["demo", *options]) == 0
    return capsys.readouterr().out


def test_a_terminal_sees_colours_and_nobody_a_line_beyond_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured, plain = seen(), said(capsys)
    assert "\x1b[32mseparable" in coloured and "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", seen())


def test_xor_is_impossible_because_it_was_decided_so(monkeypatch, capsys):
    assert "Why: the segment between rows 0 and 3 crosses that between rows 1 and 2" in " ".join(said(capsys).split())
    X, _ = linsep.datasets.xor()
    monkeypatch.setattr(linsep.datasets, "xor", lambda: (X, np.array([-1, -1, 1, 1])))
    out = said(capsys)
    assert "Why:" not in out and "VERIFIED separable" in out and "*" not in out


def test_the_bound_and_the_updates_are_those_of_the_points(monkeypatch, capsys):
    X, y = linsep.datasets.cornwell()
    monkeypatch.setattr(linsep.datasets, "cornwell", lambda: (X * 2, y))
    run, most = linsep.perceptron(X * 2, y), linsep.novikoff(X * 2, y).bound[1]
    out = said(capsys)
    assert re.search(rf"updates  #+ {run.updates}\n bound    #+ {int(most)}\n", out)
    assert run.updates != linsep.perceptron(X, y).updates


@pytest.mark.parametrize("seed", ["0", "1"])
def test_a_flipped_label_is_among_the_rows_that_prove_it(seed, capsys):
    out = " ".join(said(capsys, "--seed", seed).split())
    assert "3,000 rows of 10 columns" in out
    assert "row 1,500, whose label was flipped, is among them" in out


def test_the_proof_that_it_writes_holds_for_its_rows_and_for_no_others(monkeypatch, capsys):
    kept, check = [], demo._check
    monkeypatch.setattr(demo, "_check", lambda *given: (kept.append((given[2] / given[0]).read_text()), check(*given)))
    out = said(capsys)
    X, y = linsep.datasets.xor()
    proof = linsep.verdict_from_json(kept[0])
    proof.verify(X, y)
    with pytest.raises(CertificateError):
        proof.verify(X + (np.arange(4) == 3)[:, None], y)
    assert (out.count("VERIFIED"), out.count("REFUTED")) == (1, 1)


def test_nothing_is_left_behind(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said(capsys)
    assert not list(tmp_path.iterdir())


def test_compiling_is_announced_once_and_not_at_all_where_silence_is_asked_for(capsys, monkeypatch):
    event.start_event("numba:compile", data={})  # the library's own announcer may not have spoken yet
    for quiet, said in (("", "linsep: compiling this part, once on this machine; this takes a while.\n"), ("1", "")):
        monkeypatch.setenv("LINSEP_QUIET", quiet)
        announcer = compiler.Announcer()
        event.register("numba:compile", announcer)
        for _ in range(2):
            event.start_event("numba:compile", data={})
        assert capsys.readouterr().err == said


def test_the_next_commands_are_written_as_they_can_be_typed_here(monkeypatch, tmp_path):
    program = tmp_path / "bin" / "linsep"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    names = {"bin/linsep": "bin/linsep", str(program): "bin/linsep", "x/linsep/cli/__main__.py": "python -m linsep.cli"}
    names |= {"x/linsep/__main__.py": "python -m linsep"}
    for called, typed in names.items():
        monkeypatch.setattr("sys.argv", [called])
        assert terminal.program() == typed.split()
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr("sys.argv", [str(program)])
    assert terminal.program() == ["linsep"]
