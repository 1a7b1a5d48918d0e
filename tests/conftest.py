"""Before SciPy is loaded: scikit-learn checks estimators on array-API input only where SciPy has it switched on.

And the tests keep their caches to themselves.
"""

import os
import tempfile

os.environ.setdefault("SCIPY_ARRAY_API", "1")
CACHES = tempfile.TemporaryDirectory(prefix="linsep-tests-")
os.environ["LINSEP_CACHE"] = CACHES.name
os.environ["LINSEP_QUIET"] = "1"  # transcripts do not depend on what Numba has in its cache
