"""The journeys of CONTRIBUTING.md are those that calls take."""

import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import linsep
from linsep import cli

ROOT = Path(__file__).parent.parent
PACKAGE = Path(linsep.__file__).parent
X, y = linsep.datasets.planted(4000, 5, margin=0.1)


def parquet(folder):
    pq.write_table(pa.table({**{f"x{j}": X[:, j] for j in range(5)}, "y": y}), folder / "a.parquet")
    return linsep.decide(linsep.open(folder / "a.parquet", label="y"))


def command(folder):
    np.savetxt(folder / "a.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,y", comments="")
    assert cli.main(["decide", str(folder / "a.csv"), "--label", "y"]) == 0


JOURNEYS = {
    "linsep.decide(X, y)": lambda folder: linsep.decide(X, y),
    'linsep.decide(linsep.open("a.parquet", label="y"))': parquet,
    "linsep.PerceptronClassifier().fit(X, y)": lambda folder: linsep.PerceptronClassifier().fit(X, y),
    "linsep decide a.csv --label y": command,
}


def told():
    """The calls of each journey, as the page lists them."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    block = page.split("**Four journeys.**")[1].split("```")[1]
    parts = (part.splitlines() for part in block.strip().split("\n\n"))
    return {head: [tuple(line.split()[:2]) for line in lines] for head, *lines in parts}


def calls(work, folder):
    """The functions of linsep that are called, each where it comes first."""
    seen = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            place = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            seen.setdefault((place, code.co_qualname), len(seen))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work(folder)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


@pytest.mark.parametrize("head", JOURNEYS)
def test_a_journey_takes_the_calls_that_are_listed_in_that_order(head, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("LINSEP_THREADS", "1")  # threads of a pool were started by others, and are not seen
    monkeypatch.setattr("linsep.sources.files.source.SAMPLE_BYTES", 1 << 16)  # the file is then one of many rows
    JOURNEYS[head](tmp_path_factory.mktemp("before"))  # compiles: a traced compiler takes minutes
    seen = calls(JOURNEYS[head], tmp_path_factory.mktemp("traced"))
    places = [seen.get(call) for call in told()[head]]
    assert None not in places, [call for call in told()[head] if call not in seen]
    assert places == sorted(places)


def test_every_journey_is_told():
    assert list(told()) == list(JOURNEYS)
