"""Where `make test` finds its browser, and what it does where there is none."""

import subprocess
import sys

import pytest

import browser

APT = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium")
OWN = (sys.executable, "-m", "playwright", "install", "chromium")


@pytest.fixture
def machine(monkeypatch):
    """A machine without a browser: `needs` says after which command there is one."""
    monkeypatch.delenv("LINSEP_CHROMIUM", raising=False)
    ran = []

    def prepare(*, is_root, needs):
        monkeypatch.setattr(browser, "is_debian_root", lambda: is_root)
        monkeypatch.setattr(browser, "starts", lambda: needs in ran)
        monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(tuple(command)))
        return ran

    return prepare


def test_a_browser_that_is_there_is_used(machine, monkeypatch):
    ran = machine(is_root=True, needs=None)
    monkeypatch.setattr(browser, "starts", lambda: True)
    assert (browser.main(), ran) == (0, [])


def test_root_on_debian_installs_the_package(machine):
    ran = machine(is_root=True, needs=APT)
    assert browser.main() == 0
    assert OWN not in ran


@pytest.mark.parametrize("is_root", [True, False])
def test_others_and_those_without_a_mirror_download_playwrights_own(machine, is_root):
    ran = machine(is_root=is_root, needs=OWN)
    assert browser.main() == 0
    assert (APT in ran) == is_root


def test_without_any_browser_it_says_what_to_do(machine, capsys):
    machine(is_root=False, needs=None)
    assert browser.main() == 1
    assert "make test-quick" in capsys.readouterr().err


def test_a_browser_that_is_named_and_does_not_start_is_not_replaced(machine, monkeypatch):
    ran = machine(is_root=True, needs=OWN)
    monkeypatch.setenv("LINSEP_CHROMIUM", "/nowhere")
    assert (browser.main(), ran) == (1, [])


@pytest.mark.parametrize("name", browser.NAMES)
def test_every_usual_name_is_found(name, tmp_path, monkeypatch):
    monkeypatch.delenv("LINSEP_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.installed() is None
    (tmp_path / name).touch(mode=0o755)
    assert browser.installed() == str(tmp_path / name)


def test_the_tests_say_what_to_do_without_a_browser(monkeypatch):
    monkeypatch.setenv("LINSEP_CHROMIUM", "/nowhere")
    with browser.sync_playwright() as playwright, pytest.raises(RuntimeError, match="name one"):
        browser.launch(playwright)


@pytest.mark.browser
def test_the_browser_of_this_machine_starts():
    assert browser.starts()
