"""A real JupyterLab in a real browser: what results look like in its cells, and the explorer among them."""

import importlib.util
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from playwright.sync_api import expect, sync_playwright

from browser import launch

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not importlib.util.find_spec("jupyterlab"), reason="JupyterLab is not installed: make jupyter"),
]

CELLS = [
    "import linsep\nX, y = linsep.datasets.xor()\nlinsep.decide(X, y)",
    "linsep.max_margin(*linsep.datasets.cornwell())",
    "linsep.PerceptronClassifier().fit(*linsep.datasets.cornwell())",
    "linsep.explore()",
    "linsep.explore([[0, 0, 1], [1, 1, 0], [0, 1, 1]], [0, 1, 1])",
]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def notebook():
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells = [cell | {"id": f"cell{number}", "source": code} for number, code in enumerate(CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with one notebook, in the dark; the system is light."""
    folder, token = tmp_path_factory.mktemp("lab"), secrets.token_hex(16)
    write(folder / "a.ipynb", notebook())
    settings = folder / "config/lab/user-settings/@jupyterlab/apputils-extension"
    write(settings / "themes.jupyterlab-settings", {"theme": "JupyterLab Dark"})
    write(settings / "notification.jupyterlab-settings", {"fetchNews": "false", "checkForUpdates": False})
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", f"--ServerApp.root_dir={folder}"]
    places = {
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    command, quiet = [sys.executable, "-m", "jupyterlab", *options], subprocess.DEVNULL
    server = subprocess.Popen(command, env=os.environ | places, stdout=quiet, stderr=quiet)
    wait_for(f"http://127.0.0.1:{port}/api", server)
    yield f"http://127.0.0.1:{port}/lab/tree/a.ipynb?token={token}"
    server.terminate()
    server.wait(20)


def wait_for(address, server):
    for _ in range(240):
        assert server.poll() is None, "JupyterLab does not start"
        try:
            return urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.25)
    raise TimeoutError(address)


@pytest.fixture(scope="module")
def page(address):
    """The notebook after all cells were run, and no complaint in the end."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page, wrong = browser.new_page(viewport={"width": 1360, "height": 6000}), []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(CELLS), timeout=60_000)
        page.click(".lm-MenuBar-itemLabel:text-is('Run')")
        page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
        expect(page.locator(".table-space .own-row")).to_have_count(3, timeout=60_000)
        yield page
        browser.close()
        assert wrong == []


STYLE = "(node, name) => getComputedStyle(node)[name]"


def test_a_report_looks_as_everywhere_beside_the_explorer(page):
    reports = page.locator(".linsep-report")
    expect(reports).to_have_count(3)
    assert reports.first.evaluate(STYLE, "backgroundColor") == "rgba(0, 0, 0, 0)"
    assert reports.first.locator("svg").bounding_box()["width"] < 500
    assert reports.first.locator("td:not(.number)").last.evaluate(STYLE, "textAlign") == "left"
    rows = reports.locator("tr").all()
    assert {row.evaluate(STYLE, "backgroundColor") for row in rows} == {"rgba(0, 0, 0, 0)"}


def test_the_explorer_takes_the_width_of_its_cell(page):
    cell = page.locator(".jp-OutputArea-output:has(.data-space)").bounding_box()
    assert page.locator(".linsep:has(.data-space)").bounding_box()["width"] > 0.95 * cell["width"]


def test_the_explorer_is_dark_where_jupyterlab_is(page):
    explorer = page.locator(".linsep:has(.data-space)")
    assert max(map(int, re.findall(r"\d+", explorer.evaluate(STYLE, "backgroundColor"))[:3])) < 60
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    expect(explorer).to_have_attribute("data-theme", "light")


def test_keys_on_the_explorer_are_not_those_of_the_notebook(page):
    explorer = page.locator(".linsep:has(.data-space)")
    explorer.locator(".point").first.click()
    for key in ("d", "d", "x", "b", "ArrowUp"):
        page.keyboard.press(key)
    page.keyboard.press("Delete")
    expect(explorer.locator(".point")).to_have_count(3)
    expect(page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(CELLS))


def test_the_story_is_told_in_a_cell(page):
    explorer = page.locator(".linsep:has(.data-space)")
    explorer.get_by_role("button", name="The story").click()
    page.keyboard.press("ArrowRight")
    expect(explorer.locator(".tale h2")).to_have_text("One mistake, in numbers")
    page.keyboard.press("Escape")
    expect(explorer.locator(".tale")).to_be_hidden()
