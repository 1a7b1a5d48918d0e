"""When does a likelihood never fall along a direction? For every family, as rows z with z·w >= 0.

Write η = x·w for the score of a row along w, the intercept included. The likelihood of each of these models is
log-concave, and along w it never falls if and only if

    binomial      η >= 0 where there are successes, η <= 0 where there are failures, whatever the link
    poisson       η = 0 where y > 0, and η <= 0 where y = 0; so too for other counts with a log link
    multinomial   η_c >= η_k for the row's class c and every other class k
    ordinal       threshold c-1 <= η <= threshold c, for the row's class c among those that are in order
    conditional   η of a case >= η of a control, in every stratum
    cox           η of an event >= η of every row that is at risk then; tied events have the same η

So each is the question that `decide` answers, about rows made from the user's. Offsets shift η by an amount that does
not grow with w, and positive weights multiply terms that each must not fall: neither changes the rows. A row of weight
0 is left out.

No number is rounded on the way: a difference of rows that is not a double becomes two doubles, with a column for each.
If a stratum has several cases and several controls, one more column is a threshold between them, instead of all pairs.
In a Cox model the first event of a time must be above the rows that leave before the next event, and above that event:
each row is used once, not once for every event before it. Only the multinomial rows are many: K - 1 for each of the
user's, with K - 1 times as many columns.

A. Albert and J. Anderson (1984) treat binomial and multinomial models, S. Correia, P. Guimarães and T. Zylkin (2019)
log links, C. Geyer (2009) the general theory.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linsep.questions.logistic.likelihoods.asked import Likelihood
from linsep.questions.logistic.likelihoods.compared_rows import conditional, cox
from linsep.questions.logistic.likelihoods.fitted_models import is_model, of_model
from linsep.questions.logistic.likelihoods.formulas import WITH_INTERCEPT, of_formula
from linsep.questions.logistic.likelihoods.observed import (
    INTERCEPT_NAME,
    Extras,
    Family,
    Posed,
    chosen_names,
    is_pair,
    observed,
    require_options,
    series_out,
)
from linsep.questions.logistic.likelihoods.own_rows import binomial, multinomial, ordinal, poisson
from linsep.questions.logistic.likelihoods.uncounted import without_uncounted
from linsep.solvers.scaling import require_columns
from linsep.sources.base import Ints, Source
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import as_given, as_source, is_elsewhere, left_out, rows_given
from linsep.tables import is_on_device, is_sparse, require_index_of
from linsep.tables.categories import Categories, Levels, is_categorical, level_name, levels_of
from linsep.tables.exact_numbers import told_name
from linsep.tables.given_rows import Given, Missing, given
from linsep.tables.handed_over import as_frame, named_in
from linsep.tables.row_ids import without_ids

__all__ = ["INTERCEPT_NAME", "Extras", "Family", "Likelihood", "Posed", "likelihood_of", "pose"]

BYTES_A_COLUMN = 500  # its name, its coefficient and what is found out about it
MAKERS = {
    "binomial": binomial,
    "poisson": poisson,
    "multinomial": multinomial,
    "ordinal": ordinal,
    "conditional": conditional,
    "cox": cox,
}


def pose(
    X: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    family: Family,
    bias: bool,
    options: Extras,
    ids: Any = None,
    categories: Categories = "reference",
    missing: Missing = None,
) -> Posed:
    """A model and its rows: X and y, a formula and a table, or a model of statsmodels."""
    table = y if isinstance(X, str) else X
    ids, options = named_in(table, ids), Extras(*(named_in(table, value) for value in options))
    if isinstance(X, str) or is_model(X):
        posed = Posed(Given(X, y, ids), names, family, bias, options, categories)
        return of_formula(posed, missing) if isinstance(X, str) else of_model(posed, missing)
    require_index_of(X, y, **options._asdict())
    rows = rows_given(X, y, ids, missing, options)
    is_here = not (isinstance(rows.X, Source) or is_on_device(rows.X) or is_elsewhere(rows.X))
    if is_here:
        rows = rows if rows.dropped else given(rows.X, rows.y, rows.ids)
    kept = Extras(*map(rows.only, options, Extras._fields))
    if is_here and (kept.weights is not None or kept.trials is not None or is_pair(rows.y)):
        X, kept = series_out(rows.X, kept) if names is None else (rows.X, kept)
        rows = without_uncounted(rows._replace(X=X), kept)
    aside = {value for value in (rows.ids, *options) if isinstance(value, str)}
    factors = tuple if categories is None else partial(_factors, rows.X, aside)
    return Posed(rows, names, family, bias, kept, categories, _called(rows.X, rows.y), factors)


def _called(X: Any, y: Any) -> str:
    """What the outcome is called: the label column of a source, or the name of a series."""
    name = X.facts.label_column if isinstance(X, Source) else getattr(y, "name", None)
    return (told_name(name) if isinstance(name, (str, tuple)) else "") or "y"


def _factors(X: Any, aside: Set[str]) -> tuple[Levels, ...]:
    """The columns of a dataframe or of files that hold text or categories, without those that are not predictors."""
    if isinstance(X, FileSource):
        return tuple(_levels_in_files(X, aside))
    frame = None if isinstance(X, (Source, np.ndarray, list, tuple)) or is_sparse(X) else as_frame(X)
    own = [] if frame is None else [frame.get_column(name) for name in frame.columns if str(name) not in aside]
    return tuple(levels_of(column, str(column.name), "all") for column in own if is_categorical(column))


def _levels_in_files(source: FileSource, aside: Set[str]) -> Iterator[Levels]:
    """The text columns of files, from the columns of 0 and 1 that they became: one walk over the rows."""
    places = {source.facts.column_name(j): j for j in range(source.n_columns)}
    coded: dict[str, tuple[tuple[str, ...], list[int]]] = {}
    for name, levels in source.categories.items():
        own = [places[made] for made in (level_name(name, level) for level in levels) if made in places]
        if name not in aside and len(own) >= len(levels) - 1:
            coded[name] = levels, own
    parts: dict[str, list[Ints]] = {name: [] for name in coded}
    for block in source.blocks() if coded else ():
        values = block.values.tocsc() if is_sparse(block.values) else block.values
        for name, (levels, own) in coded.items():
            parts[name].append((values[:, own] != 0) @ np.arange(len(levels) - len(own), len(levels)))
    for name, (levels, _) in coded.items():
        yield Levels(name, levels, np.concatenate(parts[name]), "all")


def likelihood_of(posed: Posed) -> Likelihood:
    """The question about a model, made from its data."""
    require_options(posed.family, posed.options)
    posed = posed._replace(bias=posed.bias and posed.family in WITH_INTERCEPT)
    found = _made(posed)
    if posed.rejected:
        found.source.facts = replace(found.source.facts, rows_left_out=posed.rejected)
    return replace(found, outcome=posed.outcome, link=posed.link, factors=posed.factors)


def _made(posed: Posed) -> Likelihood:
    rows, names, family, bias, options, categories, *_ = posed
    X, y, ids, *_ = rows
    is_plain = family == "binomial" and all(value is None for value in options) and posed.labels is None
    if is_plain and not is_pair(y):
        source = left_out(as_source(X, y, decimals=True, ids=ids, categories=categories), rows)
        if rows.names is not None and not rows.dropped:
            source.facts = replace(source.facts, ids=rows.names)
        require_columns(source.n_columns, BYTES_A_COLUMN)
        named = _names(source, names, bias)
        return Likelihood(family, source, named, bias, source.n_rows, ids=rows.names or source.facts.ids)
    own = as_given(X, y, decimals=True, ids=ids).facts.ids if isinstance(X, Source) else None
    X, own = (X, own) if isinstance(X, Source) else without_ids(X, ids, y)
    seen = observed(posed._replace(rows=rows._replace(X=X)))
    if rows.dropped:
        seen = replace(seen, facts=replace(seen.facts, rows_left_out=rows.dropped))
    return replace(MAKERS[family](seen), ids=rows.names if rows.dropped else rows.names or own)


def _names(source: Source, names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    own = [source.facts.column_name(j) for j in range(source.n_columns)]
    return chosen_names(own, names, bias)
