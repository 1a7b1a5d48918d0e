"""The documentation holds together: links, pages, code, printouts, and what it says of settings and limits."""

import json
import re
import sys
from pathlib import Path

import pytest

from linsep.cli import main
from linsep.explorer import requests, server
from linsep.plots import scene
from linsep.solvers import kept_weights
from linsep.sources import hashing
from linsep.sources.files import cells, labels, text_reader
from linsep.storage import documents

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "docs"))
import make_api  # noqa: E402
import make_errors  # noqa: E402

PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(ROOT.glob("docs/*.md"))
FENCE = re.compile(r"^(<!-- needs (?:files of yours|a GPU) -->\n)?```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def prose(page):
    """A page without its code: what stands in a fence is no link and no heading."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """The headings of a page, as a forge makes anchors of them."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(page):
    """Where the links and pictures of a page lead: a file, and a heading or ''."""
    for target in LINK.findall(prose(page)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


@each_page
def test_every_link_picture_and_anchor_resolves(page):
    for path, anchor in links(page):
        assert path.exists(), f"{page.name}: {path}"
        assert not anchor or anchor in anchors(path), f"{page.name}: {path.name}#{anchor}"


def test_every_page_and_picture_is_reached_from_the_index():
    seen, waiting = set(), [ROOT / "docs/index.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            waiting += [path for path, _ in links(page)] if page.suffix == ".md" else []
    assert set(PAGES) - {ROOT / "README.md"} <= seen
    assert set(ROOT.glob("docs/images/*")) <= seen | {path for path, _ in links(ROOT / "README.md")}


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_python_without_prompts_runs_or_says_that_it_needs_files(page):
    space = {}
    for excuse, language, code in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python" and not excuse and ">>>" not in code:
            exec(compile(code, page.name, "exec"), space)


def test_the_page_of_the_python_interface_is_current():
    assert make_api.PAGE.read_text(encoding="utf-8") == make_api.page(), "make api"


def test_the_page_of_errors_is_made_from_the_table_of_faults():
    assert make_errors.PAGE.read_text(encoding="utf-8") == make_errors.page(), "make api"


def test_the_page_of_the_python_interface_has_every_public_name():
    named = [name for names in make_api.GROUPS.values() for name in names]
    assert sorted(named) == sorted(make_api.linsep.__all__)


def test_every_environment_variable_is_documented():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/*.py"), ROOT / "Makefile", ROOT / "tests/browser.py"]
    used = {name for file in files for name in re.findall(r"\bLINSEP_[A-Z_]+\b", file.read_text(encoding="utf-8"))}
    known = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert {name for name in used if f"`{name}`" not in known} == set()


JSON_COMMANDS = (
    "decide data.csv --label y --proof proof.json", "decide touching.csv --label y", "decide example:xor",
    "verify proof.json data.csv", "margin data.csv --label y", "mle data.csv --label y", "trace data.csv --label y",
    "fit data.csv --label y -o model.json", "learn data.csv --label y", "predict model.json data.csv --scores",
    "convert data.csv all.parquet --label y",
)  # fmt: skip


def test_every_field_that_json_prints_is_documented(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n")
    Path("touching.csv").write_text("a,y\n0,no\n1,no\n1,yes\n2,yes\n")
    for command in JSON_COMMANDS:
        main([*command.split(), "--json"])
    printed = {name for line in capsys.readouterr().out.splitlines() for name in json.loads(line)}
    known = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    assert {name for name in printed if f"`{name}`" not in known and f'"{name}"' not in known} == set()


LIMITS = {
    "values of a label column of a file": f"{labels.MOST:,}",
    "categories of a text column": f"{cells.MOST_CATEGORIES:,}",
    "a line of text": f"{text_reader.LONGEST_RECORD >> 20} MiB",
    "a model file": f"{documents.MOST_BYTES >> 20} MiB",
    "a proof": f"{documents.MOST_BYTES >> 20} MiB",
    "a checkpoint": f"{documents.MOST_BYTES >> 20} MiB",
    "`bits` of hashed columns": str(hashing.MOST_BITS),
    "vectors that vote": f"{kept_weights.MOST_VOTERS:,}",
    "rows of a picture": f"{scene.DRAWN_ROWS:,}",
    "columns of a picture": f"{scene.MANY_COLUMNS:,}",
    "explorer": f"{requests.MOST_POINTS:,} points",
    "| explorer": f"{server.MOST_BYTES >> 10} KiB",
}


@pytest.mark.parametrize("what", LIMITS)
def test_the_limits_are_those_of_the_code(what):
    lines = (ROOT / "docs/reference.md").read_text(encoding="utf-8").splitlines()
    assert any(what in line and LIMITS[what] in line for line in lines)
