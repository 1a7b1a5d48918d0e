"""The code of README.md runs as printed, and prints what it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n(?:\n```\n(.*?)```)?", README, re.DOTALL)  # and what stands below as output


def promised(line):
    """What the comment behind a print says: its text, with ... for any other."""
    return ".*".join(map(re.escape, line.partition("  # ")[2].split("..."))).strip()


def test_every_block_runs_in_order_and_prints_what_stands_beside_it(capsys):
    scope = {}
    assert len(BLOCKS) >= 2 and BLOCKS[0][1]
    for code, output in BLOCKS:
        exec(compile(code, "README.md", "exec"), scope)
        out = capsys.readouterr().out
        assert not output or out == output
        for line in code.splitlines():
            if line.startswith("print(") and "#" in line:
                assert re.search(rf"^{promised(line)}$", out, re.MULTILINE), line


def test_every_page_and_picture_that_it_names_is_there():
    named = re.findall(r"\]\(([^)]+)\)", README)
    assert len(named) > 20 and all((ROOT / path).exists() for path in named)


@pytest.mark.parametrize("target", ["demo", "test", "bench"])
def test_every_make_target_that_it_names_is_there(target):
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", re.findall(r"`linsep (\w+)", README))
def test_every_command_that_it_names_is_there(command):
    from linsep.cli import app

    assert command in list(app)
