"""The program `linsep`, and `python -m linsep`: Ctrl-C ends it without a traceback, from its first line to its last.

While a command runs, Ctrl-C is an exception which it answers. Before, while everything is imported, and after, while
Python shuts down, there is nothing to save: the process ends at once.
"""

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130


def _leave(number: int, frame: object) -> NoReturn:
    os._exit(INTERRUPTED)


def main() -> int:
    """Run one command and return its exit code."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not behind nohup, or in the background
    if is_heard:
        signal.signal(signal.SIGINT, _leave)
    from linsep.cli import main as run

    try:
        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, _leave)


if __name__ == "__main__":
    sys.exit(main())
