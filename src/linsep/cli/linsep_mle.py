"""`linsep mle`: whether a regression has a maximum likelihood estimate."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter

import linsep
from linsep import on_files
from linsep.cli import answers, stdio, terminal
from linsep.cli.parameters import CODES, OF_A_FAULT, Asking, Bias, File, Label, Search, app, path, switch
from linsep.errors import LinsepError
from linsep.report import count

Family: TypeAlias = Literal["binomial", "poisson", "multinomial", "ordinal", "conditional", "cox"]
TWO_LABELS = ("binomial", "conditional")


def column(what: str) -> Parameter:
    """An option that names a column of the files."""
    return Parameter(help=f"The column with {what}.", converter=path)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Likelihoods:
    """What the label is, and the columns that are not predictors."""

    family: Annotated[
        Family,
        Parameter(
            help="What the label is: one of two (binomial), a count (poisson), a class (multinomial), a class in order "
            "(ordinal), a case within a stratum (conditional), an event or not (cox)."
        ),
    ] = "binomial"
    trials: Annotated[str | None, column("the number of trials, of which the label counts the successes")] = None
    weights: Annotated[str | None, column("the weights of the rows")] = None
    offset: Annotated[str | None, column("an offset, which changes estimates but not whether they exist")] = None
    strata: Annotated[str | None, column("the strata")] = None
    time: Annotated[str | None, column("the times of a Cox model")] = None
    formula: Annotated[
        str | None,
        Parameter(help='The model, such as "died ~ age + C(site)"; the label is then the outcome.', converter=path),
    ] = None

    @property
    def keywords(self) -> dict[str, str]:
        """The options that were given, for `linsep.mle_exists`."""
        given = {name: value for name, value in asdict(self).items() if value is not None and name != "formula"}
        return {} if given == {"family": "binomial"} else given

    @property
    def columns(self) -> list[str]:
        """The columns that are named."""
        return [name for option, name in self.keywords.items() if option != "family"]

    @property
    def is_told(self) -> bool:
        """Whether a model was given, beyond two labels and the columns as they are."""
        return bool(self.keywords) or self.formula is not None

    @property
    def takes_any_labels(self) -> bool:
        """Whether the number of labels may differ from two."""
        is_counted = self.trials is not None or (self.formula or "").lstrip().startswith(("cbind", "Surv"))
        return self.family not in TWO_LABELS or is_counted


@app.command(
    help_epilogue="Example: linsep mle data.csv --label disease\n\n"
    f"Exit codes: 0 the estimate exists, 1 it does not, 2 bad input, 3 undecided, {OF_A_FAULT}",
)
def mle(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    model: Likelihoods = Likelihoods(),
    firth: Annotated[bool, switch("Show Firth's estimates, and limits of the usual ones (binomial, poisson).")] = False,
    search: Search = Search(),
    reading: Asking = Asking(),
) -> int:
    """Does the maximum likelihood estimate of a regression exist? If not, which coefficients diverge.

    The intercept is the bias. Text columns are compared with their first category, unless --categories says otherwise.
    """
    any_labels, formula = model.takes_any_labels, model.formula
    if reading.categories is None and not reading.is_elsewhere and formula is None:
        reading = replace(reading, categories="reference")
    asked = file, label, reading, search
    question = answers.Question(*asked, any_labels=any_labels, formula=formula, aside=model.columns)
    with question.asked("Deciding") as (table, data, watch):
        chosen, limit = table.chosen_bias(bias, file[0]), search.time_limit
        options: dict[str, Any] = {"bias": chosen, "time_limit": limit, "watch": watch, **model.keywords}
        if formula is None:
            found = linsep.mle_exists(*data, names=table.columns, **options)
        else:
            found = linsep.mle_exists(formula, data[0], **options)
        fit, fault = None, None
        try:
            fit = found.firth() if firth and found.exists is not None else None
        except LinsepError as error:  # raised after the rest has been shown
            fault = error
    if search.json:
        terminal.say_json({**found.facts(), **({} if fit is None else {"firth": fit.facts()})})
    else:
        said = found.report(table.where, "--firth" if fit is None else "below")
        size = f"{count(found.n_rows, 'row')}, {count(len(found.states), 'coefficient')}" if model.is_told else ""
        answers.show(said if fit is None else said + fit.report().parts, found.verdict, size)
    if fault is not None:
        stdio.flush()
        with on_files.about(file):
            raise fault
    return CODES[found.exists]
