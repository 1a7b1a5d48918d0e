"""The commands that prove: decide, margin, verify and mle."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from linsep.cli.options import (
    NOT_SEPARABLE,
    SEPARABLE,
    UNDECIDED,
    Bias,
    Checkpoint,
    File,
    Gap,
    Json,
    Label,
    Progress,
    Proof,
    Reading,
    TimeLimit,
)

if TYPE_CHECKING:
    from linsep._margin import Novikoff
    from linsep.certificates import Verdict
    from linsep.cli.tables import Table
    from linsep.sources.base import Source

CODES = {True: SEPARABLE, False: NOT_SEPARABLE, None: UNDECIDED}


def decide(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    time_limit: TimeLimit = None,
    proof: Proof = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    json: Json = False,
    reading: Reading | None = None,
) -> int:
    """Can a hyperplane separate the two classes? The answer, proved in exact arithmetic.

    It prints the hyperplane, or the few rows that make it impossible.
    """
    from linsep._decide import decide as prove
    from linsep.cli import checkpointing, report, tables, verdicts

    if proof:
        tables.require_folder(proof)
    checkpointing.require_own(checkpoint, *file, proof)
    with tables.about(file):
        table = tables.read(file, label, reading)
        chosen = chosen_bias(file, table, bias)
        with (
            report.searching("Deciding", table.source, wanted=progress) as (rows, watch),
            checkpointing.kept(rows, checkpoint) as kept,
        ):
            work = lambda: prove(kept.source, bias=chosen, time_limit=time_limit, watch=watch)  # noqa: E731
            verdict = _timed(work, table)
    if json:
        report.say_json(verdicts.as_json(verdict))
    else:
        verdicts.show(verdict, verdicts.Subject(table))
    _keep(verdict, proof, file, label, table)
    kept.finish(is_settled=verdict.separable is not None)
    return CODES[verdict.separable]


def margin(
    *file: File,
    label: Label = None,
    gap: Gap = 1e-6,
    time_limit: TimeLimit = None,
    proof: Proof = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    json: Json = False,
    reading: Reading | None = None,
) -> int:
    """The largest margin of any hyperplane, the rows that limit it, and the Perceptron's mistake bound.

    The bias is free, for the examples too.
    """
    from linsep._margin import max_margin
    from linsep.cli import checkpointing, report, tables, verdicts

    if proof:
        tables.require_folder(proof)
    checkpointing.require_own(checkpoint, *file, proof)
    with tables.about(file):
        table = tables.read(file, label, reading)
        with (
            report.searching("Widening", table.source, wanted=progress) as (rows, watch),
            checkpointing.kept(rows, checkpoint) as kept,
        ):
            work = lambda: max_margin(kept.source, gap=gap, time_limit=time_limit, watch=watch)  # noqa: E731
            verdict = _timed(work, table)
            bound = _bound(kept.source, gap, time_limit) if verdict.separable else None
    if json:
        report.say_json(verdicts.as_json(verdict, bound))
    else:
        verdicts.show(verdict, verdicts.Subject(table), bound)
    _keep(verdict, proof, file, label, table)
    kept.finish(is_settled=verdict.separable is not None)
    return CODES[verdict.separable]


def verify(
    proof: Annotated[str, Parameter(help="A proof written by linsep decide --proof.")],
    /,
    *file: File,
    label: Label = None,
    reading: Reading | None = None,
    json: Json = False,
) -> int:
    """Check a written proof against the data, in exact arithmetic and without the solver.

    Without --label the label column is the one named in the proof, else the last.
    """
    from linsep.certificates import Undecided
    from linsep.cli import proofs, report, tables, verdicts
    from linsep.errors import CertificateError

    verdict = proofs.load(proof)
    with tables.about(file):
        try:
            table = tables.read(file, proofs.label_column(verdict, file, label), reading, verdict)
            proofs.require_names(verdict, table, proof, file)
            with report.waiting("Checking"):
                verdict.verify(table.source)
        except CertificateError as error:
            return _checked(NOT_SEPARABLE, "refuted", str(error), "red", json)
    if isinstance(verdict, Undecided):
        return _checked(UNDECIDED, "undecided", f"{proof} claims nothing. Its reason: {verdict.reason}", "yellow", json)
    found = f"{verdicts.TITLES[verdict.kind]}, {report.count(verdict.n_rows, 'row')} of {tables.named(file)}."
    return _checked(SEPARABLE, "verified", found, "green", json)


def _checked(code: int, answer: str, text: str, style: str, json: bool) -> int:
    from linsep.cli import report

    if json:
        report.say_json({"answer": answer, "message": text})
    else:
        report.say(f"{answer.upper()}: {text}", style)
    return code


def mle(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    time_limit: TimeLimit = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
    json: Json = False,
    reading: Reading | None = None,
) -> int:
    """Does the maximum likelihood estimate of a logistic regression exist? If not, which coefficients diverge.

    The intercept is the bias.
    """
    import linsep
    from linsep.cli import checkpointing, coefficients, report, tables, verdicts

    checkpointing.require_own(checkpoint, *file)
    with tables.about(file):
        table = tables.read(file, label, reading)
        chosen = chosen_bias(file, table, bias)
        with (
            report.searching("Deciding", table.source, wanted=progress) as (rows, watch),
            checkpointing.kept(rows, checkpoint) as kept,
        ):
            found = linsep.mle_exists(kept.source, names=table.columns, bias=chosen, time_limit=time_limit, watch=watch)
    if json:
        report.say_json(coefficients.as_json(found))
    else:
        coefficients.show(found, verdicts.Subject(table))
    kept.finish(is_settled=found.exists is not None)
    return CODES[found.exists]


def chosen_bias(files: Sequence[str], table: "Table", bias: bool | None) -> bool:
    """The bias asked for, else that of the lecture which the data are from."""
    from linsep.cli import report

    if bias is None and not table.bias:
        report.mention_origin(files[0])
    return table.bias if bias is None else bias


def _bound(source: "Source", gap: float, time_limit: float | None) -> "Novikoff | None":
    """Novikoff's bound, unless the time or the doubles end before it is certain."""
    from linsep._margin import novikoff
    from linsep.errors import NotSeparableError

    try:
        return novikoff(source, gap=gap, time_limit=time_limit)
    except NotSeparableError:
        return None


def _timed(work: "Callable[[], Any]", table: "Table") -> "Verdict":
    """The verdict, with the time that its check took counted in and the names of the file."""
    from linsep.cli import proofs

    started = time.perf_counter()
    verdict = work()
    return proofs.signed(verdict, table, time.perf_counter() - started)


def _keep(verdict: "Verdict", proof: str | None, files: Sequence[str], label: str | None, table: "Table") -> None:
    """Write the proof where it is asked for, and say how it is checked."""
    from linsep import sealed
    from linsep.cli import proofs, report

    if proof is None:
        return
    sealed.write_file(proof, verdict.to_json().encode())
    claims = "It claims nothing." if verdict.separable is None else proofs.how_to_check(proof, files, label, table)
    report.note(f"Proof written to {proof}. {claims}")
