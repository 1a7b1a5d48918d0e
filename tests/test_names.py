"""No module and no class has the name of another: a search finds one thing."""

import ast
from collections import Counter
from pathlib import Path

SOURCES = sorted((Path(__file__).parents[1] / "src" / "linsep").rglob("*.py"))
EVERYWHERE = {"__init__", "__main__"}


def twice(names):
    return {name for name, times in Counter(names).items() if times > 1} - EVERYWHERE


def test_no_module_has_the_name_of_another():
    assert twice(path.stem for path in SOURCES) == set()


def test_no_class_has_the_name_of_another():
    nodes = (node for path in SOURCES for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    assert twice(node.name for node in nodes if isinstance(node, ast.ClassDef)) == set()
