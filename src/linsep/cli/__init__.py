"""The command line: a thin face on the library.

Everything heavy is imported inside the commands, so that `linsep --help` answers at once.
Exit codes: 0 separable, 1 proved not separable, 2 bad input or usage, 3 undecided, 4 a fault of linsep; 130
interrupted (Ctrl-C), 143 terminated (SIGTERM, with a checkpoint).
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from errno import EPIPE
from io import TextIOWrapper
from math import isfinite
from os.path import isfile
from signal import SIGTERM
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter
from cyclopts.validators import Number

from linsep import __version__
from linsep.cli import caches, exploring, learning, plotting, proving, stdio
from linsep.cli.options import (
    BAD_INPUT,
    BROKEN_PIPE,
    FAULT,
    INTERRUPTED,
    OF_A_FAULT,
    READABLE,
    SEPARABLE,
    SIGNALLED,
    STDIN_WORD,
    TERMINATED,
    UNDECIDED,
    Bias,
    Checkpoint,
    Copying,
    Debug,
    File,
    Json,
    Label,
    Learning,
    NewRows,
    Progress,
    Seed,
    Terminated,
    Walking,
    path,
    rejects,
)
from linsep.errors import FileError, LinsepError
from linsep.outputs import Identity, descriptor, identity

if TYPE_CHECKING:
    from linsep.cli.tables import Table
    from linsep.solvers.learner import Learner
    from linsep.solvers.perceptron import Keep

TRACED_UPDATES = 1000
MAX_PASSES = 1000
BOUND_ENTRIES = 100_000  # tables up to this size have their mistake bound computed beside a trace

EXIT_CODES = f"Exit codes: 0 separated, 2 bad input, 3 undecided, {OF_A_FAULT}"
DONE_CODES = f"Exit codes: 0 done, 2 bad input, {OF_A_FAULT}"
PROVED_CODES = f"Exit codes: 0 separable, 1 proved not separable, 2 bad input, 3 undecided, {OF_A_FAULT}"

Order = Literal["cyclic", "restart", "shuffled", "worst"]

app = App(
    name="linsep",
    help="Can a hyperplane separate the two classes? The answer, with a proof, and the Perceptron, step by step.",
    help_epilogue=f"Example: linsep decide example:xor\n\n{PROVED_CODES}",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # main says what happened
    version=__version__,
)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Run:
    """How the Perceptron is run."""

    order: Annotated[Order, Parameter(help="Which mistake is corrected next.")] = "cyclic"
    bias: Bias = None
    max_updates: Annotated[int | None, Parameter(help="Stop after this many updates.", validator=Number(gte=1))] = None
    max_passes: Annotated[
        int,
        Parameter(help="Stop after this many passes over the rows; 0 for no limit.", validator=Number(gte=0)),
    ] = MAX_PASSES
    seed: Seed = 0
    json: Json = False

    def learner(self, table: "Table", max_updates: int | None = None, keep: "Keep" = "last") -> "Learner":
        """The run on these rows, not begun yet."""
        from linsep.solvers.perceptron import learner_on
        from linsep.solvers.vanishing import require_scores
        from linsep.sources.inputs import as_source

        source = as_source(table.source)
        require_scores(source)
        return learner_on(
            source,
            order=self.order,
            keep=keep,
            bias=table.bias if self.bias is None else self.bias,
            max_passes=self.max_passes or None,
            max_updates=self.max_updates or max_updates,
            random_state=self.seed,
        )


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
    """The files that a command names, before it is known what it wants with them."""
    found = {identity(word) for word in tokens if descriptor(word) is None and isfile(word)}  # noqa: PTH113
    return {known for known in found if known is not None}


def _run(tokens: list[str]) -> int:
    from linsep.cli import report

    debug = "--debug" in tokens or os.environ.get("LINSEP_DEBUG", "") not in ("", "0")
    in_json = "--json" in tokens
    tokens = [STDIN_WORD if token == "-" else token for token in tokens if token != "--debug"]
    page = report.Page(**report.colours(sys.stdout))  # help goes there
    try:
        code = app(tokens, console=page, exit_on_error=False, print_error=False, result_action="return_value")
    except KeyboardInterrupt:
        return _fail("interrupted.", INTERRUPTED)
    except Terminated as error:
        return _fail("terminated.", SIGNALLED + error.args[0])
    except CycloptsError as error:
        if in_json:
            return _fail(str(error), BAD_INPUT, {"code": "E-USAGE", "message": str(error)})
        return _fail(f"{error}\nlinsep --help lists the commands, linsep COMMAND --help their options.", BAD_INPUT)
    except (stdio.UnshownError, BrokenPipeError) as error:
        return _unshown(error, in_json=in_json)
    except (LinsepError, OSError) as error:
        if debug:
            raise
        return _fail(str(error), BAD_INPUT, _facts(error) if in_json else None)
    except Exception as error:
        if debug:
            raise
        told = _fault(error)
        return _fail(told, FAULT, {"code": "E-FAULT", "message": told} if in_json else None)
    return code if isinstance(code, int) else SEPARABLE


def _unshown(error: OSError, *, in_json: bool) -> int:
    """The results did not get out: because their reader has seen enough, or by an error such as a full disk."""
    stdio.silence(sys.stdout)
    if error.errno == EPIPE:
        return BROKEN_PIPE
    told = f"the result cannot be written to standard output: {error.strerror}."
    return _fail(told, BAD_INPUT, FileError(told).facts() if in_json else None)


def _fail(text: str, code: int, facts: dict[str, Any] | None = None) -> int:
    from linsep.cli.report import complain

    complain(text, facts)
    return code


def _facts(error: LinsepError | OSError) -> dict[str, Any]:
    """An error as fields; what the system says about a file has the code of a file that cannot be read or written."""
    if isinstance(error, LinsepError):
        return error.facts()
    return FileError(str(error), file=str(error.filename) if error.filename else None).facts()


def _fault(error: Exception) -> str:
    return (
        f"a fault of linsep {__version__}, not of your data: {type(error).__name__}: {error}. "
        "Please report it to the project, with what the same command prints with --debug."
    )


@app.command(help_epilogue="Example: linsep demo")
def demo(*, seed: Seed = 0, debug: Debug = False) -> int:
    """The point of linsep in a minute: verdicts with their proofs, on four points and on a million rows."""
    from linsep.cli.demo import show

    show(seed)
    return SEPARABLE


@app.command(help_epilogue=f"Example: linsep trace data.csv --label species\n\n{EXIT_CODES}")
def trace(*file: File, label: Label = None, run: Run | None = None, reading: Learning | None = None) -> int:
    """Show every update of the Perceptron. Rows are counted from 0.

    Without --max-updates it stops after 1,000 of them.
    """
    from linsep.cli import report, tables
    from linsep.cli.training import doubtful_rows

    options = run or Run()
    tables.require_outputs(file, {"--reject": rejects(reading)})
    with tables.about(file):
        table = tables.read(file, label, reading)
        learner = options.learner(table, TRACED_UPDATES)
        _mention_bias(file, table, options)
        if options.json:
            for step in learner.steps():
                report.say_json(report.step_json(step))
        else:
            report.steps(learner.steps(), table.columns, learner.source.n_columns, bias=learner.bias)
        doubtful = doubtful_rows(learner)
    if options.json:
        report.say_json(report.run_json(learner.result(), doubtful, learner.source))
    else:
        bound = _bound(learner) if learner.converged and not doubtful else None
        report.traced(learner.result(), doubtful, table.columns, bound)
    return SEPARABLE if learner.converged and not doubtful else UNDECIDED


@app.command(help_epilogue=f"Example: linsep fit data.csv --label species -o model.json\n\n{EXIT_CODES}")
def fit(
    *file: File,
    label: Label = None,
    output: Annotated[str | None, Parameter(name=["--output", "-o"], help="Where to write the model (JSON).")] = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    run: Run | None = None,
    reading: Learning | None = None,
) -> int:
    """Learn a hyperplane with the Perceptron; Ctrl-C stops and keeps the best weights so far."""
    from linsep.cli import checkpointing, report, tables
    from linsep.cli.training import Keeper
    from linsep.cli.training import fit as run_to_the_end
    from linsep.solvers.resuming import question

    options = run or Run()
    tables.require_outputs(file, {"--output": output, "--checkpoint": checkpoint, "--reject": rejects(reading)})
    with tables.about(file):
        table = tables.read(file, label, reading)
        learner = options.learner(table, keep="best")
        _mention_bias(file, table, options)
        if not options.max_passes:
            report.note("No cap on passes: it ends when the classes are separated, or with Ctrl-C.")
        kept = checkpointing.opened(learner.source, checkpoint) if checkpoint else None
        with report.progress(options.max_passes or None, wanted=progress) as show:
            keeper = Keeper(kept, question(learner, options.seed)) if kept else None
            result = run_to_the_end(learner, show, keeper)
    if output:
        _model(table, learner, result, options).save(output)
    if options.json:
        report.say_json(report.fitted_json(result, learner.source))
    else:
        report.fitted(result, learner.source.n_rows, table.columns)
    stdio.flush()
    if output:
        report.note(f"Model written to {output}.")
    if kept and result.interrupted:
        checkpointing.how_to_resume(kept)
        return TERMINATED if result.stopped_by == SIGTERM else INTERRUPTED
    if kept:
        checkpointing.finish(kept, is_settled=result.separated)
    return SEPARABLE if result.separated else UNDECIDED


@app.command(
    help_epilogue=f"Example: linsep convert measurements.csv.gz measurements.parquet --label kind\n\n{DONE_CODES}"
)
def convert(
    *file: Annotated[
        str,
        Parameter(help=f"{READABLE} Last the file to write, which ends in .parquet.", converter=path, required=True),
    ],
    label: Label = None,
    json: Json = False,
    reading: Copying | None = None,
) -> int:
    """Write files of any kind as one Parquet file, which is quick to read again and again."""
    from linsep.cli import report, tables
    from linsep.errors import ArgumentError
    from linsep.sources.files.convert import convert as write

    *files, output = file
    if not files:
        raise ArgumentError(f"{output}: name what to read and, last, the file to write: linsep convert IN OUT.parquet.")
    how = reading or Copying()
    tables.require_outputs(files, {"": output, "--reject": how.reject})
    options = how.options(label)
    with report.waiting("Converting"):
        rows = write(files, output, options, cache=how.where_cached(), format=how.format)
    left_out = options.set_aside.count if options.set_aside is not None else 0
    if json:
        report.say_json({"rows": rows, "rows_left_out": left_out, "output": output})
    else:
        report.say(f"{report.count(rows, 'row')} written to {output}.")
    if options.set_aside is not None and left_out:
        report.note(report.set_aside(options.set_aside))
    return SEPARABLE


@app.command(help_epilogue=f"Example: linsep predict model.json new.csv\n\n{DONE_CODES}")
def predict(
    model: Annotated[
        str,
        Parameter(help="A model written by linsep fit, by linsep learn, or by a classifier's save.", converter=path),
    ],
    /,
    *file: NewRows,
    label: Annotated[
        str | None,
        Parameter(
            help="The label column, where the model does not know it.", allow_leading_hyphen=True, converter=path
        ),
    ] = None,
    output: Annotated[str | None, Parameter(name=["--output", "-o"], help="Write a CSV file instead.")] = None,
    scores: Annotated[
        bool, Parameter(help="Add the score w·x + b to each prediction.", negative="", show_default=False)
    ] = False,
    text: Annotated[
        bool,
        Parameter(help="Lines of text, or of a label, a tab and text.", negative="", show_default=False),
    ] = False,
    json: Json = False,
    walking: Walking | None = None,
) -> int:
    """Label each row of files, one label per line. A score of exactly 0 gets the negative label.

    Columns are matched by name. If the files have the label column, the error goes to stderr.

    A row that --reject writes out has an empty prediction in its place.
    """
    from dataclasses import replace

    from linsep._load import load
    from linsep.cli import pages, prediction, tables

    how = walking or Walking()
    tables.require_name(model, "a model")
    tables.require_outputs([model, *file], {"--output": output, "--reject": how.reject})
    known = load(model)
    prediction.require_kind(known, model, is_text=text)
    judge = prediction.judge_of(known, model)
    options = replace(how.options(label), needs=judge.needs)
    if text:
        rows = lambda _: prediction.text_parts(judge, file, options.set_aside)  # noqa: E731
    else:
        rows = lambda waiting: prediction.parts(judge, file, options, how.format, waiting)  # noqa: E731
    asked = pages.Asked(output, with_scores=scores, json=json)
    prediction.predict(judge, rows, asked, options.set_aside)
    return SEPARABLE


app.command(
    learning.learn,
    help_epilogue="Example: linsep learn --text messages.tsv -o model.json\n\n"
    f"Exit codes: 0 done, 2 bad input, 130 interrupted (the model is kept), {OF_A_FAULT}",
)
app.command(
    proving.decide,
    help_epilogue=f"Example: linsep decide data.csv --label species --proof proof.json\n\n{PROVED_CODES}",
)
app.command(
    proving.verify,
    help_epilogue="Example: linsep verify proof.json data.csv\n\n"
    f"Exit codes: 0 verified, 1 refuted, 2 bad input, 3 the proof claims nothing, {OF_A_FAULT}",
)
app.command(proving.margin, help_epilogue=f"Example: linsep margin data.csv --label species\n\n{PROVED_CODES}")
app.command(
    proving.mle,
    help_epilogue="Example: linsep mle data.csv --label disease\n\n"
    f"Exit codes: 0 the estimate exists, 1 it does not, 2 bad input, 3 undecided, {OF_A_FAULT}",
)
app.command(
    plotting.plot,
    help_epilogue="Example: linsep plot data.csv --label species -o picture.png\n\n"
    f"Exit codes: 0 drawn, 1 there is no bound, 2 bad input, 3 none is known, {OF_A_FAULT}",
)


app.command(caches.cache, help_epilogue=f"Example: linsep cache --clear\n\n{DONE_CODES}")
app.command(exploring.explore, help_epilogue=f"Example: linsep explore data.csv --label species\n\n{DONE_CODES}")


def _bound(learner: "Learner") -> float | None:
    """Novikoff's bound on the updates, where it takes no time to know."""
    from linsep._margin import novikoff
    from linsep.errors import NotSeparableError

    if learner.source.n_rows * learner.source.n_columns > BOUND_ENTRIES:
        return None
    try:
        most = novikoff(learner.source, bias=learner.bias).bound[1]
        return most if isfinite(most) else None
    except NotSeparableError:  # separable by too little for floats
        return None


def _mention_bias(files: Sequence[str], table: "Table", options: Run) -> None:
    from linsep.cli import report

    if options.bias is None and not table.bias:
        report.mention_origin(files[0])


def _model(table: "Table", learner: "Learner", result: Any, options: Run) -> Any:
    from linsep.models import Model, Training

    training = Training(
        rows=learner.source.n_rows,
        mistakes=result.mistakes,
        updates=result.updates,
        passes=result.passes,
        converged=result.converged,
        order=options.order,
        seed=options.seed,
        linsep=__version__,
    )
    return Model(result.halfspace, learner.bias, table.columns, table.label, training)
