"""The browser of the tests: an installed Chromium or Chrome, else the one that playwright downloads.

`python tests/browser.py` looks for one and, where there is none, installs it: as Debian's package for root, else as
playwright's own download.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run")  # fmt: skip
MISSING = (
    "The explorer's tests need Chromium, and none could be started. Install chromium or google-chrome, name one "
    "(LINSEP_CHROMIUM=/path/to/chrome make test), or run the tests without a browser: make test-quick."
)
STORY_TOLD = "try { localStorage.setItem('linsep-story', 'told') } catch {}"  # not a first visit of the explorer
APT = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}


def installed():
    """The path of an installed browser; None leaves the choice to playwright."""
    return os.environ.get("LINSEP_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright):
    """A browser; where none starts, the error says what to do."""
    try:
        return playwright.chromium.launch(executable_path=installed(), args=ARGUMENTS)
    except Error as error:
        raise RuntimeError(f"{MISSING}\n{error}") from None


def starts():
    """Whether a browser can be had without installing anything."""
    with sync_playwright() as playwright:
        try:
            launch(playwright).close()
        except RuntimeError:
            return False
    return True


def is_debian_root():
    """Whether Debian's packages can be installed."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and Path("/etc/debian_version").exists()


def install():
    """Yield after each way to install a browser."""
    if is_debian_root():
        subprocess.run(["apt-get", "update", "-qq"], env=APT, check=False)
        package = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        subprocess.run(package, env=APT, stdout=subprocess.DEVNULL, check=False)
        yield
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    yield


def main():
    """Find or install a browser; the exit status."""
    if starts() or (not os.environ.get("LINSEP_CHROMIUM") and any(starts() for _ in install())):
        return 0
    print(MISSING, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
