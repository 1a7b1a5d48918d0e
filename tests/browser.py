"""Where the browser of the tests is: Debian's Chromium, or the one that LINSEP_CHROMIUM names."""

import os
import shutil


def browser_path():
    """The path of Chromium; without one the tests of the page fail, and say what to do."""
    found = os.environ.get("LINSEP_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        raise RuntimeError(
            "The explorer's tests need Chromium: apt-get install chromium, or name one in LINSEP_CHROMIUM."
        )
    return found
