"""A formula and a table as a model: predictors with the names of the formula, outcomes, strata, times and weights.

The columns that the formula names are passed to formulaic as doubles, which must hold them exactly, or as categories;
it computes in doubles, as R does, and its results are exact numbers from there on. A missing value is refused by its
row and column, or its row is dropped if that is asked for; nothing is filled in. The intercept is not a column: it is
part of the model.
"""

import warnings
from collections.abc import Sequence, Set
from functools import partial
from typing import Any

import numpy as np

from linsep.errors import ArgumentError, InexactError, ShapeError, shown
from linsep.faults import fault
from linsep.questions.logistic.likelihoods.formula_words import Formula, read_formula, told_by
from linsep.questions.logistic.likelihoods.observed import INTERCEPT_NAME, Extras, Family, Posed
from linsep.questions.logistic.likelihoods.uncounted import copied_rows, taken
from linsep.sources.base import Array, Source, positions
from linsep.sources.inputs import as_given
from linsep.tables import is_sparse, read_beside, read_labels, require_index_of
from linsep.tables.categories import Levels, is_categorical, kind_of, levels_of, looks_like_ids
from linsep.tables.exact_numbers import are_doubles, plain_numbers
from linsep.tables.given_rows import Given, Missing, gaps_beside, gaps_of_series, require_missing
from linsep.tables.handed_over import as_frame, series_values
from linsep.tables.row_ids import without_ids

WITH_INTERCEPT = ("binomial", "poisson", "multinomial")
MOST_DENSE = 20_000_000  # cells of the predictors; more are kept as a sparse matrix


def of_formula(posed: Posed, missing: Missing = None) -> Posed:
    """The model that a formula, given as X, describes for a table or a source, given as y."""
    import pandas as pd

    (text, data, ids, *_), names, family, bias, options, categories, *_ = posed
    if data is None:
        raise ArgumentError(f"X is text, {shown(text)}, so it is a formula: give the table as the second argument.")
    if names is not None:
        raise ArgumentError("A formula names its columns: leave names out.")
    if categories != "reference":
        raise ArgumentError("A formula encodes its categories itself, as in C(site, contr.sum): leave categories out.")
    require_missing(missing)
    row_ids = as_given(data, ids=ids).facts.ids if isinstance(data, Source) else None
    require_index_of(data, None, **options._asdict())
    frame = _frame(data)
    if row_ids is None:
        native, row_ids = without_ids(frame.to_native(), ids)
        frame = as_frame(native)
    aside = [value for value in options if isinstance(value, str)]
    formula = read_formula(text, [str(name) for name in frame.columns], aside)
    family = "cox" if formula.outcome_kind == "Surv" and family == "binomial" else family  # the default
    options = _with_formula(options, formula, family)
    kept = _rows_without_gaps(frame, formula, options, missing)
    left_out = len(frame) - int(np.count_nonzero(kept))
    if left_out:
        frame = frame.filter(kept.tolist())
    own = {str(name): frame.get_column(name) for name in frame.columns}
    y, found = _outcome(formula, own, options, frame), _values(options, own, kept)
    copied = copied_rows(frame, found, y)
    if copied is not None:
        frame = as_frame(taken(frame, copied))
        own = {str(name): frame.get_column(name) for name in frame.columns}
    table, factors = _columns(formula, own, frame)
    has_intercept = formula.has_intercept and family in WITH_INTERCEPT
    if has_intercept and not bias:
        raise ArgumentError("bias=False, but the formula has an intercept: write 0 + in the formula instead.")
    X, columns = _predictors(formula, table, factors)
    if not columns and not has_intercept:
        raise ArgumentError(
            f"The formula {shown(formula.text)} has no coefficient.", fix="Name a predictor after the ~."
        )
    if not columns and (constant := [factor.name for factor in factors if len(factor.levels) == 1]):
        raise fault("one level", column=constant[0], fix="The model of an intercept alone is written ~ 1.")
    if not columns:  # of an intercept alone, which is a column of ones
        X, columns, bias = pd.DataFrame({INTERCEPT_NAME: np.ones(len(frame))}, table.index), (INTERCEPT_NAME,), False
    if formula.offsets:
        found = found._replace(offset=_offset(formula, table))
    is_biased = formula.has_intercept and bias
    which = np.flatnonzero(kept) if left_out else None
    rows = Given(X, y, None, which, left_out, row_ids, copied)
    made = Posed(rows, columns, family, is_biased, found, None, formula.outcome[-1], partial(tuple, factors))
    if not isinstance(data, Source):
        return made
    return made._replace(rejected=data.facts.rows_left_out, labels=data.facts.labels)


def _with_formula(options: Extras, formula: Formula, family: Family) -> Extras:
    """The options, with what the formula says about strata, times and counts."""
    given = options
    if formula.strata is not None:
        if options.strata is not None:
            raise ArgumentError("The formula has strata(...), and strata= is given too: leave one of them out.")
        given = given._replace(strata=formula.strata)
    if formula.offsets and options.offset is not None:
        raise ArgumentError("The formula has offset(...), and offset= is given too: leave one of them out.")
    if formula.outcome_kind == "Surv":
        if family != "cox" or options.time is not None:
            raise ArgumentError(
                "Surv(time, event) is the outcome of a Cox model.",
                fix="Leave family= (--family) and time= (--time) out.",
            )
        given = given._replace(time=formula.outcome[0])
    if formula.outcome_kind == "cbind" and (family != "binomial" or options.trials is not None):
        raise ArgumentError("cbind(successes, failures) is for family='binomial', without trials=.")
    return given


# ---------------------------------------------------------------------------------------------------
# The table
# ---------------------------------------------------------------------------------------------------


def _frame(data: Any) -> Any:
    """The table as a narwhals dataframe."""
    frame = as_frame(_of_source(data) if isinstance(data, Source) else data)
    if frame is None:
        raise ShapeError(
            f"A formula refers to columns by name, but the table is a {type(data).__name__}.",
            fix="Give a dataframe, an Arrow table or a source.",
        )
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ShapeError(f"Two columns are called {twice!r}.", fix="Rename one of them.")
    if not len(frame):
        raise ShapeError("The table has no rows.")
    return frame


def _of_source(source: Source) -> Any:
    """The rows of a source as a table: columns that were made from categories are joined into categories again."""
    import pandas as pd

    if source.facts.scales is not None:
        raise ArgumentError("A formula is computed in doubles, but these are decimals.", fix="Leave numbers= out.")
    block = source.take(np.arange(source.n_rows))
    values = block.values.toarray() if is_sparse(block.values) else block.values
    columns = {source.facts.column_name(j): _whole(values[:, j]) for j in range(source.n_columns)}
    for stem, names in _groups(columns).items():
        codes = np.column_stack([columns.pop(name) for name in names])
        levels = [name[len(stem) + 1 : -1] for name in names]
        columns[stem] = pd.Categorical.from_codes(codes.argmax(axis=1), levels)
    label = source.facts.label_column
    levels_of_y = np.array(source.facts.labels, dtype=object)
    codes_of_y = positions(block.y, len(levels_of_y)) if len(levels_of_y) > 1 else np.zeros(len(block.y), np.int64)
    columns[label if isinstance(label, str) else "y"] = read_labels(levels_of_y[codes_of_y].tolist())
    return pd.DataFrame(columns)


def _whole(column: Array) -> Array:
    """Doubles that are whole numbers as integers, so that their levels are called 2 and not 2.0."""
    is_whole = column.dtype.kind == "f" and bool((np.floor(column) == column).all() and (np.abs(column) < 2**53).all())
    return column.astype(np.int64) if is_whole else column


def _groups(columns: dict[str, Array]) -> dict[str, list[str]]:
    """Columns that were made from one category: called stem[level], exactly one of them 1 in each row."""
    found: dict[str, list[str]] = {}
    for name in columns:
        stem, sign, rest = name.partition("[")
        if sign and rest.endswith("]") and stem not in columns:
            found.setdefault(stem, []).append(name)
    return {stem: names for stem, names in found.items() if _is_one_hot([columns[name] for name in names])}


def _is_one_hot(columns: list[Array]) -> bool:
    table = np.column_stack(columns)
    return bool(np.isin(table, (0, 1)).all() and (table.sum(axis=1) == 1).all())


def _rows_without_gaps(frame: Any, formula: Formula, options: Extras, missing: Missing) -> Array:
    """Which rows have no gap in the columns used: all of them, unless rows with gaps may be dropped."""
    used = [*formula.outcome, *formula.columns, *(value for value in options if isinstance(value, str))]
    kept = np.ones(len(frame), np.bool_)
    for name in frame.columns:
        if str(name) not in used:
            continue
        gaps = gaps_of_series(frame.get_column(name))
        if missing is None and gaps.any():
            raise fault("missing", row=int(np.argmax(gaps)), column=str(name))
        kept &= ~gaps
    for option, value in options._asdict().items():
        if isinstance(value, str) and value not in map(str, frame.columns):
            raise ArgumentError(f"{option}={value!r}: the table has no column of that name.")
        if missing is not None:
            kept &= ~gaps_beside(value, len(frame))
    if not kept.any():
        raise ArgumentError("No row is left: each has a missing value.")
    return kept


def _columns(formula: Formula, own: dict[str, Any], frame: Any) -> tuple[Any, tuple[Levels, ...]]:
    """The columns for formulaic: doubles and categories; columns that are only in C(...) as they are."""
    import pandas as pd

    columns: dict[str, Any] = {}
    factors = []
    for name in formula.columns:
        series = own[name]
        is_boolean = _is_boolean(series)
        if is_boolean or is_categorical(series):
            factors.append(levels_of(series, name, "all"))
            columns[name] = pd.Categorical.from_codes(factors[-1].codes, list(factors[-1].levels))
        if is_boolean and name in formula.computed:
            columns[name] = columns[name].astype(bool).astype(np.float64)
        if name in columns:
            continue
        _require_numbers(series, name)
        values = plain_numbers(series_values(series))
        if name in formula.coded:
            levels, codes = np.unique(values, return_inverse=True)
            factors.append(Levels(name, tuple(levels.tolist()), codes.ravel(), "all"))
            columns[name] = values
        else:
            columns[name] = _doubles(values, name)
    native = frame.to_native()
    index = native.index if isinstance(native, pd.DataFrame) else None
    return pd.DataFrame(columns, index=index if columns else range(len(frame))), tuple(factors)


def _is_boolean(series: Any) -> bool:
    """Whether a narwhals series holds True and False alone: such a column is a category, as in R."""
    import narwhals as nw

    kind = kind_of(series)
    return bool(kind == nw.Boolean or (kind in (nw.Object, nw.Unknown) and set(map(type, series.to_list())) == {bool}))


def _require_numbers(series: Any, name: str) -> None:
    import narwhals as nw

    kind = kind_of(series)
    if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown)):
        raise fault("column type", column=name, seen=kind, example="")


def _doubles(values: Array, name: str) -> Array:
    """Numbers as doubles, nothing rounded."""
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype == object or not are_doubles(values).all():
        raise InexactError(
            f"Column {name!r} has numbers that are not doubles, but a formula is computed in doubles.",
            fix="Give X and y without a formula, or round the column first.",
        )
    return values.astype(np.float64)


# ---------------------------------------------------------------------------------------------------
# What formulaic computes
# ---------------------------------------------------------------------------------------------------


def _predictors(formula: Formula, table: Any, factors: tuple[Levels, ...]) -> tuple[Any, tuple[str, ...]]:
    """The predictors and their names, without the intercept, which is part of the model."""
    _require_no_ids(formula, factors, len(table))
    is_large = len(table) * _width(formula, factors) > MOST_DENSE
    booleans = {factor.name for factor in factors if table[factor.name].dtype == np.float64}
    made = _evaluated(formula.terms, table, "sparse" if is_large else "pandas", booleans)
    names = [str(name) for name in made.model_spec.column_names]
    kept = [j for j, name in enumerate(names) if not (formula.has_intercept and j == 0 and name == "Intercept")]
    X = made.__wrapped__.tocsr()[:, kept] if is_large else made.__wrapped__.iloc[:, kept]
    return X, tuple(names[j] for j in kept)


def _evaluated(terms: Sequence[Any], table: Any, output: str, booleans: Set[str] = frozenset()) -> Any:
    """The model matrix. What formulaic only warns about, such as levels that the data do not have, is refused."""
    import formulaic
    from formulaic.errors import DataMismatchWarning, FormulaicError
    from formulaic.materializers import PandasMaterializer
    from interface_meta import override

    class AsInR(PandasMaterializer):  # type: ignore[misc]
        """Columns of booleans are categories where they stand alone, and so are conditions such as I(age > 60)."""

        @override
        def _lookup(self, name: str) -> tuple[Any, Any]:
            values, variables = super()._lookup(name)
            return values.astype(bool) if name in booleans else values, variables

        @override
        def _is_categorical(self, values: Any) -> bool:
            return getattr(values, "dtype", None) == np.bool_ or bool(super()._is_categorical(values))

    functions = {name: getattr(np, name) for name in ("sqrt", "log1p", "expm1")}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DataMismatchWarning)
            spec = formulaic.Formula(list(terms), _ordering="none")
            made = AsInR(table, functions)
            return made.get_model_matrix(spec, na_action="ignore", output=output)
    except (FormulaicError, DataMismatchWarning, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArgumentError(f"The formula cannot be computed: {told_by(error)}") from None


def _width(formula: Formula, factors: tuple[Levels, ...]) -> int:
    """About how many columns there will be."""
    levels = {factor.name: len(factor.levels) for factor in factors}
    return sum(
        int(np.prod([max((n for name, n in levels.items() if name in f.expr), default=1) for f in term.factors]))
        for term in formula.terms
    )


def _require_no_ids(formula: Formula, factors: tuple[Levels, ...], n_rows: int) -> None:
    """Refuse a column that a dot stands for and that looks like ids: nobody asked for it."""
    for factor in factors:
        if factor.name not in formula.text and looks_like_ids(len(factor.levels), n_rows):
            raise ArgumentError(
                f"Column {factor.name!r}, which . stands for, has {len(factor.levels):,} levels in {n_rows:,} rows: "
                "it names rows.",
                fix=f"Take it out (. - {factor.name}), or name the columns.",
            )


def _offset(formula: Formula, table: Any) -> Array:
    """The sum of the offsets."""
    import formulaic

    total = np.zeros(len(table))
    for text in formula.offsets:
        terms = list(formulaic.Formula(f"0 + {{{text}}}"))
        made = np.asarray(_evaluated(terms, table, "numpy").__wrapped__, np.float64)
        if made.shape != (len(table), 1):
            raise ArgumentError(f"offset({text}) is not one number for each row.")
        total += made[:, 0]
    return total


def _outcome(formula: Formula, own: dict[str, Any], options: Extras, frame: Any) -> Any:
    """The outcome, as `mle_exists` takes it."""
    if formula.outcome_kind == "cbind":
        return frame.select(*(own[name].name for name in formula.outcome)).to_native()
    series = own[formula.outcome[-1]]
    return series.to_native()


def _values(options: Extras, own: dict[str, Any], kept: Array) -> Extras:
    """The options as a value for each row that is left."""
    found, n_kept = dict[str, Any](), int(np.count_nonzero(kept))
    rows = Given(None, None, kept=np.flatnonzero(kept), dropped=len(kept) - n_kept)
    for option, given in options._asdict().items():
        if isinstance(given, str):
            found[option] = own[given].to_native()
        elif given is not None:
            with rows.numbered():
                found[option] = read_beside(rows.only(given, option), option, n_kept)
    return Extras(**found)
