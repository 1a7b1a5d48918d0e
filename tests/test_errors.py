"""Every kind of fault has a code of its own, and the page of the codes is complete."""

import copy
import inspect
import json
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import linsep
from linsep import errors
from linsep.cli import main
from linsep.faults import TEXT_FIX

PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.LinsepError)]


def test_codes_tell_the_errors_apart():
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"E(-[A-Z]+)+", code) for code in codes)


def test_the_page_lists_every_code_with_its_class():
    told = dict(re.findall(r"^\| `(E-[A-Z-]+)` \| `?(\w+Error|none)`? \|", PAGE.read_text(), flags=re.MULTILINE))
    assert told == {kind.code: kind.__name__ for kind in CLASSES} | {"E-USAGE": "none", "E-FAULT": "none"}


def test_the_tree_of_the_module_shows_every_class():
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in CLASSES)


def example(kind):
    """An error of this class, constructed as the library does it."""
    where = {"file": "a.csv", "row": 3, "column": "x", "value": "red", "byte": 8, "fix": "Leave it out."}
    if kind is errors.NotSeparableError:
        return kind(linsep.decide(*linsep.datasets.xor()))
    if kind is errors.MissingPackageError:
        return kind("matplotlib", "plots", "Pictures")
    return kind("It is red.", **where)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_every_error_survives_copying_and_pickling(kind, copied):
    error = example(kind)
    error.add_note("while reading")
    again = copied(error)
    assert type(again) is kind
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
    assert again.facts() == error.facts() and getattr(again, "msg", None) == getattr(error, "msg", None)


def test_an_error_comes_back_from_another_process():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(errors.NotFiniteError, match="Row 1") as refused:
            pool.submit(linsep.decide, [[0.0], [float("nan")]], [0, 1]).result(timeout=60)
        with pytest.raises(errors.NotSeparableError) as unbounded:
            pool.submit(linsep.novikoff, *linsep.datasets.xor()).result(timeout=60)
    assert refused.value.row == 1 and unbounded.value.verdict.kind == "overlapping"


def test_an_error_as_json_has_every_field(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\nred,1\n")
    assert main(["decide", str(path), "--label", "y", "--json"]) == 2
    out, err = capsys.readouterr()
    facts = json.loads(err)
    assert out == ""
    assert facts.pop("message").startswith(f"{path}: row 1 (line 3), column 'x' holds 'red'")
    known = {"file": str(path), "row": 1, "line": 3, "column": "x", "value": "red", "byte": 8, "fix": TEXT_FIX}
    assert facts == {"code": "E-NOT-A-NUMBER", **known}


@pytest.mark.parametrize("arguments", [["decide", "--json"], ["decide", "none.csv", "--json"]])
def test_every_error_with_json_is_json_with_a_code(arguments, capsys):
    assert main(arguments) == 2
    assert json.loads(capsys.readouterr().err)["code"] in ("E-USAGE", "E-FILE-NONE")
