"""`linsep mle`: whether a logistic regression has a maximum likelihood estimate."""

import linsep
from linsep.cli import answers, terminal
from linsep.cli.parameters import CODES, OF_A_FAULT, Asking, Bias, File, Label, Search, app


@app.command(
    help_epilogue="Example: linsep mle data.csv --label disease\n\n"
    f"Exit codes: 0 the estimate exists, 1 it does not, 2 bad input, 3 undecided, {OF_A_FAULT}",
)
def mle(
    *file: File,
    label: Label = None,
    bias: Bias = None,
    search: Search = Search(),
    reading: Asking = Asking(),
) -> int:
    """Does the maximum likelihood estimate of a logistic regression exist? If not, which coefficients diverge.

    The intercept is the bias.
    """
    with answers.Question(file, label, reading, search).asked("Deciding") as (table, data, watch):
        chosen, limit = table.chosen_bias(bias, file[0]), search.time_limit
        found = linsep.mle_exists(*data, names=table.columns, bias=chosen, time_limit=limit, watch=watch)
    if search.json:
        terminal.say_json(found.facts())
    else:
        answers.show(found.report(table.where), found.verdict)
    return CODES[found.exists]
