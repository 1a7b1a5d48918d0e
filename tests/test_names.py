"""No module and no class has the name of another: a search finds one thing."""

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "linsep").rglob("*.py"))
EVERYWHERE = {"__init__", "__main__"}


def twice(names):
    return {name for name, times in Counter(names).items() if times > 1} - EVERYWHERE


def test_no_module_has_the_name_of_another():
    assert twice(path.stem for path in SOURCES) == set()


def test_no_class_has_the_name_of_another():
    nodes = (node for path in SOURCES for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    assert twice(node.name for node in nodes if isinstance(node, ast.ClassDef)) == set()


def test_the_drawing_of_the_house_is_the_one_that_is_held():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    held = [contract["layers"] for contract in contracts if contract.get("containers") == ["linsep"]]
    drawing = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("```")[1]
    drawn = [re.split(" {2,}", line[11:])[0] for line in drawing.strip().splitlines()]
    assert [drawn] == held
