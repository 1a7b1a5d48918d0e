"""The lessons: the étude agrees with the library, the notebooks run, the slides stand alone."""

import ast
import json
import sys
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

import linsep
from browser import launch

LESSONS = Path(__file__).parents[1] / "lessons"
EXAMPLES = {"cornwell": True, "tao": False, "wang": False, "xor": True}


def module(name):
    spec = spec_from_file_location(f"lesson_{name}", LESSONS / f"{name}.py")
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


etude = module("etude")


def rows_of(name):
    X, y = getattr(linsep.datasets, name)()
    return X, y, etude.signed(X.tolist(), y.tolist(), EXAMPLES[name])


def test_the_etude_is_short_and_needs_the_standard_library_alone():
    text = (LESSONS / "etude.py").read_text("utf-8")
    imported = [node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    assert len(text.splitlines()) < 200 and set(imported) <= set(sys.stdlib_module_names) | {"collections.abc"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_examples_are_those_of_the_library(name):
    X, y = getattr(etude, name.upper())
    own, labels = getattr(linsep.datasets, name)()
    assert np.array_equal(X, own) and np.array_equal(y, labels)


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_run_is_the_run_of_the_library(name):
    X, y, Z = rows_of(name)
    steps = linsep.perceptron_steps(X, y, bias=EXAMPLES[name], max_updates=40)
    known = [(step.row, [*step.w.tolist(), *([step.b] if EXAMPLES[name] else [])]) for step in steps]
    assert [(row, list(map(float, W))) for row, W in etude.perceptron(Z, 40)] == known


@pytest.mark.parametrize("name", ["cornwell", "tao", "wang"])
def test_its_bound_is_the_certified_one(name):
    X, y, Z = rows_of(name)
    low, high = linsep.novikoff(X, y, bias=EXAMPLES[name]).bound
    assert Fraction(low) <= etude.bound(Z) <= Fraction(high)


def test_its_obstruction_of_xor_is_that_of_the_library():
    X, y, Z = rows_of("xor")
    found = linsep.decide(X, y).obstruction
    shares = [Fraction(u, sum(found.weights)) for u in found.weights]
    assert etude.obstruction(Z) == dict(zip(found.rows, shares, strict=True))


@pytest.mark.parametrize("seed", range(25))
def test_it_agrees_with_the_library_on_small_sets(seed):
    random = np.random.default_rng(seed)
    X, y = random.integers(-2, 3, (5, 2)), np.array([1, -1, 1, -1, random.choice([-1, 1])])
    Z, verdict = etude.signed(X.tolist(), y.tolist()), linsep.decide(X, y)
    assert (etude.obstruction(Z) is None) == verdict.separable
    if verdict.separable:
        low, high = linsep.novikoff(X, y).bound
        assert Fraction(low) <= etude.bound(Z) <= Fraction(high)


@pytest.mark.parametrize("name", sorted(path.stem for path in LESSONS.glob("*.ipynb")))
def test_the_notebook_runs_and_is_the_one_that_is_made(name, monkeypatch):
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    text = (LESSONS / f"{name}.ipynb").read_text("utf-8")
    names = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name, "exec"), names)
    made = module("make_notebooks")
    assert text == made.notebook(made.NOTEBOOKS[name])


def test_there_are_twenty_exercises_each_with_its_answer():
    text = (LESSONS / "exercises.md").read_text("utf-8")
    assert [f"**{k}.**" in text for k in range(1, 22)] == [True] * 20 + [False]
    assert text.count("<summary>Answer</summary>") == text.count("</details>") == 20


def test_the_slides_stand_alone_and_are_those_that_are_made():
    text = (LESSONS / "slides.html").read_text("utf-8")
    assert text == module("make_slides").deck()
    assert "src=" not in text and "<link" not in text and len(text) < 100_000
    assert text.count("<section>") == 10


@pytest.mark.browser
def test_a_picture_on_a_slide_is_seen_from_the_last_row():
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1360, "height": 800})
        page.goto((LESSONS / "slides.html").as_uri())
        assert page.locator("section.on svg").bounding_box()["height"] > 400
        browser.close()
