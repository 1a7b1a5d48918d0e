"""Claims about the package as a whole: what it exports, how light it is, that its errors form one tree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import linsep
from linsep import errors, on_files
from linsep.cli import app

ROOT = Path(__file__).resolve().parents[1]


def modules_after(statement):
    code = f"{statement}; import sys; print(*sorted(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_is_light():
    loaded = modules_after("import linsep")
    assert not loaded & {"numpy", "scipy", "numba", "pyarrow", "narwhals", "sklearn", "rich", "cyclopts"}


def test_every_public_name_loads_and_is_documented():
    for name in linsep.__all__:
        assert getattr(linsep, name).__doc__, name
    assert dir(linsep) == sorted(dir(linsep))


def test_a_wrong_name_is_an_attribute_error():
    try:
        linsep.percetron  # noqa: B018
    except AttributeError as error:
        assert "percetron" in str(error)
    else:
        raise AssertionError("no error")


def test_every_error_is_in_the_tree_and_drawn_in_the_docstring():
    found = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert all(issubclass(value, (errors.LinsepError, UserWarning)) for value in found)
    assert all(value.__name__ in errors.__doc__ and value.__doc__ for value in found)


@pytest.mark.parametrize("rows", ["0,0,n\n0,1,p\n1,0,p\n1,1,n\n", "0.1,2.5,n\n0.3,1e-9,p\n7,0.1,p\n0.2,3,n\n"])
def test_a_small_file_is_decided_without_compiler_pandas_or_solvers_it_does_not_need(rows, tmp_path):
    (tmp_path / "small.csv").write_text("a,b,y\n" + rows)
    code = (
        "import sys; from linsep.cli import main\n"
        "try: main(['decide', 'small.csv', '--label', 'y'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numba', 'pandas', 'sklearn', 'scipy.optimize') if name in sys.modules])"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert seen.stdout.splitlines()[-1] == "[]"


def test_every_job_on_files_loads_and_is_documented():
    for name in on_files._HOME:
        assert getattr(on_files, name).__doc__, name


def test_each_command_is_in_the_module_of_its_name():
    for name in (name for name in app if not name.startswith("-")):
        assert app[name].default_command.__module__ == f"linsep.cli.linsep_{name}"


def test_the_citation_names_this_version():
    assert f"\nversion: {linsep.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_workflow_calls_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    called = [target for line in re.findall(r"run: make (.*)", workflow) for target in line.split()]
    assert called
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in called)
