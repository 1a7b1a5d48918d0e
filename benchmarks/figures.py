"""The figures of the docs: run what a page shows, and stamp it with the code, the machine and the versions.

    python benchmarks/figures.py docs/speed.md     run the page's commands, put what they print into it, and keep it as
                                                   benchmarks/results/speed.json: tables, commit, machine, versions
    python benchmarks/figures.py --check           which pages are older than the code they measure: exit code 1

A page's figures stand between `<!-- figures {...} -->` and `<!-- /figures -->`. The stamp names the commit that was
measured and a digest of the files that the figures depend on. A page is stale when one of these files has changed
since; comments and docstrings do not count.
"""

import argparse
import ast
import datetime
import hashlib
import json
import platform
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from timing import machine

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results"
FIGURES = re.compile(r"<!-- figures (\{.*?\}) -->\n(.*?)<!-- /figures -->", re.DOTALL)
KINDS = (".py", ".js", ".css", ".html")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LIBRARIES = ("numpy", "scipy", "numba", "pyarrow", "scikit-learn", "vowpalwabbit")


@dataclass(frozen=True)
class Page:
    """What makes a page's figures, and the files and folders they depend on."""

    commands: tuple[str, ...]
    measures: tuple[str, ...]
    is_text: bool = False  # printed as it stands, not as Markdown


DECIDING = tuple(
    f"src/linsep/{part}" for part in ("questions/decide.py", "questions/wide.py", "proofs", "loops", "solvers")
)
ROWS = (*DECIDING, "src/linsep/sources/inputs.py", "src/linsep/sources/memory.py")
PAGES = {
    "README.md": Page(
        ("python benchmarks/quick.py",),
        (
            *(*ROWS, "src/linsep/questions/margin.py", "src/linsep/tables", "src/linsep/learners"),
            *(f"benchmarks/{name}.py" for name in ("quick", "perceptron", "decide", "wide", "timing")),
        ),
    ),
    "docs/speed.md": Page(
        tuple(f"python benchmarks/{name}.py" for name in ("bandwidth", "perceptron", "decide", "small")),
        (
            *(*ROWS, "src/linsep/questions/margin.py", "src/linsep/tables", "src/linsep/learners"),
            *(f"benchmarks/{name}.py" for name in ("bandwidth", "perceptron", "decide", "small")),
        ),
    ),
    "docs/install.md": Page(
        ("python benchmarks/startup.py",),
        ("src/linsep/__init__.py", "src/linsep/__main__.py", "src/linsep/cli", *ROWS, "benchmarks/startup.py"),
    ),
    "docs/lanes.md": Page(
        ("python benchmarks/lanes.py",), ("src/linsep/loops", "benchmarks/bandwidth.py", "benchmarks/lanes.py")
    ),
    "docs/files.md": Page(
        ("python benchmarks/files.py --csv 1e6,1e7,1e8",),
        (*DECIDING, "src/linsep/sources", "src/linsep/cli", "benchmarks/files.py"),
    ),
    "docs/learners.md": Page(
        ("python benchmarks/learners.py",),
        ("src/linsep/estimators", "src/linsep/learners", "src/linsep/loops", "benchmarks/learners.py"),
    ),
    "docs/online.md": Page(
        ("python benchmarks/learn.py",),
        ("src/linsep/learners", "src/linsep/loops", "src/linsep/sources/hashing.py", "benchmarks/learn.py"),
    ),
    "docs/explorer.md": Page(
        ("python benchmarks/explorer.py",), (*ROWS, "src/linsep/explorer", "benchmarks/explorer.py"), is_text=True
    ),
    "docs/torture.md": Page(
        ("python -m tests.campaigns.torture 2",),
        (*ROWS, "tests/campaigns/torture.py", "tests/adversarial.py", "tests/strategies.py", "tests/wide_instances.py"),
        True,
    ),
    "docs/checkpoints.md": Page(
        ("python -m tests.campaigns.kills 200",),
        (
            *ROWS,
            "src/linsep/learners",
            "src/linsep/on_files/training.py",
            "tests/campaigns/kills.py",
        ),
        is_text=True,
    ),
    "docs/published.md": Page(
        ("python benchmarks/logistic.py",),
        (*DECIDING, "src/linsep/questions/logistic/mle.py", "benchmarks/logistic.py"),
    ),
    "docs/logistic.md": Page(
        ("python benchmarks/logistic.py --part models counts families firth",),
        (
            *DECIDING,
            "src/linsep/questions/logistic",
            *("benchmarks/logistic.py", "benchmarks/real_data.py", "benchmarks/textbooks.py"),
        ),
    ),
    "docs/mistakes.md": Page(
        ("python benchmarks/mistakes.py --all",),
        (*ROWS, "src/linsep/questions/mistakes.py", "benchmarks/mistakes.py"),
    ),
    "docs/regions.md": Page(
        ("python benchmarks/regions.py",),
        (
            "src/linsep/solvers/cuts",
            *("src/linsep/questions/regions.py", "src/linsep/proofs/region_proof.py", "benchmarks/regions.py"),
        ),
    ),
    "docs/classes.md": Page(
        ("python benchmarks/classes.py",),
        (
            *(*ROWS, "src/linsep/questions/classes.py", "src/linsep/sources/kesler.py", "src/linsep/sources/subset.py"),
            *("src/linsep/checker.py", "benchmarks/classes.py"),
        ),
    ),
    "docs/clean.md": Page(
        ("python benchmarks/clean.py",),
        (*ROWS, "src/linsep/questions/mistakes.py", "src/linsep/questions/clean.py", "benchmarks/clean.py"),
    ),
    "docs/wide.md": Page(
        (
            "python benchmarks/wide.py",
            "python benchmarks/tiny_margins.py",
            "python benchmarks/growth.py",  # its picture too
        ),
        (
            *(*ROWS, "src/linsep/questions/margin.py", "src/linsep/sources/used_columns.py"),
            *(f"benchmarks/{name}.py" for name in ("wide", "tiny_margins", "growth", "real_data")),
        ),
    ),
    "docs/mnist.md": Page(("python benchmarks/mnist.py",), (*ROWS, "benchmarks/mnist.py")),
    "docs/real-data.md": Page(
        ("python benchmarks/real.py",),
        (*ROWS, "src/linsep/checker.py", "benchmarks/real.py", "benchmarks/real_data.py"),
    ),
}


@dataclass(frozen=True)
class Stamp:
    """What a page's figures were measured on."""

    command: str
    commit: str
    date: str
    code: str  # digest of the measured files
    machine: str
    versions: dict[str, str]  # empty where they were not recorded

    def sentence(self) -> str:
        """The stamp as the reader sees it."""
        named = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        known = f"with {named}" if named else "(library versions not recorded)"
        return f"*Measured at commit `{self.commit}`, {self.date}, on {self.machine} {known}: `{self.command}`*"

    def around(self, body: str) -> str:
        """The stamped figures."""
        return (
            f"<!-- figures {json.dumps(asdict(self))} -->\n\n{self.sentence()}\n\n{body.strip()}\n\n<!-- /figures -->"
        )


def stamp_of(text: str) -> Stamp | None:
    """The stamp of a page's text, if it has a well-formed one; ValueError if it has a broken one."""
    found = FIGURES.findall(text)
    if len(found) != 1:
        if found or "<!-- figures" in text:
            raise ValueError("A page has one block of figures.")
        return None
    stamp = Stamp(**json.loads(found[0][0]))
    if stamp.sentence() not in found[0][1]:
        raise ValueError("The sentence below the stamp does not say what the stamp says.")
    return stamp


def git(*words: str, root: Path = ROOT) -> str:
    """What git prints."""
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


def blobs(measures: tuple[str, ...], root: Path = ROOT) -> dict[str, str]:
    """The measured files as they stand, each with git's name for its content."""
    places = [root / part for part in measures]
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*"))]
    named = {file.relative_to(root).as_posix(): file.read_bytes() for file in files if file.suffix in KINDS}
    return {path: hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() for path, data in named.items()}


def blobs_at(commit: str, measures: tuple[str, ...], root: Path = ROOT) -> dict[str, str]:
    """The same files as they were at a commit."""
    lines = git("ls-tree", "-r", commit, "--", *measures, root=root).splitlines()
    named = [(path, words.split()[2]) for words, path in (line.split("\t") for line in lines)]
    return {path: blob for path, blob in named if Path(path).suffix in KINDS}


def digest(files: dict[str, str]) -> str:
    """One number for all of them."""
    return hashlib.sha256("".join(f"{path} {blob}\n" for path, blob in sorted(files.items())).encode()).hexdigest()[:16]


def changed_files(measures: tuple[str, ...], stamp: Stamp, root: Path = ROOT) -> list[str]:
    """The files that make the figures stale."""
    now = blobs(measures, root)
    if digest(now) == stamp.code:
        return []
    try:
        then = blobs_at(stamp.commit, measures, root)
    except subprocess.CalledProcessError:
        return [f"(commit {stamp.commit} is not in this repository)"]
    differing = sorted(path for path in now | then if now.get(path) != then.get(path))
    return [path for path in differing if not (path in now and path in then and is_same(path, then[path], root))]


def is_same(path: str, blob: str, root: Path = ROOT) -> bool:
    """Whether a file does what an older content of it did."""
    return code((root / path).read_text(encoding="utf-8")) == code(git("cat-file", "-p", blob, root=root))


def code(text: str) -> str:
    """What a Python file does: without comments and docstrings. Other files as they are."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def versions() -> dict[str, str]:
    """Python and the libraries that are installed."""
    found = {"Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def measure(name: str) -> None:
    """Run a page's commands and replace its figures by what they print."""
    page, path = PAGES[name], ROOT / name
    if blobs(page.measures) != blobs_at("HEAD", page.measures):
        raise SystemExit(f"{name}: the code it measures has changes that are not committed. Commit them first.")
    printed = []
    for command in page.commands:
        words = [sys.executable if word == "python" else word for word in shlex.split(command)]
        printed.append(subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
    body = "\n\n".join(f"```\n{text}\n```" if page.is_text else text for text in printed)
    today = datetime.date.today().isoformat()
    commit = git("rev-parse", "--short=10", "HEAD").strip()
    stamp = Stamp(
        f"python benchmarks/figures.py {name}", commit, today, digest(blobs(page.measures)), machine(), versions()
    )
    path.write_text(replaced(path.read_text(encoding="utf-8"), stamp.around(body)), encoding="utf-8")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{path.stem}.json").write_text(results(stamp, printed), encoding="utf-8")


def results(stamp: Stamp, printed: list[str]) -> str:
    """What was measured as JSON: the stamp, and each table as a list of its lines."""
    found = [tables_of(text) for text in printed]
    whole = asdict(stamp) | {"tables": [table for each in found for table in each]}
    return json.dumps(whole | ({} if whole["tables"] else {"text": printed}), indent=1, ensure_ascii=False) + "\n"


def tables_of(text: str) -> list[list[dict[str, str]]]:
    """The Markdown tables in a text: a line is a dictionary from heads to cells."""
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    split = [[[cell.strip() for cell in line.strip().strip("|").split("|")] for line in b.splitlines()] for b in blocks]
    return [[dict(zip(heads, line, strict=True)) for line in lines] for heads, _, *lines in split]


def replaced(text: str, block: str) -> str:
    """The page with other figures."""
    return FIGURES.sub(lambda _: block, text)


def check() -> int:
    """Say which pages are stale, and by which files."""
    stale = 0
    for name, page in PAGES.items():
        stamp = stamp_of((ROOT / name).read_text(encoding="utf-8"))
        changed = changed_files(page.measures, stamp) if stamp else ["(no stamp)"]
        stale += bool(changed)
        print(f"{name}: {f'stale, measured at {stamp.commit if stamp else None}' if changed else 'current'}")
        for path in changed:
            print(f"    {path}")
    return int(stale > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help=f"some of {', '.join(PAGES)}")
    parser.add_argument("--check", action="store_true", help="measure nothing; say which pages are stale")
    asked = parser.parse_args()
    for name in asked.pages:
        measure(Path(name).resolve().relative_to(ROOT).as_posix())
    return check() if asked.check else 0


if __name__ == "__main__":
    sys.exit(main())
