"""The program `linsep`, and `python -m linsep`: Ctrl-C always ends it without a traceback.

While a command runs, Ctrl-C is an exception, which the command handles. Before that, while modules are imported, and
after it, while Python shuts down, there is nothing to save, and the process ends at once. Where Python cannot raise the
exception, in a function that the compiler calls back, it is raised again a moment later.
"""

import atexit
import os
import signal
import sys
import weakref
from _thread import interrupt_main
from contextlib import suppress
from threading import Timer, main_thread
from typing import Any, NoReturn

INTERRUPTED = 130
MOMENT_S = 0.02


def _leave(number: int, frame: object) -> NoReturn:
    os._exit(INTERRUPTED)


def _once_more(lost: Any) -> None:
    """Repeat an interrupt that Python ignored, instead of printing a message about it or about what it broke."""
    from linsep.cli import stdio

    if issubclass(lost.exc_type, KeyboardInterrupt):
        again = Timer(MOMENT_S, _press)
        again.daemon = True
        again.start()
    elif not stdio.interrupts:
        sys.__unraisablehook__(lost)


def _press() -> None:
    """Ctrl-C for the main thread; a signal, where there is one, also ends what the thread waits for."""
    own = main_thread().ident
    if own is None or not hasattr(signal, "pthread_kill"):
        interrupt_main()
    else:
        signal.pthread_kill(own, signal.SIGINT)


def main() -> int:
    """Run one command and return its exit code."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not behind nohup, or in the background
    if is_heard:
        signal.signal(signal.SIGINT, _leave)
    from linsep.cli import main as run
    from linsep.cli import stdio

    code = INTERRUPTED
    try:
        if is_heard:
            sys.unraisablehook = _once_more
            signal.signal(signal.SIGINT, stdio.interrupt)
        code = run()
    except KeyboardInterrupt:
        pass
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, _leave)
        if stdio.interrupts:
            _clean_up()
            os._exit(code)  # 0 after the Ctrl-C that ends the explorer
    return code


def _clean_up() -> None:
    """Write what is still to be written, and remove linsep's temporary files.

    Nothing else is torn down: threads may still run compiled code, which Numba would free, and LLVM may crash on code
    that is half compiled. Only the processes of a cluster have to be ended.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if "distributed" in sys.modules:
        atexit._run_exitfuncs()
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        found = finalizer.peek()
        if found is not None and str(found[1].__module__).startswith("linsep."):
            finalizer()


if __name__ == "__main__":
    sys.exit(main())
