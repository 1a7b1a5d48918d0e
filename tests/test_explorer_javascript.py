"""The page's own engine, in Node: held against the answers of the library that tests/engine holds."""

import json
import subprocess
from pathlib import Path

import pytest

from node import MISSING, installed
from tests.campaigns import engine_answers

pytestmark = pytest.mark.skipif(installed() is None, reason=MISSING)

ENGINE = Path(__file__).parent / "engine"


def run(*command):
    return subprocess.run([installed(), *map(str, command)], capture_output=True, text=True, timeout=90)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["engine", "challenges", "page", "story"])
def test_the_engine_passes_its_tests_in_node(name):
    done = run("--test", ENGINE / f"{name}.test.js")
    assert done.returncode == 0, done.stdout


def test_the_library_still_says_what_was_recorded(tmp_path):
    """Else: make explorer-answers."""
    engine_answers.write(20, tmp_path / "answers.gz")
    done = run(ENGINE / "check.js", tmp_path / "answers.gz")
    assert done.returncode == 0, done.stdout


def test_a_wrong_answer_is_noticed(tmp_path):
    engine_answers.write(4, tmp_path / "answers.gz")
    code = "import { differences, recorded } from 'HELD'; console.log(JSON.stringify(recorded('FILE').map((answer) =>"
    code += " [{ kind: 'undecided' }, { rows: [1, 2] }, { weights: 1 }, { converged: null }, { scaled: 1 },"
    code += " { fewest: -1 }, { mistakes: [9] }].map("
    code += "(wrong) => differences({ ...answer, says: { ...answer.says, ...wrong } }).length))))"
    code = code.replace("HELD", (ENGINE / "held.js").as_uri()).replace("FILE", str(tmp_path / "answers.gz"))
    done = run("--input-type=module", "-e", code)
    assert all(count > 0 for counts in json.loads(done.stdout) for count in counts)
