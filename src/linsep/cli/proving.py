"""The commands that prove: decide, margin, verify and mle."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from linsep.cli import stdio
from linsep.cli.options import (
    NOT_SEPARABLE,
    SEPARABLE,
    UNDECIDED,
    Bias,
    Checking,
    Deciding,
    File,
    Gap,
    Json,
    Label,
    Learning,
    Proof,
    Reading,
    Search,
    path,
    rejects,
)

if TYPE_CHECKING:
    from linsep._margin import Novikoff
    from linsep.certificates import Verdict
    from linsep.cli.tables import Table
    from linsep.solvers.clock import Clock
    from linsep.sources.base import Source

CODES = {True: SEPARABLE, False: NOT_SEPARABLE, None: UNDECIDED}


class Asked(NamedTuple):
    """Rows about which a question is put: how their file has them, and as the search reads them."""

    table: "Table"
    source: "Source"
    watch: "Callable[[Clock], None] | None"


def decide(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    proof: Proof = None,
    search: Search | None = None,
    reading: Deciding | None = None,
) -> int:
    """Can a hyperplane separate the two classes? The answer, proved in exact arithmetic.

    It prints the hyperplane, or the few rows that make it impossible.
    """
    from linsep._decide import decide as prove

    how = search or Search()
    with _asked("Deciding", file, label, reading, how, proof) as (table, source, watch):
        chosen = chosen_bias(file, table, bias)
        work = lambda: prove(source, bias=chosen, time_limit=how.time_limit, watch=watch)  # noqa: E731
        verdict = _timed(work, table)
    return _told(verdict, table, how, None, _Written(proof, file, label, reading or Reading()))


def margin(
    *file: File,
    label: Label = None,
    gap: Gap = 1e-6,
    proof: Proof = None,
    search: Search | None = None,
    reading: Learning | None = None,
) -> int:
    """The largest margin of any hyperplane, the rows that limit it, and the Perceptron's mistake bound.

    The bias is free, for the examples too.
    """
    from linsep._margin import max_margin

    how = search or Search()
    with _asked("Widening", file, label, reading, how, proof) as (table, source, watch):
        work = lambda: max_margin(source, gap=gap, time_limit=how.time_limit, watch=watch)  # noqa: E731
        verdict = _timed(work, table)
        bound = _bound(source, gap, how.time_limit) if verdict.separable else None
    return _told(verdict, table, how, bound, _Written(proof, file, label, reading or Reading()))


def verify(
    proof: Annotated[str, Parameter(help="A proof written by linsep decide --proof.", converter=path)],
    /,
    *file: File,
    label: Label = None,
    bias: Annotated[bool | None, Parameter(help="Refuse a proof without, or with, bias.")] = None,
    json: Json = False,
    reading: Checking | None = None,
) -> int:
    """Check a written proof against the data, in exact arithmetic and without the solver.

    Without --label the label column is the one named in the proof, else the last. It says what was verified: which
    rows, columns and labels, with or without bias. An option that disagrees with the proof is an error.
    """
    from linsep.certificates import Undecided
    from linsep.cli import proofs, report, tables
    from linsep.errors import CertificateError

    how = reading or Checking()
    tables.require_name(proof, "a proof")
    tables.require_outputs([proof, *file], {"--reject": rejects(reading)})
    verdict = proofs.load(proof)
    proofs.require_agreement(verdict, proof, bias, how)
    with tables.about(file):
        try:
            column = proofs.label_column(verdict, file, label)
            table = tables.read(file, column, how, verdict, says_label=label is not None)
            proofs.require_same_table(verdict, table, proof, file, how)
            with report.waiting("Checking"):
                verdict.verify(table.source)
        except CertificateError as error:
            return _checked(NOT_SEPARABLE, "refuted", f"{error}{proofs.advice(verdict, how)}", "red", json)
    if isinstance(verdict, Undecided):
        return _checked(UNDECIDED, "undecided", f"{proof} claims nothing. Its reason: {verdict.reason}", "yellow", json)
    claim, about = proofs.statement(verdict, table, file, how)
    code = _checked(SEPARABLE, "verified", claim, "green", json, proofs.facts(verdict, table, how))
    for name, text in about.items() if not json else ():
        report.say(f"{name:<9}{text}")
    return code


def _checked(code: int, answer: str, text: str, style: str, json: bool, facts: "dict[str, Any] | None" = None) -> int:
    from linsep.cli import report

    if json:
        report.say_json({"answer": answer, "message": text, **(facts or {})})
    else:
        report.say(f"{answer.upper()}: {text}", style)
    return code


def mle(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    search: Search | None = None,
    reading: Learning | None = None,
) -> int:
    """Does the maximum likelihood estimate of a logistic regression exist? If not, which coefficients diverge.

    The intercept is the bias.
    """
    import linsep
    from linsep.cli import report, verdicts

    how = search or Search()
    with _asked("Deciding", file, label, reading, how) as (table, source, watch):
        chosen, limit = chosen_bias(file, table, bias), how.time_limit
        found = linsep.mle_exists(source, names=table.columns, bias=chosen, time_limit=limit, watch=watch)
    if how.json:
        report.say_json(verdicts.estimates_as_json(found))
    else:
        verdicts.show_estimates(found, table)
    return CODES[found.exists]


@contextmanager
def _asked(
    what: str,
    files: Sequence[str],
    label: str | None,
    reading: Reading | None,
    how: Search,
    proof: str | None = None,
) -> Iterator[Asked]:
    """The rows of files while a question about them is worked on, with progress."""
    from linsep.cli import report, tables

    tables.require_outputs(files, {"--proof": proof, "--reject": rejects(reading)})
    with tables.about(files):
        table = tables.read(files, label, reading)
        with report.searching(what, table.source, wanted=how.progress) as (source, watch):
            yield Asked(table, source, watch)


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


class _Written(NamedTuple):
    """Where the proof goes, and what it is about."""

    proof: str | None
    files: Sequence[str]
    label: str | None
    reading: Reading


def _told(verdict: "Verdict", table: "Table", how: Search, bound: "Novikoff | None", written: _Written) -> int:
    """Report the verdict, write its proof where that is asked for, and say how it is checked; the exit code."""
    from linsep.cli import proofs, report, verdicts
    from linsep.outputs import write_file

    if written.proof is not None:
        write_file(written.proof, verdict.to_json().encode())
    if how.json:
        report.say_json(verdicts.as_json(verdict, bound))
    else:
        verdicts.show(verdict, table, bound)
    stdio.flush()
    if written.proof is not None:
        claims = "It claims nothing."
        if verdict.separable is not None:
            claims = proofs.how_to_check(written.proof, written.files, written.label, table, written.reading)
        report.note(f"Proof written to {written.proof}. {claims}")
    return CODES[verdict.separable]
