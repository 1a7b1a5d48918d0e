"""The command line: a thin layer over the library.

Each command is a module named after what is typed, linsep_decide for `linsep decide`: it parses, calls the public
function, shows the report of its result, and returns the exit code. Shared: parameters (options), file_arguments
(what is read), answers (what decide, margin and mle have in common), terminal and progress (what is shown), stdio.

Everything heavy is imported inside the commands, so that `linsep --help` answers at once.
Exit codes: 0 separable, 1 proved not separable, 2 bad input or usage, 3 undecided, 4 a bug in linsep; 130
interrupted (Ctrl-C), 143 terminated (SIGTERM, with a checkpoint).
"""

import os
import sys
from collections.abc import Sequence
from errno import EPIPE
from io import TextIOWrapper
from os.path import isfile
from typing import Any

from cyclopts import CycloptsError

from linsep import __version__
from linsep.cli import (  # noqa: F401 - each command adds itself to the app
    linsep_animate,
    linsep_cache,
    linsep_clean,
    linsep_convert,
    linsep_decide,
    linsep_demo,
    linsep_explore,
    linsep_fit,
    linsep_learn,
    linsep_margin,
    linsep_mistakes,
    linsep_mle,
    linsep_plot,
    linsep_predict,
    linsep_report,
    linsep_trace,
    linsep_verify,
    stdio,
    terminal,
)
from linsep.cli.parameters import BAD_INPUT, BROKEN_PIPE, FAULT, INTERRUPTED, SEPARABLE, SIGNALLED, STDIN_WORD, app
from linsep.errors import FileError, LinsepError
from linsep.outputs import Identity, descriptor, identity


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors become one line on stderr."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    with stdio.opened(), stdio.termination_raised():
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # an ASCII terminal shows \xb7 instead of failing
        if stdio.spare(_files_among(tokens)):
            return _fail("standard error goes into a file that the command names. Redirect it to another.", BAD_INPUT)
        code = _run(tokens)
        try:
            stdio.flush()
        except stdio.UnshownError as error:
            return _unshown(error, in_json="--json" in tokens)
        return code


def _files_among(tokens: Sequence[str]) -> set[Identity]:
    """The files that a command names, before it is known what the command does with them."""
    found = {identity(word) for word in tokens if descriptor(word) is None and isfile(word)}  # noqa: PTH113
    return {known for known in found if known is not None}


def _run(tokens: list[str]) -> int:
    debug = "--debug" in tokens or os.environ.get("LINSEP_DEBUG", "") not in ("", "0")
    in_json = "--json" in tokens
    tokens = [STDIN_WORD if token == "-" else token for token in tokens if token != "--debug"]
    page = terminal.Page(**terminal.colours(sys.stdout))  # help goes there
    try:
        code = app(tokens, console=page, exit_on_error=False, print_error=False, result_action="return_value")
    except KeyboardInterrupt:
        return _fail("interrupted.", INTERRUPTED)
    except stdio.Terminated as error:
        return _fail("terminated.", SIGNALLED + error.args[0])
    except Exception as error:
        if stdio.interrupts:  # a library has replaced KeyboardInterrupt by another exception
            return _fail("interrupted.", INTERRUPTED)
        if debug and not isinstance(error, CycloptsError | stdio.UnshownError | BrokenPipeError):
            raise
        return _failed(error, in_json=in_json)
    return code if isinstance(code, int) else SEPARABLE


def _failed(error: Exception, *, in_json: bool) -> int:
    """Say what went wrong: with the command, with what it shows, with the data, or with linsep."""
    if isinstance(error, CycloptsError):
        if in_json:
            return _fail(str(error), BAD_INPUT, {"code": "E-USAGE", "message": str(error)})
        return _fail(f"{error}\nlinsep --help lists the commands, linsep COMMAND --help their options.", BAD_INPUT)
    if isinstance(error, stdio.UnshownError | BrokenPipeError):
        return _unshown(error, in_json=in_json)
    if isinstance(error, LinsepError | OSError):
        return _fail(str(error), BAD_INPUT, _facts(error) if in_json else None)
    told = (
        f"a bug in linsep {__version__}, not of your data: {type(error).__name__}: {error}. "
        "Please report it to the project, with what the same command prints with --debug."
    )
    return _fail(told, FAULT, {"code": "E-FAULT", "message": told} if in_json else None)


def _unshown(error: OSError, *, in_json: bool) -> int:
    """The results could not be written: their reader has left, or there was an error such as a full disk."""
    stdio.silence(sys.stdout)
    if error.errno == EPIPE:
        return BROKEN_PIPE
    told = f"the result cannot be written to standard output: {error.strerror}."
    return _fail(told, BAD_INPUT, FileError(told).facts() if in_json else None)


def _fail(text: str, code: int, facts: dict[str, Any] | None = None) -> int:
    terminal.complain(text, facts)
    return code


def _facts(error: LinsepError | OSError) -> dict[str, Any]:
    """An error as fields; what the system says about a file has the code of a file that cannot be read or written."""
    if isinstance(error, LinsepError):
        return error.facts()
    return FileError(error.strerror or str(error), file=str(error.filename) if error.filename else None).facts()
