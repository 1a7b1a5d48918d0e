"""The figures of the docs are stamped, and the check finds the pages that are older than their code."""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, replace

import pytest

import figures
import mistakes
import quick
from figures import PAGES, ROOT, Stamp

MEASURES = ("src",)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_figures_has_a_well_formed_stamp(name):
    stamp = figures.stamp_of((ROOT / name).read_text(encoding="utf-8"))
    assert stamp and stamp.command and stamp.commit and stamp.date and len(stamp.code) == 16


def test_every_block_of_figures_belongs_to_a_page_that_can_be_measured():
    pages = [*ROOT.glob("docs/*.md"), ROOT / "README.md"]
    stamped = [page for page in pages if "<!-- figures {" in page.read_text(encoding="utf-8")]
    assert {page.relative_to(ROOT).as_posix() for page in stamped} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_measures_and_what_makes_it_exist(name):
    scripts = [word for command in PAGES[name].commands for word in command.split() if word.endswith(".py")]
    modules = [command.split()[2] for command in PAGES[name].commands if command.startswith("python -m ")]
    assert len(scripts) + len(modules) == len(PAGES[name].commands)
    files = [*PAGES[name].measures, *scripts, *(f"{module.replace('.', '/')}.py" for module in modules)]
    assert [file for file in files if not (ROOT / file).exists()] == []


@pytest.fixture
def repository(tmp_path):
    """A small repository with one measured file."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/loop.py").write_text('"""Sums."""\nstep = 1\n')
    for words in (["init", "-q"], ["add", "-A"], [*WHO, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


WHO = ["-c", "user.name=a", "-c", "user.email=a@b"]


def stamped(root):
    commit = figures.git("rev-parse", "HEAD", root=root).strip()
    return Stamp("make bench", commit, "2026-01-01", figures.digest(figures.blobs(MEASURES, root)), "a machine", {})


def test_figures_of_the_present_code_are_current(repository):
    assert figures.changed_files(MEASURES, stamped(repository), repository) == []


def test_a_change_of_the_code_makes_figures_stale_and_is_named(repository):
    stamp = stamped(repository)
    (repository / "src/loop.py").write_text('"""Sums."""\nstep = 2\n')
    (repository / "src/new.py").write_text("step = 1\n")
    assert figures.changed_files(MEASURES, stamp, repository) == ["src/loop.py", "src/new.py"]


def test_a_change_of_comments_and_docstrings_leaves_figures_current(repository):
    stamp = stamped(repository)
    (repository / "src/loop.py").write_text('"""Adds up."""\n\nstep = 1  # one at a time\n')
    assert figures.changed_files(MEASURES, stamp, repository) == []


def test_a_commit_that_is_not_there_makes_figures_stale(repository):
    stamp = replace(stamped(repository), commit="0123456789", code="")
    assert "not in this repository" in figures.changed_files(MEASURES, stamp, repository)[0]


def test_a_stamp_is_read_back_as_it_was_written(repository):
    stamp = stamped(repository)
    page = f"# Speed\n\n{stamp.around('| a |')}\n\nMore.\n"
    assert figures.stamp_of(page) == stamp
    assert figures.replaced(page, stamp.around("| b |")) == page.replace("| a |", "| b |")


def test_results_are_kept_as_json_with_their_stamp(repository):
    stamp = stamped(repository)
    kept = json.loads(figures.results(stamp, ["Times:\n\n| n | s |\n| --- | --- |\n| 9 | 0.1 |\n\n", "| a |\n| - |\n"]))
    assert kept["tables"] == [[{"n": "9", "s": "0.1"}], []] and Stamp(**{k: kept[k] for k in asdict(stamp)}) == stamp
    assert json.loads(figures.results(stamp, ["all the same"]))["text"] == ["all the same"]


def test_the_figures_of_the_readme_are_those_of_the_kept_results():
    kept = json.loads((figures.RESULTS / "README.json").read_text(encoding="utf-8"))
    shown = figures.FIGURES.search((ROOT / "README.md").read_text(encoding="utf-8"))[2]
    assert figures.tables_of(shown) == kept["tables"]


def test_a_ratio_whose_spread_does_not_meet_the_recorded_one_is_named():
    lines = [["scan", "a read", "0.9", "0.8", "1"], ["pass", "peer", "4", "3.9", "4.2"], ["new", "peer", "1", "1", "1"]]
    recorded = [dict(zip(quick.HEADS, line, strict=True)) for line in (lines[0], ["pass", "peer", "5", "4.3", "6"])]
    assert [text.partition(":")[0] for text in quick.misses(lines, recorded)] == [
        "pass, beside peer",
        "new, beside peer",
    ]


def test_a_contest_times_both_in_turns_and_gives_the_spread():
    done = []
    contest = quick.Contest("sum", "a peer", lambda: done.append("ours"), lambda: done.append("theirs"), rounds=3)
    median, lowest, highest = map(float, contest.line(most_rounds=2)[2:])
    assert done == ["ours", "theirs"] * 3 and lowest <= median <= highest


def test_a_sentence_that_says_something_else_than_the_stamp_is_refused(repository):
    page = stamped(repository).around("| a |").replace("on a machine", "on a faster machine")
    with pytest.raises(ValueError, match="does not say"):
        figures.stamp_of(page)


def test_a_comparison_that_was_stopped_resumes_where_it_was(tmp_path):
    asked, told = list[str](), {"best": 3, "logistic": 4, "SVM": 3, "pocket": 5, "big M": "-"}

    def measure(name, limit):
        asked.append(name)
        return told if name != "b" or asked.count("b") > 1 else sys.exit(1)

    with pytest.raises(SystemExit):
        mistakes.kept(tmp_path / "kept.json", ["a", "b"], 60, measure)
    found = mistakes.kept(tmp_path / "kept.json", ["a", "b"], 60, measure)
    assert asked == ["a", "b", "b"] and set(found) == {"a", "b"} and mistakes.worse(found) == []
    mistakes.kept(tmp_path / "kept.json", ["a"], 30, measure)
    assert asked[-1] == "a"  # another limit is another measurement


def test_a_comparison_says_what_is_better():
    assert mistakes.worse({"a": {"best": 3, "logistic": 4, "SVM": 2, "pocket": 3, "big M": "-"}}) == [
        "a: SVM 2, linsep 3"
    ]


def test_work_that_outlasts_its_time_is_ended():
    assert mistakes.in_time(lambda X, y, limit: time.sleep(60), None, None, 0.05) == "-"
    assert mistakes.in_time(lambda X, y, limit: os._exit(1), None, None, 20) == "-"
    assert mistakes.in_time(lambda X, y, limit: X + y, 1, 2, 20) == 3
