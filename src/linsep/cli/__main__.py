"""`python -m linsep.cli`: the command line, as `python -m linsep`."""

import sys

from linsep.__main__ import main

sys.exit(main())
