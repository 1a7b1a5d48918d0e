"""When does a likelihood never fall along a direction? For every family, as rows z with z·w >= 0.

Write η = x·w for the score of a row along w, the intercept included. The likelihood of each of these models is
log-concave, and along w it never falls if and only if

    binomial      η >= 0 where there are successes, η <= 0 where there are failures, whatever the link
    poisson       η = 0 where y > 0, and η <= 0 where y = 0; so too for other counts with a log link
    multinomial   η_c >= η_k for the row's class c and every other class k
    ordinal       threshold c-1 <= η <= threshold c, for the row's class c among those that are in order
    conditional   η of a case >= η of a control, in every stratum
    cox           η of an event >= η of every row that is at risk then; tied events have the same η

So each is the question that `decide` answers, about rows made from the user's. Offsets shift η by what does not grow
with w, and positive weights multiply terms that each must not fall: neither changes the rows. A row of weight 0 is
left out.

No number is rounded on the way: a difference of rows that no double is, is two doubles, with a column for each. Where
several cases meet several controls, one more column stands for a threshold between them, instead of all pairs. In a
Cox model the first event of a time stands above the rows that leave before the next one, and above the next one: each
row takes part once, not once for every event before it. Only the multinomial rows are many: K - 1 for each of the
user's, of K - 1 times as many columns.

A. Albert and J. Anderson (1984) have binomial and multinomial, S. Correia, P. Guimarães and T. Zylkin (2019) log links,
C. Geyer (2009) the theory.
"""

from collections.abc import Sequence
from dataclasses import replace

from linsep.likelihoods.asked import Likelihood
from linsep.likelihoods.compared_rows import conditional, cox
from linsep.likelihoods.observed import INTERCEPT_NAME, Extras, Family, chosen_names, is_pair, observed, require_options
from linsep.likelihoods.own_rows import binomial, multinomial, ordinal, poisson
from linsep.solvers.scaling import require_columns
from linsep.sources.base import Source
from linsep.sources.inputs import as_given, as_source, is_elsewhere, left_out
from linsep.tables import is_on_device
from linsep.tables.categories import Categories
from linsep.tables.given_rows import Given, given
from linsep.tables.row_ids import without_ids

__all__ = ["INTERCEPT_NAME", "Extras", "Family", "Likelihood", "likelihood_of"]

BYTES_A_COLUMN = 500  # its name, its coefficient and what is found out about it
MAKERS = {
    "binomial": binomial,
    "poisson": poisson,
    "multinomial": multinomial,
    "ordinal": ordinal,
    "conditional": conditional,
    "cox": cox,
}


def likelihood_of(
    rows: Given, names: Sequence[str] | None, *, family: Family, bias: bool, options: Extras, categories: Categories
) -> Likelihood:
    """The question about a model, made from its data; `categories` says how text columns are coded."""
    if not (isinstance(rows.X, Source) or is_on_device(rows.X) or is_elsewhere(rows.X)):
        rows = rows if rows.dropped else given(rows.X, rows.y, rows.ids)
    X, y, ids, *_ = rows
    require_options(family, options)
    bias = bias and family in ("binomial", "poisson", "multinomial")
    is_plain = family == "binomial" and options.trials is None and options.weights is None and not is_pair(y)
    if is_plain and options.offset is None:
        source = left_out(as_source(X, y, decimals=True, ids=ids, categories=categories), rows)
        require_columns(source.n_columns, BYTES_A_COLUMN)
        named = _names(source, names, bias)
        return Likelihood(family, source, named, bias, source.n_rows, ids=rows.names or source.facts.ids)
    own = as_given(X, y, decimals=True, ids=ids).facts.ids if isinstance(X, Source) else None
    X, own = (X, own) if isinstance(X, Source) else without_ids(X, ids, y)
    seen = observed(X, y, names, family=family, bias=bias, options=options, categories=categories)
    if rows.dropped:
        seen, own = replace(seen, facts=replace(seen.facts, rows_left_out=rows.dropped)), rows.names
    return replace(MAKERS[family](seen), ids=own)


def _names(source: Source, names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    own = [source.facts.column_name(j) for j in range(source.n_columns)]
    return chosen_names(own, names, bias)
