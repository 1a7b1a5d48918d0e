"""Before SciPy is loaded: scikit-learn checks estimators on array-API input only where SciPy has it switched on."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
