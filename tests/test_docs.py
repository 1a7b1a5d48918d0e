"""The documentation holds together: links, pages, code, printouts, and what it says of settings and limits."""

import ast
import dataclasses
import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from linsep import checker, models
from linsep.cli import app, main
from linsep.explorer import export, requests, server
from linsep.learners import checkpoints, kept_weights
from linsep.plots import scene
from linsep.proofs.verdict_base import Verdict
from linsep.sources import hashing
from linsep.sources.files import cells, converted_rows, labels, text_reader
from linsep.storage import documents

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "docs"))
import make_api  # noqa: E402
import make_commands  # noqa: E402
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


def test_the_words_are_there_after_which_the_site_links_to_the_live_explorer():
    conf = ast.parse((ROOT / "docs/conf.py").read_text(encoding="utf-8")).body
    (live,) = [
        ast.literal_eval(node.value) for node in conf if isinstance(node, ast.Assign) and "LIVE" in ast.unparse(node)
    ]
    for page, (words, link) in live.items():
        assert (ROOT / f"{page}.md").read_text(encoding="utf-8").count(words) == 1, page
        assert 'href="../explorer.html"' in link  # which the build writes


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


def test_the_page_of_commands_is_made_from_their_help():
    assert make_commands.PAGE.read_text(encoding="utf-8") == make_commands.page(), "make api"


@pytest.mark.parametrize("command", [name for name in app if not name.startswith("-")])
def test_every_option_of_a_command_is_read_from_its_help(command):
    taken = {n for one in app[command].assemble_argument_collection() for n in one.names if one.show}
    read = {word for typed in make_commands.options(make_commands.help_of(command)) for word in typed.split()}
    assert {name for name in taken if name.startswith("--")} <= read


def test_the_page_of_the_python_interface_has_every_public_name():
    named = [name for names in make_api.GROUPS.values() for name in names]
    assert sorted(named) == sorted(make_api.linsep.__all__)


WITHOUT_EXAMPLE = {"on_device", "register_skl2onnx", "explore"}  # need a GPU, another library, a notebook
IN_ALL_VERDICTS = {field.name for field in dataclasses.fields(Verdict)}


def public():
    """Every public function and class, those of public modules too; errors have a page of their own."""
    for name in make_api.linsep.__all__:
        value = getattr(make_api.linsep, name)
        if isinstance(value, ModuleType) and name != "errors":
            yield from ((f"{name}.{inner}", found) for inner, found in make_api.functions(value))
        elif not isinstance(value, ModuleType) and (make_api.is_class(value) or inspect.isfunction(value)):
            yield name, value


PUBLIC = dict(public())


def sections(value):
    """The sections of a docstring in numpydoc form: a title, dashes, and what stands below."""
    found = re.split(r"^(\w+)\n-{3,}\n", inspect.getdoc(value), flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def listed(section):
    """The names at the left of a section."""
    heads = re.findall(r"^(\S.*?)(?: : .*)?$", section, re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_names_every_parameter_or_attribute(name):
    value, found = PUBLIC[name], sections(PUBLIC[name])
    own = {n for n in inspect.signature(value).parameters if n not in IN_ALL_VERDICTS or not is_verdict(value)}
    named = listed(found.get("Parameters", "")) | listed(found.get("Attributes", ""))
    assert own <= named


def is_verdict(value):
    return isinstance(value, type) and issubclass(value, Verdict)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_says_what_is_returned_and_raised_and_shows_it(name):
    value, found = PUBLIC[name], sections(PUBLIC[name])
    if inspect.isfunction(value):
        is_plain = inspect.signature(value).return_annotation in (None, "None")
        assert is_plain or "Returns" in found or "Yields" in found
        assert "Raises" in found or not {"X", "path", "files", "text"} & set(inspect.signature(value).parameters)
    assert ">>>" in found.get("Examples", "") or name in WITHOUT_EXAMPLE


METHODS = (
    "Separable.verify", "Separable.explain", "Separable.frame",
    "MleReport.firth", "MleReport.table", "MleReport.verify",
    "PerceptronClassifier.fit", "PerceptronClassifier.partial_fit", "OnlinePerceptron.predict_then_learn",
    "Halfspace.predict",
)  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_the_docstring_of_a_method_with_options_names_them(name):
    owner, method = name.split(".")
    value = getattr(getattr(make_api.linsep, owner), method)
    assert set(inspect.signature(value).parameters) - {"self"} <= listed(sections(value)["Parameters"])


def test_every_environment_variable_is_documented():
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("benchmarks/*.py"), ROOT / "Makefile", ROOT / "tests/browser.py"]
    used = {name for file in files for name in re.findall(r"\bLINSEP_[A-Z_]+\b", file.read_text(encoding="utf-8"))}
    known = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
    assert {name for name in used if f"`{name}`" not in known} == set()


JSON_COMMANDS = (
    "decide data.csv --label y --proof proof.json", "decide touching.csv --label y", "decide example:xor",
    "verify proof.json data.csv", "margin data.csv --label y", "mle data.csv --label y", "trace data.csv --label y",
    "fit data.csv --label y -o model.json", "learn data.csv --label y", "predict model.json data.csv --scores",
    "convert data.csv all.parquet --label y", "cache", "mistakes mixed.csv --label y", "clean mixed.csv --label y",
    "report data.csv --label y --time-limit 1", "plot data.csv --label y -o plot.svg",
    "animate data.csv --label y -o film.svg", "explore data.csv --label y --export page.html",
)  # fmt: skip
JSON_PAGES = ("command-line", "certificate-format", "mistakes", "clean", "report")


def test_every_field_that_json_prints_is_documented(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("a,b,y\n0,0,no\n0,1,no\n2,0,yes\n2,1,yes\n")
    Path("touching.csv").write_text("a,y\n0,no\n1,no\n1,yes\n2,yes\n")
    Path("mixed.csv").write_text("a,b,y\n0,0,no\n0,1,yes\n2,0,yes\n2,1,no\n")
    for command in JSON_COMMANDS:
        assert main([*command.split(), "--json"]) in (0, 1), command
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    printed = {name for line in told for name in (*line, *(line.get("suspects") or [{}])[0])}
    known = "".join((ROOT / f"docs/{page}.md").read_text(encoding="utf-8") for page in JSON_PAGES)
    assert {name for name in printed if f"`{name}`" not in known and f'"{name}"' not in known} == set()


VERSIONS = {
    "proof": " to ".join(f'`"{checker.FRAME["version"][end]}"`' for end in (0, -1)),
    "model": models.MODEL.version,
    "checkpoint": checkpoints.CHECKPOINT.version,
    "cache": converted_rows.VERSION,
}


@pytest.mark.parametrize("what", VERSIONS)
def test_the_versions_of_the_formats_are_those_of_the_code(what):
    page = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| {what} \| [^|]* \| {VERSIONS[what]} \|", page, re.MULTILINE)


LIMITS = {
    "values of a label column of a file": f"{labels.MOST_LABELS:,}",
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
    "`explore --export`": f"{export.MOST_ROWS} rows, {export.MOST_COLUMNS} columns, {export.LONGEST} updates",
}


@pytest.mark.parametrize("what", LIMITS)
def test_the_limits_are_those_of_the_code(what):
    lines = (ROOT / "docs/limits.md").read_text(encoding="utf-8").splitlines()
    assert any(what in line and LIMITS[what] in line for line in lines)
