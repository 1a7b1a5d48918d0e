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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import ArgumentError, shown
from linsep.solvers.scaling import require_columns
from linsep.sources.base import Array, Facts, Floats, Ints, Label, Numbers, Signs, Source, integer_bits, positions
from linsep.sources.base import require_finite as require_finite_rows
from linsep.sources.inputs import as_given, as_signs, as_source, as_table
from linsep.sources.memory import MemorySource
from linsep.tables import is_long, is_sparse, read_exact, read_labels, require_finite, require_one_index
from linsep.tables.label_values import distinct
from linsep.tables.row_ids import RowIds, without_ids

Family: TypeAlias = Literal["binomial", "poisson", "multinomial", "ordinal", "conditional", "cox"]
FAMILIES: tuple[Family, ...] = get_args(Family)
INTERCEPT_NAME = "(Intercept)"
BYTES_A_COLUMN = 500  # its name, its coefficient and what is found out about it
SIDES = ("<= 0", ">= 0")  # the labels of rows that were made: what their score must be
HALF = 2**62  # differences of smaller integers fit into 64 bits


class Extras(NamedTuple):
    """What a model needs beside X and y: values for each row, or the name of the column of X that holds them."""

    trials: Any = None
    weights: Any = None
    offset: Any = None
    strata: Any = None
    time: Any = None


NEEDED = {"conditional": ("strata",), "cox": ("time",)}
TAKEN = {
    "binomial": ("trials",),
    "conditional": ("strata",),
    "cox": ("time", "strata"),
}


@dataclass(frozen=True, slots=True)
class Observed:
    """The user's rows: numbers as they are, what was observed, and the columns that are not predictors."""

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
        """The rows that count: those whose weight is not 0."""
        weights = self.options.weights
        return np.ones(self.n_rows, np.bool_) if weights is None else np.asarray(weights > 0)

    def scales(self, ones: int, copies: int = 1, each: int = 0) -> tuple[int, ...] | None:
        """The scales where `ones` columns were made before all, and `each` before every copy of the user's."""
        own = self.facts.scales
        return None if own is None else (1,) * ones + ((1,) * each + own) * copies

    def source(self, values: Any, signs: Signs, scales: tuple[int, ...] | None, labels: Any = SIDES) -> MemorySource:
        """Rows made from the user's."""
        table = as_table(values)
        bits = integer_bits(table)
        is_whole = scales is not None or (bits is not None and is_long(table[0]))
        is_decimal = self.facts.numbers == "decimal"
        numbers: Numbers = "decimal" if is_decimal else "exact-integers" if is_whole else "binary64"
        facts = Facts(len(signs), values.shape[1], labels, numbers=numbers, scales=scales, integer_bits=bits)
        return MemorySource(table, signs, replace(facts, rows_left_out=self.facts.rows_left_out))


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The rows that say whether a likelihood has a maximum, and what they are made of.

    `names` are the coefficients, the intercept of `bias` not among them; `hidden` columns stand before theirs. Row i of
    the source, where it is strict, separates the user's rows order[first[i]:last[i]].
    """

    family: Family
    source: Source
    names: tuple[str, ...]
    bias: bool
    n_rows: int
    hidden: int = 0
    order: Ints | None = None
    first: Ints | None = None
    last: Ints | None = None
    sides: tuple[Ints, Ints] | None = None  # of a conditional model: the stratum of each row, and whether it is a case
    observed: Observed | None = None
    ids: RowIds | None = None  # what the user calls the rows

    def separated(self, strict: Ints) -> tuple[int, ...]:
        """The user's rows that these rows of the source separate."""
        if self.order is None or self.first is None or self.last is None:
            return tuple(strict.tolist())
        steps = np.zeros(self.n_rows + 1, np.int64)
        np.add.at(steps, self.first[strict], 1)
        np.add.at(steps, self.last[strict], -1)
        found = self.order[np.flatnonzero(np.cumsum(steps[:-1]) > 0)]
        return tuple(np.unique(self._whole_strata(found)).tolist())

    def labels_at(self, rows: Sequence[int]) -> list[Any]:
        """What was observed of these rows of the user."""
        seen = self.observed
        if seen is None:
            return [self.source.facts.pair[int(sign > 0)] for sign in self.source.signs_of(rows).tolist()]
        values = seen.y[[*rows]].tolist()
        is_place = seen.family in ("multinomial", "ordinal")  # whose outcomes are positions among the levels
        return [seen.levels[int(value)] for value in values] if is_place else list(values)

    def part(self, rows: Ints) -> Source:
        """Some of the user's rows, of a model whose columns are theirs: labels mean nothing."""
        if self.observed is not None:
            signs = np.ones(len(rows), np.int8)
            return self.observed.source(self.observed.values[rows], signs, self.observed.facts.scales)
        block = self.source.take(rows)
        return MemorySource(block.table, block.y, self.source.facts.of_part(len(rows)))

    def _whole_strata(self, found: Ints) -> Ints:
        """With all cases of a stratum its controls are separated, and the other way round."""
        if self.sides is None:
            return found
        strata, cases = self.sides  # the last stratum is that of rows without part in the likelihood
        open_rows = np.setdiff1d(np.arange(self.n_rows), found)
        left = np.zeros((self.n_rows + 1, 2), np.int64)
        np.add.at(left, (strata[open_rows], cases[open_rows]), 1)
        whole = (left == 0).any(axis=1)
        whole[-1] = False
        return np.union1d(found, np.flatnonzero(whole[strata]))


def likelihood_of(
    X: Any, y: Any, names: Sequence[str] | None, *, family: Family, bias: bool, options: Extras, ids: Any = None
) -> Likelihood:
    """The question about a model, made from its data."""
    _require_options(family, options)
    bias = bias and family in ("binomial", "poisson", "multinomial")
    is_plain = family == "binomial" and options.trials is None and options.weights is None and not _is_pair(y)
    if is_plain and options.offset is None:
        source = as_source(X, y, decimals=True, ids=ids)
        require_columns(source.n_columns, BYTES_A_COLUMN)
        named = _names(source, names, bias)
        return Likelihood(family, source, named, bias, source.n_rows, ids=source.facts.ids)
    own = as_given(X, y, decimals=True, ids=ids).facts.ids if isinstance(X, Source) else None
    X, own = (X, own) if isinstance(X, Source) else without_ids(X, ids, y)
    seen = observed(X, y, names, family=family, bias=bias, options=options)
    return replace(MAKERS[family](seen), ids=own)


def _require_options(family: str, options: Extras) -> None:
    if family not in FAMILIES:
        raise ArgumentError(f"family is {shown(family)}: choose one of {', '.join(FAMILIES)}.")
    for name in NEEDED.get(family, ()):
        if getattr(options, name) is None:
            raise ArgumentError(f"family={family!r} needs {name}=: a value for each row, or the name of a column of X.")
    taken = (*TAKEN.get(family, ()), "weights", "offset")
    for name, value in options._asdict().items():
        if value is not None and name not in taken:
            raise ArgumentError(f"{name}= means nothing to family={family!r}: leave it out.")


def _is_pair(y: Any) -> bool:
    """Whether y is a table of two columns: successes and failures."""
    if y is None or isinstance(y, str):
        return False
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple, np.ndarray)):
        shape = (len(y), len(y[0]))
    return shape is not None and len(shape) == 2 and shape[1] == 2


def _names(source: Source, names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    own = [source.facts.column_name(j) for j in range(source.n_columns)]
    return chosen_names(own, names, bias)


def chosen_names(own: Sequence[str], names: Sequence[str] | None, bias: bool) -> tuple[str, ...]:
    """The names of the columns, which must tell them apart."""
    chosen = list(own) if names is None else list(map(str, names))
    if len(chosen) != len(own):
        raise ArgumentError(f"{len(chosen)} names for {len(own)} columns: give one for each.")
    if bias and INTERCEPT_NAME in chosen:
        raise ArgumentError(f"A column is called {INTERCEPT_NAME!r}: say bias=False, or give it another name.")
    repeated = sorted({name for name in chosen if chosen.count(name) > 1}) if len(set(chosen)) < len(chosen) else []
    if repeated:
        times = chosen.count(repeated[0])
        raise ArgumentError(f"{times} columns are called {repeated[0]!r}: each needs a name of its own.")
    return tuple(chosen)


# ---------------------------------------------------------------------------------------------------
# What the user handed over
# ---------------------------------------------------------------------------------------------------


def observed(X: Any, y: Any, names: Sequence[str] | None, *, family: Family, bias: bool, options: Extras) -> Observed:
    """The user's rows, each option a value for each of them."""
    values, own, facts, labels = _table(X, y)
    chosen = chosen_names(own, names, bias)
    values, chosen, facts, options = _columns_out(values, chosen, facts, options)
    if values.dtype.kind != "f":
        values = _signed(values)
    elif values.dtype != np.float64:
        values = values.astype(np.float64)
    seen = Observed(family, values, chosen, bias, labels, facts, options)
    return _outcomes(seen, _categories(y))


def _table(X: Any, y: Any) -> tuple[Any, list[str], Facts, Array]:
    if isinstance(X, Source):
        if y is not None:
            raise ArgumentError("A source brings its own labels: leave y out.")
        require_finite_rows(X)
        block = X.take(np.arange(X.n_rows))
        own = [X.facts.column_name(j) for j in range(X.n_columns)]
        levels = np.array(X.facts.labels, dtype=object)
        codes = positions(block.y, len(levels)) if len(levels) > 1 else np.zeros(X.n_rows, np.int64)
        return block.values, own, X.facts, read_labels(levels[codes].tolist())
    if y is None:
        raise ArgumentError("y is missing: each row of X needs an outcome.")
    require_one_index(X, y)
    exact = read_exact(X)
    if exact.inexact is not None and not (exact.scales is not None and exact.fits_64_bits):
        raise exact.inexact
    require_finite(exact)
    n_rows, n_columns = exact.values.shape
    is_whole = exact.scales is not None or (exact.values.dtype.kind in "iu" and is_long(_entries(exact.values)))
    numbers: Numbers = "decimal" if exact.is_decimal else "exact-integers" if is_whole else "binary64"
    facts = Facts(n_rows, n_columns, names=exact.columns, numbers=numbers, scales=exact.scales)
    own = [facts.column_name(j) for j in range(n_columns)]
    labels = _pair_of(y, n_rows) if _is_pair(y) else read_labels(_places(y), n_rows)
    return exact.values, own, facts, labels


def _pair_of(y: Any, n_rows: int) -> Array:
    pair = np.asarray(read_exact(y).values, np.float64)
    if len(pair) != n_rows:
        raise ArgumentError(f"y has {len(pair)} rows of successes and failures, X has {n_rows}.")
    return pair


def _categories(y: Any) -> tuple[str, ...] | None:
    """What categories are called that are in order, as those of pandas are; None for everything else."""
    described: Any = getattr(y, "cat", None)
    return tuple(map(str, described.categories)) if getattr(described, "ordered", False) else None


def _places(y: Any) -> Any:
    """Categories that are in order as their places in it; everything else as it is."""
    return y if _categories(y) is None else y.cat.codes.to_numpy()


def _columns_out(
    values: Any, names: tuple[str, ...], facts: Facts, options: Extras
) -> tuple[Any, tuple[str, ...], Facts, Extras]:
    """The options as arrays, and the table without the columns that are named by them."""
    out: list[int] = []
    read: dict[str, Array] = {}
    for option, given in options._asdict().items():
        if isinstance(given, str):
            if given not in names:
                raise ArgumentError(f"{option}={given!r}: no column of X is called that.")
            j = names.index(given)
            column = values[:, [j]].toarray().ravel() if is_sparse(values) else values[:, j]
            scale = 1 if facts.scales is None else facts.scales[j]
            read[option] = column if scale == 1 else column / scale
            out.append(j)
        elif given is not None:
            read[option] = read_labels(given, values.shape[0])
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
        raise ArgumentError(f"{what} holds text: give a number for each row.") from None
    wrong = np.flatnonzero(~np.isfinite(found) | (found < (-math.inf if least is None else least)))
    if len(wrong):
        need = "" if least is None else ", 0 or more"
        raise ArgumentError(f"{what} of row {wrong[0]} is {found[wrong[0]]:g}: give a finite number{need}.")
    return np.asarray(found)


def _signed(values: Any) -> Any:
    """Integers that can be subtracted: with a sign, and of 64 bits."""
    entries = _entries(values)
    if entries.size and max(int(entries.max()), -int(entries.min())) >= 2 * HALF:
        raise ArgumentError("X holds an integer beyond 2^63 - 1, which cannot be subtracted: use smaller units.")
    return values.astype(np.int64)


def _entries(values: Any) -> Array:
    """The entries of an array, or those of a sparse matrix that are written down."""
    return np.asarray(values.data if is_sparse(values) else values)


def _outcomes(seen: Observed, categories: tuple[str, ...] | None) -> Observed:
    """What was observed, as the family has it."""
    y = seen.y
    if y.ndim == 2:
        if seen.family != "binomial" or seen.options.trials is not None:
            raise ArgumentError("y has two columns, successes and failures: that is for family='binomial' alone.")
        pair = _numbers("y", y[:, 0], 0), _numbers("y", y[:, 1], 0)
        return replace(seen, counts=pair, levels=("failure", "success"))
    if seen.family == "binomial" and seen.options.trials is not None:
        successes, trials = _numbers("y", y, 0), seen.options.trials
        if (successes > trials).any():
            row = int(np.argmax(successes > trials))
            raise ArgumentError(f"Row {row} has {successes[row]:g} successes in {trials[row]:g} trials.")
        return replace(seen, counts=(successes, trials - successes), levels=("failure", "success"))
    if seen.family in ("binomial", "conditional"):
        signs, labels = as_signs(y)
        return replace(seen, counts=((signs > 0).astype(float), (signs < 0).astype(float)), levels=labels)
    if seen.family in ("poisson", "cox"):
        numbers = _numbers("y", y, 0)
        if seen.family == "cox" and not np.isin(numbers, (0, 1)).all():
            row = int(np.argmin(np.isin(numbers, (0, 1))))
            raise ArgumentError(f"y of row {row} is {numbers[row]:g}: of a Cox model it is 1 for an event, else 0.")
        return replace(seen, y=numbers)
    if seen.family == "ordinal" and y.dtype.kind not in "biuf":
        raise ArgumentError("The classes are text, and their order is not known: give numbers, or pandas categories.")
    found, codes = distinct(y)
    if len(found) < 2:
        raise ArgumentError(f"All rows are of one class, {shown(found[0])}: there is nothing to model.")
    called = found if categories is None else [categories[int(place)] for place in found]
    return replace(seen, y=np.asarray(codes, np.int64), levels=tuple(called))


# ---------------------------------------------------------------------------------------------------
# The rows of each family
# ---------------------------------------------------------------------------------------------------


def _both_sides(seen: Observed, above: npt.NDArray[np.bool_], below: npt.NDArray[np.bool_], labels: Any) -> Likelihood:
    """Rows whose score must not be negative, and rows whose score must not be positive; some are both."""
    up, down = np.flatnonzero(above & seen.counted), np.flatnonzero(below & seen.counted)
    rows = np.concatenate([up, down])
    if not len(rows):
        raise ArgumentError("No row counts: all weights, or all trials, are 0.")
    signs = np.concatenate([np.ones(len(up), np.int8), -np.ones(len(down), np.int8)])
    order = np.lexsort((-signs, rows))
    rows, signs = rows[order], signs[order]
    source = seen.source(seen.values[rows], signs, seen.facts.scales, labels)
    return _of_rows(seen, source, seen.names, rows, bias=seen.bias)


def _binomial(seen: Observed) -> Likelihood:
    assert seen.counts is not None
    successes, failures = seen.counts
    return _both_sides(seen, successes > 0, failures > 0, seen.levels)


def _poisson(seen: Observed) -> Likelihood:
    return _both_sides(seen, seen.y > 0, seen.y >= 0, SIDES)


def _multinomial(seen: Observed) -> Likelihood:
    """Kesler's rows: for each row and each other class, the row in the place of its class less that in the other's.

    The first class is the one that others are compared with: it has no coefficients.
    """
    predictors, own = _with_intercept(seen)
    n_classes = len(seen.levels)
    counted = np.flatnonzero(seen.counted)
    parts, rows = [], []
    for c in range(n_classes):
        chosen = counted[seen.y[counted] == c]
        of_class = predictors[chosen]
        for k in (k for k in range(n_classes) if k != c and len(chosen)):
            places = [of_class if p == c else -of_class if p == k else None for p in range(1, n_classes)]
            nothing = sp.csr_array((len(chosen), predictors.shape[1]), dtype=predictors.dtype)
            parts.append(sp.hstack([nothing if part is None else part for part in places], format="csr"))
            rows.append(chosen)
    origin = np.concatenate(rows)
    order = np.argsort(origin, kind="stable")
    origin, table = origin[order], sp.csr_array(sp.vstack(parts, format="csr"))[order]
    names = tuple(f"{level}:{name}" for level in seen.levels[1:] for name in own)
    source = seen.source(table, np.ones(len(origin), np.int8), seen.scales(0, n_classes - 1, int(seen.bias)))
    return _of_rows(seen, source, names, origin)


def _ordinal(seen: Observed) -> Likelihood:
    """For each row the threshold above its class and the one below: score less threshold is on the right side of 0."""
    n_thresholds = len(seen.levels) - 1
    counted = np.flatnonzero(seen.counted)
    classes = seen.y[counted]
    below, above = counted[classes < n_thresholds], counted[classes > 0]
    rows = np.concatenate([below, above])
    threshold = np.concatenate([seen.y[below], seen.y[above] - 1])
    signs = np.concatenate([-np.ones(len(below), np.int8), np.ones(len(above), np.int8)])
    order = np.lexsort((signs, rows))
    rows, threshold, signs = rows[order], threshold[order], signs[order]
    table = _beside(_ones_at(threshold, n_thresholds, seen.values.dtype, -1), seen.values[rows])
    levels = [str(level) for level in seen.levels]
    names = (*(f"{low}|{high}" for low, high in pairwise(levels)), *seen.names)
    return _of_rows(seen, seen.source(table, signs, seen.scales(n_thresholds)), names, rows)


def _with_intercept(seen: Observed) -> tuple[Any, tuple[str, ...]]:
    """The predictors as a CSR matrix, a column of ones before them where the model has an intercept."""
    rows = sp.csr_array(seen.values)
    if not seen.bias:
        return rows, seen.names
    ones = sp.csr_array(np.ones((seen.n_rows, 1), rows.dtype))
    return sp.csr_array(sp.hstack([ones, rows], format="csr")), (INTERCEPT_NAME, *seen.names)


def _ones_at(places: Ints, n_columns: int, dtype: Any, value: int) -> Any:
    """Rows with one entry each."""
    entries = np.full(len(places), value, dtype)
    return sp.csr_array((entries, places, np.arange(len(places) + 1)), shape=(len(places), n_columns))


def _beside(left: Any, right: Any) -> Any:
    """Two tables side by side, sparse where the second is."""
    if is_sparse(right):
        return sp.csr_array(sp.hstack([left, right], format="csr"))
    return np.hstack([left.toarray() if is_sparse(left) else left, right])


def _of_rows(seen: Observed, source: Source, names: tuple[str, ...], origin: Ints, *, bias: bool = False) -> Likelihood:
    """The question of rows that are each made of one of the user's."""
    everyone = np.arange(seen.n_rows)
    return Likelihood(seen.family, source, names, bias, seen.n_rows, 0, everyone, origin, origin + 1, observed=seen)


# ---------------------------------------------------------------------------------------------------
# Some rows above others: strata and risk sets
# ---------------------------------------------------------------------------------------------------


class Ranked(NamedTuple):
    """Rows `above`, whose scores must not be less than those of the rows `below`.

    Where one of them is strictly so, it separates a range of the rows in their order: `up` and `down` say which.
    """

    above: Sequence[int]
    below: Sequence[int]
    up: Sequence[tuple[int, int]]
    down: Sequence[tuple[int, int]]

    @property
    def is_star(self) -> bool:
        """Whether one row stands against the others, so that there are no more pairs than rows."""
        return len(self.above) == 1 or len(self.below) == 1

    def pairs(self) -> Iterator[tuple[int, int, tuple[int, int]]]:
        """Each row above with each row below, and what their difference separates."""
        if len(self.above) == 1:
            yield from ((self.above[0], b, span) for b, span in zip(self.below, self.down, strict=True))
        else:
            yield from ((a, self.below[0], span) for a, span in zip(self.above, self.up, strict=True))


def _conditional(seen: Observed) -> Likelihood:
    assert seen.counts is not None
    strata = distinct(seen.options.strata)[1]
    cases = seen.counts[0] > 0
    groups = []
    for rows in _parts(strata, np.flatnonzero(seen.counted)):
        above, below = rows[cases[rows]].tolist(), rows[~cases[rows]].tolist()
        if above and below:
            groups.append(Ranked(above, below, [(a, a + 1) for a in above], [(b, b + 1) for b in below]))
    if not groups:
        raise ArgumentError("No stratum has both a case and a control: there is nothing to estimate.")
    found = _ranked(seen, groups, np.arange(seen.n_rows))
    taking_part = np.zeros(seen.n_rows, np.bool_)
    taking_part[[row for group in groups for row in (*group.above, *group.below)]] = True
    return replace(found, sides=(np.where(taking_part, strata, seen.n_rows), cases.astype(np.int64)))


def _cox(seen: Observed) -> Likelihood:
    time, event = seen.options.time, seen.y > 0
    strata = np.zeros(seen.n_rows, np.int64) if seen.options.strata is None else distinct(seen.options.strata)[1]
    counted = np.flatnonzero(seen.counted)
    order = counted[np.lexsort((~event[counted], time[counted], strata[counted]))]
    place = np.zeros(seen.n_rows, np.int64)
    place[order] = np.arange(len(order))
    groups: list[Ranked] = []
    for rows in _parts(strata, order):
        groups += _risk_sets(rows, time[rows], event[rows], place)
    if not groups:
        raise ArgumentError("No event has another row at risk: there is nothing to estimate.")
    rest = np.setdiff1d(np.arange(seen.n_rows), order)
    return _ranked(seen, groups, np.concatenate([order, rest]))


def _parts(codes: Array, rows: Ints) -> Iterator[Ints]:
    """Rows by their codes, each part in the order of the rows."""
    if len(rows):
        order = rows[np.argsort(codes[rows], kind="stable")]
        yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _risk_sets(rows: Ints, time: Floats, event: npt.NDArray[np.bool_], place: Ints) -> Iterator[Ranked]:
    """One stratum in the order of time: each event above who leaves before the next event, and above that one."""
    times = np.unique(time[event])
    starts = np.searchsorted(time, times)  # of rows that leave before, none is at risk
    end = int(place[rows[-1]]) + 1
    for k, start in enumerate(starts.tolist()):
        stop = int(starts[k + 1]) if k + 1 < len(starts) else len(rows)
        tied = int(np.count_nonzero(event[start:stop]))  # events of one time come before all else
        first, others = int(rows[start]), rows[start + 1 : start + tied].tolist()
        for other in others:
            yield Ranked([first], [other], [(0, 0)], [(0, 0)])
            yield Ranked([other], [first], [(0, 0)], [(0, 0)])
        below = rows[start + tied : stop].tolist()
        down = [(int(place[row]), int(place[row]) + 1) for row in below]
        last = int(place[rows[start + tied - 1]]) + 1
        if stop < len(rows):
            below.append(int(rows[stop]))
            down.append((int(place[rows[stop]]), end))
        if below:
            yield Ranked([first], below, [(last, end)], down)


def _ranked(seen: Observed, groups: list[Ranked], order: Ints) -> Likelihood:
    """The question about rows above others: their differences, or, of many against many, each against a threshold.

    A difference is a double and what rounding it loses, another double. The latter has a column of its own, and two
    rows say that its weight is that of the column it belongs to.
    """
    pairs = [(g, *pair) for g, group in enumerate(groups) if group.is_star for pair in group.pairs()]
    up, down = (np.array([pair[k] for pair in pairs], np.int64) for k in (1, 2))
    difference, lost, is_finite = _differences(seen.values, up, down)
    wide = [g for g, group in enumerate(groups) if not (group.is_star and is_finite)]
    kept = np.arange(len(pairs)) if is_finite else np.zeros(0, np.int64)
    members = [
        (row, column, sign, span)
        for column, g in enumerate(wide)
        for rows, spans, sign in ((groups[g].above, groups[g].up, 1), (groups[g].below, groups[g].down, -1))
        for row, span in zip(rows, spans, strict=True)
    ]
    rows = np.array([member[0] for member in members], np.int64)
    thresholds = np.array([member[1] for member in members], np.int64)
    rounded = np.unique(lost[kept].nonzero()[1])
    dtype, width, hidden = seen.values.dtype, len(seen.names), len(wide) + len(rounded)
    places = np.repeat(np.arange(len(rounded)), 2)
    tied = _ones_at(rounded[places], width, dtype, 1)
    parts = [
        _beside(_beside(_nothing(len(kept), len(wide), dtype), lost[kept][:, rounded]), difference[kept]),
        _beside(_ones_at(thresholds, hidden, dtype, -1), seen.values[rows]),
        _beside(_ones_at(len(wide) + places, hidden, dtype, -1), tied if is_sparse(lost) else tied.toarray()),
    ]
    table = sp.csr_array(sp.vstack(parts)) if is_sparse(parts[0]) else np.vstack(parts)
    signs = [1] * len(kept) + [member[2] for member in members] + [1, -1] * len(rounded)
    spans = [pairs[k][3] for k in kept.tolist()] + [member[3] for member in members] + [(0, 0)] * len(places)
    first, last = np.array(spans, np.int64).reshape(-1, 2).T
    source = seen.source(table, np.array(signs, np.int8), seen.scales(hidden))
    return Likelihood(seen.family, source, seen.names, False, seen.n_rows, hidden, order, first, last, observed=seen)


def _nothing(n_rows: int, n_columns: int, dtype: Any) -> Any:
    return sp.csr_array((n_rows, n_columns), dtype=dtype)


def _differences(values: Any, up: Ints, down: Ints) -> tuple[Any, Any, bool]:
    """Rows less other rows, rounded; what that lost (Knuth's two-sum); and whether that is all."""
    a, b = values[up], values[down]
    with np.errstate(over="ignore", invalid="ignore"):
        s = a - b
        rest = s - a
        lost = (a - (s - rest)) - (b + rest)
    if values.dtype.kind != "f":
        return s, lost, bool(np.abs(_entries(values)).max(initial=0) < HALF)
    return s, lost, bool(np.isfinite(_entries(s)).all())


MAKERS = {
    "binomial": _binomial,
    "poisson": _poisson,
    "multinomial": _multinomial,
    "ordinal": _ordinal,
    "conditional": _conditional,
    "cox": _cox,
}
