"""Every kind of fault has a code of its own, and the page of the codes is complete."""

import inspect
import json
import re
from pathlib import Path

import pytest

from linsep import errors
from linsep.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.LinsepError)]


def test_codes_tell_the_errors_apart():
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"E(-[A-Z]+)+", code) for code in codes)


def test_the_page_lists_every_code_with_its_class():
    told = dict(re.findall(r"^\| `(E-[A-Z-]+)` \| `?(\w+)`? \|", PAGE.read_text(), flags=re.MULTILINE))
    assert told == {kind.code: kind.__name__ for kind in CLASSES} | {"E-USAGE": "none", "E-FAULT": "none"}


def test_the_tree_of_the_module_shows_every_class():
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in CLASSES)


def test_an_error_as_json_has_every_field(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\nred,1\n")
    assert main(["decide", str(path), "--label", "y", "--json"]) == 2
    out, err = capsys.readouterr()
    facts = json.loads(err)
    assert out == ""
    assert facts.pop("message").startswith(f"{path}: row 1 (line 3), column 'x' holds 'red'")
    fix = "Convert the text to numbers, leave the column out, or ask for one-hot columns."
    known = {"file": str(path), "row": 1, "column": "x", "value": "red", "byte": 8, "fix": fix}
    assert facts == {"code": "E-NOT-A-NUMBER", **known}


@pytest.mark.parametrize("arguments", [["decide", "--json"], ["decide", "none.csv", "--json"]])
def test_every_error_with_json_is_json_with_a_code(arguments, capsys):
    assert main(arguments) == 2
    assert json.loads(capsys.readouterr().err)["code"] in ("E-USAGE", "E-FILE-NONE")
