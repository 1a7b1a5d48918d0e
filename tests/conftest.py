"""Before SciPy is loaded: scikit-learn checks estimators on array-API input only where SciPy has it switched on.

And the tests keep their caches to themselves.
"""

import os
import signal
import tempfile
import threading

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")
CACHES = tempfile.TemporaryDirectory(prefix="linsep-tests-")
os.environ["LINSEP_CACHE"] = CACHES.name
os.environ["LINSEP_QUIET"] = "1"  # transcripts do not depend on what Numba has in its cache

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a script ignores Ctrl-C


@pytest.fixture
def streamed(monkeypatch):
    """Files are read in parts however few rows they have: what large ones go through."""
    monkeypatch.setattr("linsep.questions.decide.HELD", 0)
