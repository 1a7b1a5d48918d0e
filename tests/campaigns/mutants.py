"""Mutants of the checkers, each of which something must kill.

    python -m tests.campaigns.mutants MODULE [SAMPLE] [SEED] [FROM TO]
    python -m tests.campaigns.mutants linsep.checker
    python -m tests.campaigns.mutants linsep.proofs.checks
    python -m tests.campaigns.mutants library 20        so many of each module in `TESTS`

A mutant is the module with one change: a comparison, an operator, a constant, a condition turned round, or a
statement left out. All of a module are tried in one process and its forks, so that hundreds take minutes.

Those of the stand-alone checker answer to `tests/test_checker_units.py`, and then to the cases of
`tests/test_theorems.py`, proofs and forgeries of every kind; they are killed by the first answer that is not the
extracted checker's. Those of the library get the same cases in memory, dense and sparse: what `verify` accepts, how it
refuses, what is written and explained must stay as it is. Who survives that has the tests of its module to pass, where
`TESTS` names some. One that takes too long counts as killed. What survives is printed, with its reason
from `mutants_alive.txt`; the exit status is 1 if one has no reason there.

Not tried: `sketch` (pictures) and `named_rows` (what the user calls the rows). No verdict rests on them.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import importlib
import importlib.abc
import importlib.util
import io
import itertools
import os
import random
import re
import resource
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba  # noqa: F401  loaded once, for all mutants
import numpy  # noqa: F401
import pytest
import scipy.sparse

import linsep
from linsep import checker
from linsep.errors import LinsepError
from tests import test_checker_units, test_theorems
from tests.campaigns import many_forgeries, three_checkers
from tests.extracted import Extracted

ROOT = Path(__file__).parents[2]
SECONDS = 60  # of the processor, for all tests of a mutant
QUICK = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--no-header", "--tb=no"]
QUICK += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is loaded by then
UNITS, REFUSALS = "tests/test_proof_units.py", "tests/test_proof_refusals.py"
CERTIFICATES, CLASSES, DEFINITE = "tests/test_certificates.py", "tests/test_classes.py", "tests/test_definite.py"
TESTS = {  # those that most mutants die of come first
    "linsep.exact": ["tests/test_exact.py", UNITS, REFUSALS],
    "linsep.proofs.checks": [UNITS, REFUSALS, CERTIFICATES],
    "linsep.proofs.checked_rows": [UNITS, REFUSALS, CERTIFICATES],
    "linsep.proofs.class_json": [REFUSALS, CLASSES],
    "linsep.proofs.class_rows": [REFUSALS, CLASSES],
    "linsep.proofs.class_verdicts": [REFUSALS, CLASSES],
    "linsep.proofs.class_words": [CLASSES],
    "linsep.proofs.definite": [UNITS, REFUSALS, DEFINITE],
    "linsep.proofs.device_bounds": ["tests/test_gpu.py"],
    "linsep.proofs.eigenvalues": ["tests/test_eigenvalue_units.py", DEFINITE],
    "linsep.proofs.explain": [REFUSALS, CERTIFICATES],
    "linsep.proofs.margin_checks": ["tests/test_margin_units.py", CERTIFICATES, "tests/test_row_margin.py"],
    "linsep.proofs.fewest_mistakes": [REFUSALS, "tests/test_mistakes.py", "tests/test_wide_mistakes.py"],
    "linsep.proofs.obstructions": [UNITS, CERTIFICATES, DEFINITE],
    "linsep.proofs.packings": [UNITS, REFUSALS, "tests/test_mistakes.py"],
    "linsep.proofs.proof_json": [REFUSALS, CERTIFICATES],
    "linsep.proofs.region_proof": [REFUSALS, "tests/test_regions.py"],
    "linsep.proofs.verdict_base": [REFUSALS, CERTIFICATES],
    "linsep.proofs.verdicts": [REFUSALS, CERTIFICATES],
}
NOT_TRIED = {"linsep.proofs.sketch", "linsep.proofs.named_rows"}
ALIVE = Path(__file__).with_name("mutants_alive.txt")
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


def mutants(source: str) -> Iterator[tuple[int, str, int, ast.AST]]:
    """Line, words, and which node of the tree becomes what."""
    tree = ast.parse(source)
    annotations = {id(n) for node in ast.walk(tree) for part in _untouched(node) for n in ast.walk(part)}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in annotations:
            for words, new in changes(node):
                yield node.lineno, words, place, new  # type: ignore[attr-defined]


def _untouched(node: ast.AST) -> list[ast.AST]:
    """Annotations, and the `strict` of `zip`: lists of other lengths are refused before, or made equally long."""
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    found += [node.value] if isinstance(node, ast.keyword) and node.arg == "strict" else []
    return [part for part in found if part is not None]


def code_of(source: str, place: int, new: ast.AST) -> Any:
    """The module with this node in place of another."""
    tree = ast.parse(source)
    old = next(node for k, node in enumerate(ast.walk(tree)) if k == place)
    return compile(ast.fix_missing_locations(Replace(old, new).visit(tree)), "mutant", "exec")


def pattern(text: str) -> re.Pattern[str]:
    """A text in which … stands for anything."""
    return re.compile(re.escape(text).replace("…", ".*"))


@functools.cache
def reasons() -> list[tuple[str, re.Pattern[str], re.Pattern[str], str]]:
    """Why survivors survive: the module, the line of source that is changed, the change, and the reason."""
    lines = [line for line in ALIVE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    parts = [line.split("  |  ") for line in lines]
    return [(module, pattern(changed), pattern(words), reason) for module, changed, words, reason in parts]


def reason_for(module: str, line: str, words: str) -> str | None:
    """Why this change of a line of a module may survive, if that is known."""
    known = (
        reason
        for name, changed, change, reason in reasons()
        if name == module and changed.fullmatch(line.strip()) and change.fullmatch(words)
    )
    return next(known, None)


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


def fails(tests: list[str]) -> bool:
    """Whether one of these tests fails, without the long ones."""
    return pytest.main([*QUICK, "-m", "not slow and not campaign", *tests]) != 0


def in_a_fork(is_killed: Callable[[], bool]) -> bool:
    """The answer of a child, or that it did not live to give one."""
    child = os.fork()
    if not child:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        status = 1
        with contextlib.suppress(BaseException):
            status = int(is_killed())
        os._exit(status)
    return bool(os.waitpid(child, 0)[1])


def functions(owner: Any, home: str) -> dict[str, Any]:
    """The functions of a module and of its classes, by name."""
    found = {}
    for name, value in vars(owner).items():
        plain = getattr(value, "fget", None) or getattr(value, "__func__", None) or getattr(value, "func", value)
        if isinstance(plain, types.FunctionType) and plain.__module__ == home:
            found[name] = plain
        elif isinstance(value, type) and value.__module__ == home:
            found |= {f"{name}.{each}": one for each, one in functions(value, home).items()}
    return found


def transplant(name: str, code: Any) -> bool:
    """The mutant's functions and constants in place of the module's, wherever they are used; was there a difference?"""
    old = sys.modules[name]
    new = types.ModuleType(name)
    new.__file__ = old.__file__
    exec(code, vars(new))
    changed, others = False, functions(new, name)
    for each, function in functions(old, name).items():
        one = others.get(each)
        if one is not None and same_code(one.__code__, function.__code__) is False:
            function.__code__, changed = one.__code__, True
        if one is not None and repr(one.__defaults__) != repr(function.__defaults__):
            function.__defaults__, changed = one.__defaults__, True
    for each, value in vars(new).items():
        was = vars(old).get(each)
        if (
            isinstance(value, int | float | str | tuple | frozenset | dict)
            and not each.startswith("__")
            and value != was
        ):
            changed = True
            for module in [m for m in sys.modules.values() if getattr(m, "__name__", "").startswith("linsep")]:
                if vars(module).get(each) is was:
                    setattr(module, each, value)
    return changed


def same_code(one: Any, other: Any) -> bool:
    """Whether two functions do the same, line numbers aside."""
    parts = [(code.co_code, code.co_names, code.co_varnames) for code in (one, other)]
    constants = [[c for c in code.co_consts if not isinstance(c, types.CodeType)] for code in (one, other)]
    inner = [[c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (one, other)]
    return (
        parts[0] == parts[1]
        and repr(constants[0]) == repr(constants[1])
        and len(inner[0]) == len(inner[1])
        and all(same_code(a, b) for a, b in zip(*inner, strict=True))
    )


Case = tuple[str, Any, Any]


def library_cases(count: int) -> list[Case]:
    """True proofs and forgeries of every version, with their tables."""
    rng, found = random.Random(0), list[Case]()
    for source in (many_forgeries.small, many_forgeries.definite, many_forgeries.mistakes, many_forgeries.classes):
        for base in itertools.islice(source(0), count):
            for k in range(5):
                document = many_forgeries.forged(base, rng) if k else base.document
                X = scipy.sparse.csr_array(base.X) if rng.random() < 0.3 else base.X
                found.append((three_checkers.forge.resealed(document), X, base.y))
    return found


def said_of(case: Case) -> str:
    """What the library says: how it refuses, or what it writes and explains."""
    text, X, y = case
    try:
        found: Any = linsep.verdict_from_json(text)
        found.verify(X, y)
        return "\n".join([repr(found), found.to_json(), found.explain(X, y)])
    except LinsepError as error:
        return f"{type(error).__name__}: {error}"


@functools.cache
def known_cases() -> list[tuple[Case, str]]:
    """The cases in any order, and what is said of them."""
    known = [(case, said_of(case)) for case in library_cases(30)]
    random.Random(0).shuffle(known)
    return known


def library_judge(name: str, path: Path) -> Callable[[Any], bool]:
    """The cases in memory first, then the units and the tests of the module, all in one child."""
    importlib.import_module(name)
    known = known_cases()

    def is_killed(code: Any) -> bool:
        def run() -> bool:
            if not transplant(name, code):  # a class, or what was decorated: all is imported anew, with the mutant
                for loaded in [each for each in sys.modules if each.split(".")[0] in ("linsep", "tests", "conftest")]:
                    del sys.modules[loaded]
                sys.meta_path.insert(0, Loader(name, path, code))
            elif any(said_of(case) != said for case, said in known):
                return True
            return fails(TESTS.get(name, []))

        return in_a_fork(run)

    return is_killed


def cases() -> list[tuple[bytes, str, list[str], int, str]]:
    """Proofs, rows and options with the answers that the checkers agree on; the words only where they must agree."""
    with tempfile.TemporaryDirectory() as folder:
        bench = three_checkers.compare(600, 0, Path(folder))
    found = bench.cases
    with tempfile.TemporaryDirectory() as folder, Extracted() as extracted:
        bench = three_checkers.Bench(Path(folder), extracted)
        for _, data, proof in test_theorems.EXAMPLES:
            for options in ([], *test_theorems.DISAGREE, ["--json"]):
                bench.hear("examples", proof.encode(), data, [*options])
        nothing = test_theorems.point_proof(columns="0", bias=False, separator={"weights": [], "bias_weight": "0"})
        bench.hear("no columns", nothing.encode(), "0\n1\n")
        for text in (b'["version"]', b"[]", b"1", b'{"kind": "classes"}', b'{"kind": 1, "version": "6"}'):
            bench.hear("not a proof", text, "0,0\n")
        for kind, changed in test_theorems.UNFIT:
            data = next(data for name, data, _ in test_theorems.EXAMPLES if name == kind)
            bench.hear("unfit", test_theorems.proof_of(kind, **changed).encode(), data)
        for kind, changed, rows, _ in test_theorems.CLAIMED:
            data = rows or next(data for name, data, _ in test_theorems.EXAMPLES if name == kind)
            bench.hear("claims", test_theorems.proof_of(kind, **changed).encode(), data)
        for line in test_theorems.LINES:
            with contextlib.suppress(UnicodeDecodeError):
                for options in (
                    [],
                    ["--label", "0"],
                    ["--header"],
                    ["--label", "y"],
                    ["--label", "-2"],
                    ["--label", "5"],
                ):
                    bench.hear("lines", test_theorems.point_proof().encode(), line.decode("utf-8"), options)
        for cell, numbers in itertools.product(test_theorems.CELLS, ("binary64", "exact-integers", "decimal")):
            for data in (f"0,0\n{cell},1\n", f"x,y\n0,0\n{cell},1\n", f"0,0\n3,{cell}\n"):
                bench.hear("cells", test_theorems.point_proof(numbers=numbers).encode(), data)
        for first, second in itertools.product(test_theorems.LABELS, repeat=2):
            proof = test_theorems.point_proof(labels=[first, second], rows="4")
            bench.hear("labels", proof.encode(), "0,0\n2,1\n0,00\n2,true\n")
    return found + bench.cases


class Namespace:
    """The mutant as if it were a module: what is set here, its functions see."""

    def __init__(self, names: dict[str, Any]) -> None:
        object.__setattr__(self, "__dict__", names)


def answers_differ(code: Any, known: list[Any], paths: tuple[Path, Path]) -> bool:
    """Does the mutant give another answer to one of the cases?"""
    module: dict[str, Any] = {"__name__": "mutant"}
    try:
        exec(code, module)
        signal.alarm(20)
        for unit in test_checker_units.UNITS:
            unit(Namespace(module))
        for proof, data, options, status, text in known:
            paths[0].write_bytes(proof)
            paths[1].write_text(data, encoding="utf-8", newline="")
            said = io.StringIO()
            signal.alarm(20)
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
                found = module["main"]([*map(str, paths), *options])
            if found != status or said.getvalue() != text:
                return True
    except BaseException as error:  # the mutant's, whatever it is
        if isinstance(error, KeyboardInterrupt):
            raise
        return True
    finally:
        signal.alarm(0)
    return False


def judge_of(name: str, path: Path) -> Callable[[Any], bool]:
    """What tells whether a mutant is killed."""
    if name != "linsep.checker":
        return library_judge(name, path)
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    known, folder = cases(), Path(tempfile.mkdtemp())
    paths = folder / "proof.json", folder / "data.csv"
    known = [(proof, data, options, status, text) for proof, data, options, status, text in _placed(known, paths)]
    random.Random(0).shuffle(known)
    return lambda code: answers_differ(code, known, paths)


def _placed(known: list[Any], paths: tuple[Path, Path]) -> Iterator[Any]:
    """The cases, their answers given anew for files in this place, whose name the answers hold."""
    for proof, data, options, status, _ in known:
        paths[0].write_bytes(proof)
        paths[1].write_text(data, encoding="utf-8", newline="")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            assert checker.main([*map(str, paths), *options]) == status
        yield proof, data, options, status, said.getvalue()


def main(name: str, sample: int = 0, seed: int = 0, first: int = 0, last: int = 1 << 30) -> int:
    """Every mutant of a module, or some of them, in these lines."""
    os.chdir(ROOT)
    if name == "library":
        return max([main(each, sample, seed) for each in TESTS])
    path = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
    source = path.read_text("utf-8")
    every = [each for each in mutants(source) if first <= each[0] <= last]
    chosen = random.Random(seed).sample(every, min(sample, len(every))) if sample else every
    is_killed, lines, survivors, unexplained = judge_of(name, path), source.splitlines(), 0, 0
    if is_killed(compile(source, path, "exec")):
        raise SystemExit(f"{name} as it is fails where its mutants are judged: nothing would survive")
    for line, words, place, new in sorted(chosen, key=lambda each: each[0]):
        if not is_killed(code_of(source, place, new)):
            reason = reason_for(name, lines[line - 1], words)
            survivors, unexplained = survivors + 1, unexplained + (reason is None)
            print(f"{path.name}:{line}: {words}  |  {reason or 'NO REASON KNOWN'}", flush=True)
    told = f"{len(every)} mutants, {len(chosen)} tried, {survivors} survived, {unexplained} of them without a reason"
    print(f"{name}: {told}", flush=True)
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
