"""Where compiled loops are kept: a read-only install of a user without a home works too."""

import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import linsep

PACKAGE = Path(linsep.__file__).parent
COMPILE = "from linsep.loops import numbers; import numba; print(numba.config.CACHE_DIR)"


@pytest.fixture
def install(tmp_path):
    """A copy of linsep in which nothing can be written: where folders of caches would be, there are files."""
    shutil.copytree(PACKAGE, tmp_path / "linsep", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "linsep/loops/__pycache__").touch()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "home").touch()
    return tmp_path


def ran(install, *command, **settings):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_", "PYTHON"))}
    env |= {"HOME": str(install / "home"), "TMPDIR": str(install / "tmp"), "PYTHONPATH": str(install)}
    return subprocess.run([sys.executable, *command], env=env | settings, capture_output=True, text=True, cwd=install)


def folder_of(run):
    assert run.returncode == 0, run.stderr
    return Path(run.stdout.strip())


def test_loops_go_to_a_private_temporary_folder_where_no_other_can_be_written(install):
    run = ran(install, "-c", COMPILE)
    assert folder_of(run).parent == install / "tmp"
    assert stat.S_IMODE(folder_of(run).stat().st_mode) == 0o700
    assert run.stderr == (
        f"linsep: cannot write to a cache folder for compiled code; using {run.stdout.strip()}. "
        "Set NUMBA_CACHE_DIR to choose another.\n"
    )


def test_the_next_process_finds_the_same_folder(install):
    assert folder_of(ran(install, "-c", COMPILE)) == folder_of(ran(install, "-c", COMPILE))


def test_numba_may_have_been_imported_before(install):
    assert folder_of(ran(install, "-c", f"import numba; {COMPILE}")).parent == install / "tmp"


def test_child_processes_use_the_folder_without_saying_so_again(install):
    child = f"{COMPILE}; import subprocess, sys; subprocess.run([sys.executable, '-c', {COMPILE!r}])"
    assert ran(install, "-c", child).stderr.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="folders there do not tell their rights")
@pytest.mark.parametrize("trap", ["open to all", "a file", "a link"])
def test_a_folder_that_others_could_have_filled_is_not_used(install, trap):
    first = folder_of(ran(install, "-c", COMPILE))
    if trap == "open to all":
        first.chmod(0o777)
    else:
        first.rename(install / "elsewhere")
        first.touch() if trap == "a file" else first.symlink_to(install / "elsewhere")
    assert folder_of(ran(install, "-c", COMPILE)) not in (first, install / "elsewhere")


@pytest.mark.parametrize("chosen", ["kept", "home/not-a-folder"])
def test_a_folder_that_the_user_chose_is_used_if_it_can_be_written(install, chosen):
    run = ran(install, "-c", COMPILE, NUMBA_CACHE_DIR=str(install / chosen))
    assert (folder_of(run) == install / "kept") == (chosen == "kept") == (run.stderr == "")


def test_an_install_that_can_be_written_keeps_its_own_folder(install):
    (install / "linsep/loops/__pycache__").unlink()
    run = ran(install, "-c", COMPILE)
    assert (run.returncode, run.stdout, run.stderr) == (0, "\n", "")


def test_without_any_folder_the_error_says_what_to_do(install):
    broken = f"import tempfile; tempfile._candidate_tempdir_list = lambda: []; {COMPILE}"
    assert "Set NUMBA_CACHE_DIR to a folder that can be written." in ran(install, "-c", broken).stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_read_only_install_decides(install):
    run = ran(install, "-m", "linsep.cli", "decide", "example:xor")
    assert run.returncode == 1
    assert run.stdout.startswith("overlapping")


@pytest.fixture
def loops_of_two_files(tmp_path):
    """A copy of the package in which loops/outer.py calls loops/inner.py; returns a function that runs it."""
    copy = shutil.copytree(PACKAGE, tmp_path / "linsep", ignore=shutil.ignore_patterns("__pycache__"))
    head = "from linsep.loops.compiler import njit\n"
    (copy / "loops" / "outer.py").write_text(
        head + "from linsep.loops.inner import inner\n@njit(cache=True)\ndef outer():\n    return inner()\n"
    )

    def run(answer):
        (copy / "loops" / "inner.py").write_text(head + f"@njit(cache=True)\ndef inner():\n    return {answer}\n")
        code = "from linsep.loops.outer import outer; print(outer())"
        env = {
            **os.environ,
            "LINSEP_QUIET": "",
            "PYTHONDONTWRITEBYTECODE": "1",  # a .pyc is told from its source by whole seconds and size: too coarse here
            "PYTHONPATH": str(tmp_path),
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        }
        told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        return int(told.stdout), "compiling" in told.stderr

    return run


@pytest.mark.slow
def test_a_loop_is_compiled_anew_when_one_that_it_calls_has_changed(loops_of_two_files):
    assert loops_of_two_files(1) == (1, True)
    assert loops_of_two_files(1) == (1, False)
    assert loops_of_two_files(2) == (2, True)


@pytest.mark.slow
def test_a_cache_that_names_modules_of_another_version_is_compiled_anew(loops_of_two_files, tmp_path):
    loops_of_two_files(1)
    for index in (tmp_path / "cache").rglob("*.nbi"):
        index.write_bytes(pickle.dumps(numba.__version__) + b"cno_such_module\nName\n.")
    assert loops_of_two_files(1) == (1, True)
