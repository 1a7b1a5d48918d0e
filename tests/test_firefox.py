"""The explorer in Firefox: driven by puppeteer, since playwright only drives a Firefox of its own."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from linsep.explorer import export
from linsep.explorer.server import Explorer
from node import installed

PUPPETEER = Path(sys.prefix, "firefox/node_modules/puppeteer-core/lib/puppeteer/puppeteer-core.js")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
DRIVER = Path(__file__).parent / "firefox" / "firefox.test.js"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (FIREFOX and installed() and PUPPETEER.exists()), reason="make firefox installs Firefox and its driver"
    ),
]


@pytest.mark.timeout(300)
def test_the_explorer_works_in_firefox_from_a_file_and_from_its_server(tmp_path):
    file, explorer = tmp_path / "page.html", Explorer()
    file.write_text(export.page(), "utf-8")
    thread = threading.Thread(target=explorer.run, daemon=True)
    thread.start()
    known = {"PUPPETEER": PUPPETEER.as_uri(), "FIREFOX": FIREFOX, "PAGES": f"{file.as_uri()} {explorer.address}"}
    command = [installed(), "--test", str(DRIVER)]
    done = subprocess.run(command, env=os.environ | known, capture_output=True, text=True)
    explorer.stop()
    thread.join(10)
    assert done.returncode == 0, done.stdout
