"""What a person sees while a search runs: reads, rows per second, and bounds on the margin that only get closer."""

import re
import time

import numpy as np
import pytest

import linsep
from linsep.cli import main, progress
from linsep.sources.inputs import as_source
from linsep.sources.watched import WatchedSource

X, Y = linsep.datasets.planted(3000, 8, margin=0.01, seed=1)


@pytest.mark.parametrize(
    "search", [linsep.decide, linsep.max_margin, lambda *a, **k: linsep.mle_exists(*a, **k).verdict]
)
def test_a_watched_search_shows_reads_and_bounds_that_close_in_on_the_margin(search):
    seen = []
    verdict = search(X, Y, watch=lambda clock: seen.append((clock.reads, *clock.bounds)))
    assert verdict.separable and len(seen) > 3
    truth = linsep.max_margin(X, Y).margin
    reads, lows, highs = zip(*seen, strict=True)
    assert [*reads] == sorted(reads) and [*lows] == sorted(lows) and [*highs] == sorted(highs, reverse=True)
    assert max(lows) <= truth[1] * (1 + 1e-9) and truth[0] <= min(highs) * (1 + 1e-9) < np.inf


@pytest.mark.parametrize("bias", [True, False])
def test_the_bound_shown_is_one_for_every_hyperplane(bias):
    seen = []
    linsep.decide(X, Y, bias=bias, watch=lambda clock: seen.append(clock.bounds[1]))
    rows = X if bias else X * np.sign(Y)[:, None]
    w = linsep.max_margin(X, Y).halfspace.w if bias else linsep.decide(X, Y, bias=False).halfspace.w
    scores = rows @ w / np.linalg.norm(w)
    margin = (scores[Y > 0].min() - scores[Y < 0].max()) / 2 if bias else scores.min()
    assert margin <= min(seen) * (1 + 1e-9)


def test_rows_are_counted_part_by_part():
    source = WatchedSource(as_source(X, Y))
    source.scan(np.ones(8), 0.0)
    list(source.blocks())
    source.require_finite()
    assert source.rows_read == 9000


def test_progress_is_silent_where_nobody_looks_and_can_be_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=X, y=Y)
    main(["margin", "data.npz", "--json"])
    assert capsys.readouterr().err == ""
    main(["margin", "data.npz", "--json", "--progress"])
    shown = capsys.readouterr().err
    assert re.fullmatch(
        r"Widening: [0-9]+ reads, gamma 0\.[0-9]+ to 0\.[0-9]+, [0-9,]+ rows/s \(Ctrl-C ends\)\n", shown
    )
    main(["fit", "data.npz", "--json", "--progress"])
    assert re.fullmatch(r"(Learning|.* rows/s \(Ctrl-C keeps the best\))\n", capsys.readouterr().err)


def test_where_stderr_is_no_terminal_a_line_comes_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0.01)
    with progress.shown(lambda: "on it", wanted=True):
        time.sleep(0.2)
    assert capsys.readouterr().err.count("on it\n") >= 2
