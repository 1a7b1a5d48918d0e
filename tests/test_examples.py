"""The gallery's scripts run as they stand."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_says_or_draws_something(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out or plt.get_fignums()
    plt.close("all")
