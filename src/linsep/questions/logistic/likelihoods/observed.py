"""What the user gave: predictors as exact numbers, outcomes as the family needs them, a value of each option."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from linsep.errors import ArgumentError, shown
from linsep.sources.base import Array, Facts, Floats, Ints, Label, Numbers, Signs, Source, integer_bits, positions
from linsep.sources.files.source import FileSource
from linsep.sources.inputs import as_signs, as_table
from linsep.sources.memory import MemorySource
from linsep.tables import is_long, is_sparse, read_beside, read_exact, read_labels, require_finite, require_one_index
from linsep.tables.categories import Categories, Levels, level_name, require_categories
from linsep.tables.given_rows import Given
from linsep.tables.handed_over import as_frame
from linsep.tables.label_values import distinct, order_of

Family: TypeAlias = Literal["binomial", "poisson", "multinomial", "ordinal", "conditional", "cox"]
FAMILIES: tuple[Family, ...] = get_args(Family)
INTERCEPT_NAME = "(Intercept)"
SIDES = ("<= 0", ">= 0")  # the labels of derived rows: what their score must be
HALF = 2**62  # differences of smaller integers fit into 64 bits


class Extras(NamedTuple):
    """What a model needs besides X and y: values for each row, or the name of the column of X that holds them."""

    trials: Any = None
    weights: Any = None
    offset: Any = None
    strata: Any = None
    time: Any = None


Factors: TypeAlias = Callable[[], tuple[Levels, ...]]


class Posed(NamedTuple):
    """A model, as the options of `mle_exists`, and what else is known about it."""

    rows: Given
    names: Sequence[str] | None
    family: Family
    bias: bool
    options: Extras
    categories: Categories = None
    outcome: str = "y"  # what y is called
    factors: Factors = tuple  # returns the columns of categories
    rejected: int = 0  # rows of files
    link: str = ""  # if it is not the logarithm or the logit
    labels: tuple[Label, ...] | None = None  # of y, the positive one last, if that is not the larger


NEEDED = {"conditional": ("strata",), "cox": ("time",)}
TAKEN = {
    "binomial": ("trials",),
    "conditional": ("strata",),
    "cox": ("time", "strata"),
}


@dataclass(frozen=True, slots=True)
class Observed:
    """The user's rows: the numbers as they are, the outcomes, and the columns that are not predictors."""

    family: Family
    values: Any
    names: tuple[str, ...]
    bias: bool
    y: Array
    facts: Facts
    options: Extras
    counts: tuple[Floats, Floats] | None = None  # successes and failures
    levels: tuple[Label, ...] = ()  # the classes in order

    @property
    def n_rows(self) -> int:
        """How many rows the user has."""
        return int(self.values.shape[0])

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """The rows that count: those whose weight is not 0, and that have a trial."""
        weights, counts = self.options.weights, self.counts
        weighty = np.ones(self.n_rows, np.bool_) if weights is None else np.asarray(weights > 0)
        return weighty if counts is None else np.asarray(weighty & (counts[0] + counts[1] > 0))

    def scales(self, ones: int, copies: int = 1, each: int = 0) -> tuple[int, ...] | None:
        """The scales after `ones` columns were added at the front, and `each` before every copy of the user's."""
        own = self.facts.scales
        return None if own is None else (1,) * ones + ((1,) * each + own) * copies

    def source(self, values: Any, signs: Signs, scales: tuple[int, ...] | None, labels: Any = SIDES) -> MemorySource:
        """Rows made from the user's, as a source."""
        table = as_table(values)
        bits = integer_bits(table)
        is_whole = scales is not None or (bits is not None and is_long(table[0]))
        is_decimal = self.facts.numbers == "decimal"
        numbers: Numbers = "decimal" if is_decimal else "exact-integers" if is_whole else "binary64"
        facts = Facts(len(signs), values.shape[1], labels, numbers=numbers, scales=scales, integer_bits=bits)
        return MemorySource(table, signs, replace(facts, rows_left_out=self.facts.rows_left_out))


def require_options(family: str, options: Extras) -> None:
    """Refuse an unknown family, a missing option that it needs, and an option that it does not use."""
    if family not in FAMILIES:
        raise ArgumentError(f"family is {shown(family)}: choose one of {', '.join(FAMILIES)}.")
    for name in NEEDED.get(family, ()):
        if getattr(options, name) is None:
            raise ArgumentError(f"family={family!r} needs {name}=: a value for each row, or the name of a column of X.")
    taken = (*TAKEN.get(family, ()), "weights", "offset")
    for name, value in options._asdict().items():
        if value is not None and name not in taken:
            raise ArgumentError(f"{name}= has no meaning for family={family!r}: leave it out.")


def is_pair(y: Any) -> bool:
    """Whether y is a table of two columns: successes and failures."""
    if y is None or isinstance(y, str):
        return False
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple, np.ndarray)):
        shape = (len(y), len(y[0]))
    return shape is not None and len(shape) == 2 and shape[1] == 2


def chosen_names(own: Sequence[str], names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    """The names of the columns, which must be different."""
    chosen = list(own) if names is None else list(map(str, names))
    if len(chosen) != len(own):
        raise ArgumentError(f"{len(chosen)} names for {len(own)} columns: give one for each.")
    if bias and INTERCEPT_NAME in chosen:
        raise ArgumentError(f"A column is called {INTERCEPT_NAME!r}: pass bias=False, or give it another name.")
    repeated = sorted({name for name in chosen if chosen.count(name) > 1}) if len(set(chosen)) < len(chosen) else []
    if repeated:
        times = chosen.count(repeated[0])
        raise ArgumentError(f"{times} columns are called {repeated[0]!r}: each needs a name of its own.")
    return tuple(chosen)


def observed(posed: Posed) -> Observed:
    """The user's rows, each option a value for each of them."""
    (X, y, *_), names, family, bias, options, categories, *_ = posed
    if names is None and not isinstance(X, Source):
        X, options = series_out(X, options)
    values, own, facts, labels = _table(X, y, categories)
    chosen = chosen_names(own, names, bias)
    coded = X.categories if isinstance(X, FileSource) else {}
    values, chosen, facts, options = _columns_out(values, chosen, facts, options, coded, posed.outcome)
    if values.dtype.kind != "f":
        values = _signed(values)
    elif values.dtype != np.float64:
        values = values.astype(np.float64)
    seen = Observed(family, values, chosen, bias, labels, facts, options)
    known = X.facts.labels if isinstance(X, Source) else posed.labels
    seen = _outcomes(seen, None if is_pair(y) else order_of(y), known, posed.outcome)
    return _without_empty_levels(seen, coded)


def _without_empty_levels(seen: Observed, coded: Mapping[str, Sequence[str]]) -> Observed:
    """Without the columns of levels that only uncounted rows have: then the columns are those of a table in memory."""
    is_counted, out = seen.counted, set[int]()
    for column, levels in coded.items() if not is_counted.all() else ():
        own = [level_name(column, level) for level in levels]
        places = _places_of(column, levels, seen.names)
        table = seen.values[is_counted][:, places]
        used = [j for j, total in zip(places, np.asarray(table.sum(axis=0)).ravel().tolist(), strict=True) if total]
        out |= set(places) - set(used)
        if used and len(places) < len(own) and np.asarray(table.sum(axis=1)).all():
            out.add(used[0])  # no row that counts has the reference: the first of the others becomes it
    kept = [j for j in range(len(seen.names)) if j not in out]
    return seen if not out or not kept else _only_columns(seen, kept)


def _places_of(column: str, levels: Sequence[str], names: Sequence[str]) -> list[int]:
    """The positions of the columns made from the levels of a text column; the reference level has none."""
    own = {level_name(column, level) for level in levels}
    return [j for j, name in enumerate(names) if name in own]


def _only_columns(seen: Observed, kept: Sequence[int]) -> Observed:
    scales = None if seen.facts.scales is None else tuple(seen.facts.scales[j] for j in kept)
    facts = replace(seen.facts, n_columns=len(kept), names=None, scales=scales)
    return replace(seen, values=seen.values[:, kept], names=tuple(seen.names[j] for j in kept), facts=facts)


def series_out(X: Any, options: Extras) -> tuple[Any, Extras]:
    """A dataframe without the columns that options name, and the options with these columns, which may be text."""
    frame = None if isinstance(X, (np.ndarray, list, tuple)) or is_sparse(X) else as_frame(X)
    own = {} if frame is None else {str(column): column for column in frame.columns}
    named = {option: own[name] for option, name in options._asdict().items() if isinstance(name, str) and name in own}
    if frame is None or not named:
        return X, options
    if len(set(named.values())) == len(own):
        raise ArgumentError("No column of X is left as a predictor.")
    values = {option: frame.get_column(column).to_native() for option, column in named.items()}
    return frame.drop(list(set(named.values()))).to_native(), options._replace(**values)


def _table(X: Any, y: Any, categories: Categories) -> tuple[Any, list[str], Facts, Array]:
    if isinstance(X, Source):
        if y is not None:
            raise ArgumentError("A source brings its own labels: leave y out.")
        X.require_finite()
        block = X.take(np.arange(X.n_rows))
        own = [X.facts.column_name(j) for j in range(X.n_columns)]
        levels = np.array(X.facts.labels, dtype=object)
        codes = positions(block.y, len(levels)) if len(levels) > 1 else np.zeros(X.n_rows, np.int64)
        return block.values, own, X.facts, read_labels(levels[codes].tolist())
    if y is None:
        raise ArgumentError("y is missing: each row of X needs an outcome.")
    require_one_index(X, y)
    exact = read_exact(X, require_categories(categories))
    if exact.inexact is not None and not (exact.scales is not None and exact.fits_64_bits):
        raise exact.inexact
    require_finite(exact)
    n_rows, n_columns = exact.values.shape
    is_whole = exact.scales is not None or (exact.values.dtype.kind in "iu" and is_long(entries_of(exact.values)))
    numbers: Numbers = "decimal" if exact.is_decimal else "exact-integers" if is_whole else "binary64"
    facts = Facts(n_rows, n_columns, names=exact.columns, numbers=numbers, scales=exact.scales)
    own = [facts.column_name(j) for j in range(n_columns)]
    labels = _pair_of(y, n_rows) if is_pair(y) else read_labels(y, n_rows)
    return exact.values, own, facts, labels


def _pair_of(y: Any, n_rows: int) -> Array:
    pair = np.asarray(read_exact(y).values, np.float64)
    if len(pair) != n_rows:
        raise ArgumentError(f"y has {len(pair)} rows of successes and failures, but X has {n_rows}.")
    return pair


def _columns_out(
    values: Any,
    names: tuple[str, ...],
    facts: Facts,
    options: Extras,
    coded: Mapping[str, Sequence[str]],
    outcome: str,
) -> tuple[Any, tuple[str, ...], Facts, Extras]:
    """The options as arrays, and the table without the columns that they name; `coded`: the text columns of files."""
    out: list[int] = []
    read: dict[str, Array] = {}
    for option, given in options._asdict().items():
        places = _places_of(given, coded[given], names) if isinstance(given, str) and given in coded else None
        if places is not None and option == "strata" and len(places) >= len(coded[given]) - 1:
            read[option] = np.asarray(values[:, places] @ np.arange(1, len(places) + 1))
            out += places
        elif places:
            raise ArgumentError(f"{option}={given!r}: the column holds text, but numbers are needed.")
        elif isinstance(given, str):
            if given not in names and given == outcome:
                raise ArgumentError(f"{option}={given!r}: that is the label.", fix="Name another column.")
            if given not in names:
                raise ArgumentError(f"{option}={given!r}: X has no column of that name.")
            j = names.index(given)
            column = values[:, [j]].toarray().ravel() if is_sparse(values) else values[:, j]
            scale = 1 if facts.scales is None else facts.scales[j]
            read[option] = column if scale == 1 else column / scale
            out.append(j)
        elif given is not None:
            read[option] = read_beside(given, option, values.shape[0])
    for option in ("trials", "weights", "offset", "time"):
        if option in read:
            read[option] = _numbers(option, read[option], least=None if option in ("offset", "time") else 0)
    if out:
        kept = [j for j in range(len(names)) if j not in out]
        if not kept:
            raise ArgumentError("No column of X is left as a predictor.")
        scales = None if facts.scales is None else tuple(facts.scales[j] for j in kept)
        values, names = values[:, kept], tuple(names[j] for j in kept)
        facts = replace(facts, n_columns=len(kept), names=None, scales=scales)
    return values, names, facts, Extras(**read)


def _numbers(what: str, given: Array, least: float | None) -> Floats:
    """Numbers, one for each row."""
    try:
        found = given.astype(np.float64)
    except (TypeError, ValueError):
        row = next(row for row, value in enumerate(given.tolist()) if not _is_number(value))
        raise ArgumentError(f"{what} is {shown(given[row])}: give a number for each row.", row=row) from None
    except OverflowError:
        raise ArgumentError(f"{what} holds an integer beyond the largest double: use larger units.") from None
    wrong = np.flatnonzero(~np.isfinite(found) | (found < (-math.inf if least is None else least)))
    if len(wrong):
        row, need = int(wrong[0]), "" if least is None else ", 0 or more"
        raise ArgumentError(f"{what} is {found[row]:g}: give a finite number{need}.", row=row)
    return np.asarray(found)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _signed(values: Any) -> Any:
    """Signed integers of 64 bits, which can be subtracted."""
    entries = entries_of(values)
    if entries.size and max(int(entries.max()), -int(entries.min())) >= 2 * HALF:
        raise ArgumentError("X holds an integer beyond 2^63 - 1, which cannot be subtracted: use smaller units.")
    return values.astype(np.int64)


def entries_of(values: Any) -> Array:
    """The entries of an array, or the stored entries of a sparse matrix."""
    return np.asarray(values.data if is_sparse(values) else values)


def stand_ins(is_counted: npt.NDArray[np.bool_]) -> Ints | None:
    """For each row its own number, or that of the last row that counts if it does not; None if all do, or none does.

    >>> stand_ins(np.array([False, True, True, False]))
    array([2, 1, 2, 2])
    """
    if is_counted.all() or not is_counted.any():
        return None
    return np.where(is_counted, np.arange(len(is_counted)), np.flatnonzero(is_counted)[-1])


def _outcomes(
    seen: Observed, order: tuple[Label, ...] | None, known: tuple[Label, ...] | None, called: str
) -> Observed:
    """The outcomes as the family needs them; categories are in `order`, `known` labels have the positive one last."""
    y, copied = seen.y, stand_ins(seen.counted)
    if y.ndim == 2:
        if seen.family != "binomial" or seen.options.trials is not None:
            raise ArgumentError("y has two columns, successes and failures: that is only for family='binomial'.")
        pair = _numbers("y", y[:, 0], 0), _numbers("y", y[:, 1], 0)
        return replace(seen, counts=pair, levels=("failure", "success"))
    if seen.family == "binomial" and seen.options.trials is not None:
        successes, trials = _numbers(called, y, 0), seen.options.trials
        if (successes > trials).any():
            row = int(np.argmax(successes > trials))
            raise ArgumentError(f"{successes[row]:g} successes in {trials[row]:g} trials.", row=row)
        return replace(seen, counts=(successes, trials - successes), levels=("failure", "success"))
    if copied is not None and seen.family not in ("poisson", "cox"):
        y = y[copied]  # a label that only uncounted rows have is not a class
    if seen.family in ("binomial", "conditional"):
        signs, labels = as_signs(y, order)
        if known is not None and labels == known[::-1]:
            signs, labels = -signs, (labels[1], labels[0])
        return replace(seen, counts=((signs > 0).astype(float), (signs < 0).astype(float)), levels=labels)
    if seen.family in ("poisson", "cox"):
        numbers = _numbers(called, y, 0)
        if seen.family == "cox" and not np.isin(numbers, (0, 1)).all():
            row = int(np.argmin(np.isin(numbers, (0, 1))))
            raise ArgumentError(f"{called} is {numbers[row]:g}: for a Cox model it is 1 for an event, else 0.", row=row)
        return replace(seen, y=numbers)
    if seen.family == "ordinal" and order is None and y.dtype.kind not in "biuf":
        raise ArgumentError(
            "The classes are text, and their order is not known.",
            fix="Give numbers, ordered categories of pandas or an Enum of polars.",
        )
    found, codes = distinct(y, known if order is None else order)
    if len(found) < 2:
        raise ArgumentError(f"All rows are of one class, {shown(found[0])}: there is nothing to model.")
    return replace(seen, y=np.asarray(codes, np.int64), levels=tuple(found))
