"""`python -m linsep.cli`: the command line without the installed script."""

import sys

from linsep.cli import main

sys.exit(main())
