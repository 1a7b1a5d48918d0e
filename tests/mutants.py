"""Mutants of the checkers, each of which some test must kill: python tests/mutants.py MODULE [SAMPLE] [SEED]

    PYTHONPATH=. python tests/mutants.py linsep.checker 200

A mutant is the module with one change: a comparison, an operator, a constant, a condition turned round, or a
statement left out. Each runs in a process of its own with the tests of its module, the quick ones first, until one
fails; one that takes too long counts as killed. What survives is printed with its line. Without SAMPLE it is all.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import os
import random
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba  # noqa: F401  loaded once, for all mutants
import numpy  # noqa: F401
import pytest
import scipy.sparse  # noqa: F401

ROOT = Path(__file__).parents[1]
SECONDS = 120  # of the processor, for all tests of a mutant
QUICK = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--no-header", "--tb=no"]
TESTS = {
    "linsep.checker": [["tests/test_checker.py"], ["tests/test_mistakes.py"], ["tests/test_theorems.py"]],
    "linsep.proofs": [
        ["tests/test_certificates.py"],
        ["tests/test_mistakes.py"],
        ["tests/test_forgeries.py"],
    ],
}
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Add,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What a node may be replaced by, and in words."""
    new: Any = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[first, *_]) if type(first) in COMPARED:
            new.ops[0] = COMPARED[type(first)]()
        case ast.BinOp(op=op) if type(op) in COMPUTED and not isinstance(new.left, ast.JoinedStr):
            new.op = COMPUTED[type(op)]()
        case ast.BoolOp(op=op):
            new.op = ast.And() if isinstance(op, ast.Or) else ast.Or()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            new = operand
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value)):
            new.value = value + 1
        case ast.IfExp(body=body, orelse=other):
            new.body, new.orelse = other, body
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            new = ast.Pass()
        case ast.Call(func=ast.Name(id="min" | "max" | "any" | "all" as name)):
            new.func.id = {"min": "max", "max": "min", "any": "all", "all": "any"}[name]
        case _:
            return
    yield f"{ast.unparse(node)[:70]}  ->  {ast.unparse(new)[:70]}".replace("\n", " "), ast.copy_location(new, node)


class Replace(ast.NodeTransformer):
    """Put another node in the place of one."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        """The new node where the old one was."""
        return self.new if node is self.old else self.generic_visit(node)


def mutants(source: str) -> Iterator[tuple[int, str, Any]]:
    """Line, words and code of every mutant."""
    tree = ast.parse(source)
    annotations = {id(n) for node in ast.walk(tree) for part in _annotations(node) for n in ast.walk(part)}
    spots = [node for node in ast.walk(tree) if id(node) not in annotations]
    for node in spots:
        for words, new in changes(node):
            changed = ast.fix_missing_locations(_replaced(source, node, new))
            with contextlib.suppress(SyntaxError, ValueError):
                yield node.lineno, words, compile(changed, "mutant", "exec")  # type: ignore[attr-defined]


def _annotations(node: ast.AST) -> list[ast.AST]:
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    return [part for part in found if part is not None]


def _replaced(source: str, node: ast.AST, new: ast.AST) -> Any:
    """A fresh tree, in which the node at the same place is another."""
    tree = ast.parse(source)
    place = [
        n
        for n in ast.walk(tree)
        if type(n) is type(node) and ast.dump(n, include_attributes=True) == ast.dump(node, include_attributes=True)
    ]
    return Replace(place[0], new).visit(tree)


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the mutant in place of the module."""

    def __init__(self, name: str, path: Path, code: Any) -> None:
        self.name, self.path, self.code = name, path, code

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Ours, or nothing."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        """As usual."""

    def exec_module(self, module: Any) -> None:
        """Run the mutant."""
        exec(self.code, module.__dict__)


def fate(name: str, path: Path, code: Any, rounds: list[list[str]]) -> str:
    """Which tests kill the mutant: their file, or "survived"."""
    for tests in rounds:
        child = os.fork()
        if not child:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            sys.meta_path.insert(0, Loader(name, path, code))
            status = 1
            with contextlib.suppress(BaseException):
                status = int(pytest.main([*QUICK, *tests]) != 0)
            os._exit(status)
        if os.waitpid(child, 0)[1]:
            return " ".join(tests)
    return "survived"


def main(name: str, sample: int = 0, seed: int = 0) -> int:
    """Every mutant of a module, or some of them."""
    os.chdir(ROOT)
    path = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
    rounds = next(tests for prefix, tests in TESTS.items() if name.startswith(prefix))
    every = list(mutants(path.read_text("utf-8")))
    chosen = random.Random(seed).sample(every, sample) if sample else every
    fates: Counter[str] = Counter()
    for line, words, code in sorted(chosen, key=lambda each: each[0]):
        found = fate(name, path, code, rounds)
        fates[found] += 1
        if found == "survived":
            print(f"{path.name}:{line}: {words}", flush=True)
    print(
        f"{name}: {len(every)} mutants, {len(chosen)} tried: "
        + ", ".join(f"{count} {how}" for how, count in fates.items())
    )
    return int(bool(fates["survived"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
