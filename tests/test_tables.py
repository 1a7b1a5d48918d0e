"""Every door sees the same numbers: any container of any kind gives the exact verdict, or a refusal by name.

The judge is naive.py on the user's own numbers, which are made Fractions here and not by linsep.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import linsep
import naive
from linsep import errors
from linsep.proofs import Overlapping, Separable, Touching
from linsep.sources.calls import CallSource
from linsep.tables import read_doubles, read_exact, read_labels
from linsep.tables.label_values import distinct

F = Fraction
BIG, LONG = 2**53, 2**63
XOR, XOR_Y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]


# Every container and type, on tables that rounding would change -------------------------------------------------

TABLES = {
    "xor": (XOR, XOR_Y),
    "and": (XOR, [0, 0, 0, 1]),
    "touching": ([[0, 0], [0, 0], [1, 0], [0, 1]], [0, 1, 1, 0]),
    "halves": ([[0.5, 1], [1.5, -1], [0.25, 2]], [0, 1, 1]),
    "beyond 2^53": ([[BIG], [BIG + 1], [BIG + 2]], [0, 0, 1]),
    "beyond 2^53 beside a half": ([[BIG, 0.5], [BIG + 1, 0.5]], [0, 1]),
    "three beside a half": ([[BIG, 0.5], [BIG + 1, 0.5], [BIG + 2, 0.5]], [0, 1, 0]),
    "the ends of int64": ([[LONG - 1], [LONG - 2], [-LONG]], [1, 0, 0]),
    "the ends of uint64": ([[2 * LONG - 1], [2 * LONG - 2], [0]], [1, 0, 0]),
    "beyond int64": ([[LONG + 1], [LONG], [-1]], [0, 1, 1]),
    "powers of two": ([[2**70], [2**71], [2**71]], [0, 1, 0]),
    "a tenth, in decimals": ([[F(1, 10)], [F(2, 10)], [F(3, 10)]], [0, 1, 0]),
    "sums of tenths": ([[F(1, 10), F(2, 10)], [F(3, 10), 0], [0, F(3, 10)], [F(3, 20), F(3, 20)]], [0, 1, 1, 1]),
    "thirds": ([[F(1, 3), 1], [F(2, 3), 2], [1, 3]], [0, 1, 0]),
    "double 0.1 beside a long integer": ([[0.1, BIG + 1], [0.1, BIG], [0.1, BIG + 3]], [0, 1, 1]),
    "subnormal": ([[5e-324], [0.0], [5e-324]], [1, 0, 1]),
    "huge": ([[1.7e308], [-1.7e308], [0.0]], [1, 0, 0]),
    "narrow float": ([[1 + 2.0**-10], [1.0], [1 + 2.0**-9]], [1, 0, 1]),
    "longer than a double": ([[1 + F(1, 2**60)], [1], [1]], [1, 0, 0]),
}  # fmt: skip


def cast(kind, value):
    """The value as one of a NumPy type, if it is one exactly; else nobody can ask for it."""
    with np.errstate(all="ignore"):
        try:
            typed = kind(value) if not isinstance(value, Fraction) else kind(value.numerator) / kind(value.denominator)
        except OverflowError:
            pytest.skip("no such number")
    ratio = typed.as_integer_ratio() if np.isfinite(typed) and kind is np.longdouble else (typed.item(),)
    if not np.isfinite(typed) or F(*ratio) != F(value):
        pytest.skip("no such number")
    return typed


def array(kind):
    return lambda rows: np.array([[cast(kind, v) for v in row] for row in rows], dtype=kind)


def decimals(rows):
    made = [[Decimal(F(v).numerator) / Decimal(F(v).denominator) for v in row] for row in rows]
    if any(F(a) != F(b) for row, old in zip(made, rows, strict=True) for a, b in zip(row, old, strict=True)):
        pytest.skip("no such decimal")
    return made


def frame(make, of=lambda rows: rows):
    def build(rows):
        rows = of(rows)
        try:
            return make({f"c{j}": [row[j] for row in rows] for j in range(len(rows[0]))})
        except (OverflowError, pa.ArrowException, TypeError, ValueError, pl.exceptions.PolarsError):
            pytest.skip("no such column")

    return build


def as_objects(rows):
    made = np.empty((len(rows), len(rows[0])), object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            made[i, j] = value
    return made


def split(kind):
    """COO with every value in two pieces, as SciPy would add them up in its own type."""

    def build(rows):
        values = array(kind)(rows)
        halves = values // 2 if values.dtype.kind in "iu" else values / 2
        parts = [(i, j, v) for half in (halves, values - halves) for (i, j), v in np.ndenumerate(half)]
        i, j, v = zip(*parts, strict=True)
        return sp.coo_array((np.array(v, kind), (i, j)), shape=values.shape)

    return build


CONTAINERS = {
    "lists": lambda rows: rows,
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "generators": lambda rows: (iter(row) for row in rows),
    "lists of arrays": lambda rows: [as_objects([row])[0] for row in rows],
    "objects": as_objects,
    "fractions": lambda rows: [[F(v) for v in row] for row in rows],
    "decimals": decimals,
    "object frame": lambda rows: pd.DataFrame(as_objects(rows)),
    "pandas": frame(pd.DataFrame),
    "nullable": frame(lambda c: pd.DataFrame(c).convert_dtypes()),
    "polars": frame(lambda c: pl.DataFrame(c, strict=True)),
    "polars decimals": frame(pl.DataFrame, decimals),
    "arrow": frame(pa.table),
    "arrow decimals": frame(pa.table, decimals),
    "series rows": lambda rows: [pd.Series(list(row), dtype=object) for row in rows],
    **{
        f"array of {kind.__name__}": array(kind)
        for kind in (np.bool_, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64, np.longdouble)
    },
    "NumPy numbers": lambda rows: [[np.float64(v) if isinstance(v, float) else v for v in row] for row in rows],
    "big-endian": lambda rows: array(np.float64)(rows).astype(">f8"),
    "Fortran": lambda rows: np.asfortranarray(array(np.float64)(rows)),
    "CSR": lambda rows: sp.csr_array(array(np.float64)(rows)),
    "CSC of integers": lambda rows: sp.csc_array(array(np.int64)(rows)),
    "repeated entries": split(np.float64),
    "repeated integers": split(np.int64),
    "repeated bytes": split(np.uint8),
}  # fmt: skip

ALWAYS = (
    "xor",
    "and",
    "touching",
    "halves",
    "beyond 2^53",
    "beyond 2^53 beside a half",
    "three beside a half",
    "thirds",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("bias", [True, False])
def test_every_container_gives_the_exact_verdict_or_a_refusal(name, container, bias):
    rows, y = TABLES[name]
    make = CONTAINERS[container]
    truth = naive.decide([[F(v) for v in row] for row in rows], [2 * label - 1 for label in y], bias)
    try:
        verdict = linsep.decide(make(rows), y, bias=bias)
    except errors.InexactError:
        assert name not in ALWAYS
        return
    assert verdict.kind == truth
    verdict.verify(make(rows), y)
    linsep.verdict_from_json(verdict.to_json()).verify(make(rows), y)
    verdict.explain(make(rows), y)
    if isinstance(verdict, Separable):  # in the user's own numbers, whatever the columns were multiplied by
        w, b = verdict.weights, verdict.bias_weight
        scores = [sum(F(v) * u for v, u in zip(row, w, strict=True)) + b for row in rows]
        assert all(score * (2 * label - 1) > 0 for score, label in zip(scores, y, strict=True))


def test_the_numbers_of_scaled_columns_are_those_of_the_user():
    verdict = linsep.decide([[F(1, 3), BIG + 1], [F(1, 2), BIG + 1]], [0, 1])
    verdict.verify([[F(1, 3), BIG + 1], [F(1, 2), BIG + 1]], [0, 1])
    assert verdict.numbers == "decimal"
    with pytest.raises(errors.CertificateError):
        verdict.verify([[F(1, 2), BIG + 1], [F(1, 3), BIG + 1]], [0, 1])
    assert linsep.decide([[BIG + 1, 0.5], [BIG, 0.5]], [0, 1]).numbers == "exact-integers"


@pytest.mark.parametrize("ask", [linsep.max_margin, linsep.perceptron, linsep.novikoff])
def test_what_works_in_doubles_refuses_what_no_double_is(ask):
    with pytest.raises(
        errors.InexactError, match=r"^Row 1, column 0 .* holds 9007199254740993: it cannot be stored exactly"
    ):
        ask([[BIG, 0.5], [BIG + 1, 0.5]], [0, 1])


@pytest.mark.parametrize(
    "value", [Decimal("1e-999999999"), Decimal("1e999999999"), 10**5000, F(1, 3**2000)], ids="abcd"
)
def test_a_number_that_would_fill_the_memory_is_refused(value):
    with pytest.raises(errors.InexactError, match="Row 1, column 0"):
        linsep.decide([[1], [value]], [0, 1])


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, errors.MissingValueError), (pd.NA, errors.MissingValueError), (pd.NaT, errors.MissingValueError),
        (math.nan, errors.NotFiniteError), (Decimal("NaN"), errors.NotFiniteError), (-math.inf, errors.NotFiniteError),
        ("2", errors.NotNumericError), (1j, errors.NotNumericError), (np.timedelta64(3, "s"), errors.NotNumericError),
        (np.datetime64("2020-01-01"), errors.NotNumericError), ([2], errors.ShapeError), (b"2", errors.NotNumericError),
    ],
)  # fmt: skip
@pytest.mark.parametrize("beside", [1, BIG + 1, 0.5])
def test_a_cell_that_is_not_a_number_is_named(value, error, beside):
    verdict = linsep.decide([[0, 0], [1, 1]], [0, 1])
    for ask in (linsep.decide, verdict.verify):
        with pytest.raises(error, match="Row 1, column 1"):
            ask([[0, beside], [1, value]], [0, 1])


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ([[1, 2], [3]], errors.ShapeError, "Row 1 has 1 values, but row 0 has 2"),
        ([1, 2], errors.ShapeError, "Row 0 holds 1: not a row"),
        (["12", "34"], errors.ShapeError, "Row 0 holds '12': not a row"),
        ([{"a": 1}, {"a": 2}], errors.ShapeError, "Row 0"),
        ({"a": [1, 2]}, errors.ShapeError, "X is a dict"),
        ([[], []], errors.NoColumnsError, "no columns"),
        ([], errors.NoRowsError, "no rows"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), errors.ShapeError, "'a'"),
        (pa.table([[1, 2], [3, 4]], names=["a", "a"]), errors.ShapeError, "'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), errors.ShapeError, "'1'"),
        ([np.ma.masked_equal([1.0, 2.0], 2.0), np.array([1.0, 2.0])], errors.MissingValueError, "Row 0, column 1"),
    ],
)
def test_what_is_not_a_table_is_refused_by_decide_and_by_verify(table, error, said):
    for ask in (linsep.decide, linsep.decide([[0], [1]], [0, 1]).verify):
        with pytest.raises(error, match=said):
            ask(table, [0, 1])


# Forgeries that rounding let through ---------------------------------------------------------------------------

ODD = np.longdouble(1) + np.longdouble(2) ** -60


def test_a_touching_proof_about_rounded_long_doubles_is_refused():
    forged = Touching(n_rows=3, n_columns=1, weights=(1,), bias_weight=-1,
                      obstruction=linsep.Obstruction((0, 1), (1, 1)), labels=(0, 1))  # fmt: skip
    forged.verify([[1.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(errors.CertificateError):
        forged.verify(np.array([[np.longdouble(1)], [ODD], [np.longdouble(2)]]), [0, 1, 1])


def test_a_margin_of_rounded_long_doubles_is_refused():
    forged = linsep.max_margin([[0.0], [2.0]], [0, 1])
    with pytest.raises(errors.LinsepError, match=r"no double is|not a double|nearer|float64"):
        forged.verify(np.array([[np.longdouble(0)], [2 * ODD - np.longdouble(2) ** -58]]), [0, 1])


def test_an_overlap_of_rounded_rows_is_refused():
    spread = linsep.Obstruction((0, 1), (1, 1))
    forged = Overlapping(n_rows=2, n_columns=2, obstruction=spread, spread=spread, labels=(0, 1))
    with pytest.raises(errors.CertificateError):
        forged.verify([[BIG, 0.5], [BIG + 1, 0.5]], [0, 1])


# Sparse matrices -----------------------------------------------------------------------------------------------


def csr(data, indices, indptr, shape):
    """A CSR matrix that SciPy did not look at."""
    made = sp.csr_array(shape)
    made.data, made.indices, made.indptr = np.array(data), np.array(indices, np.int32), np.array(indptr, np.int32)
    return made


@pytest.mark.parametrize(
    "broken",
    [
        csr([1.0], [0, 1], [0, 1, 2], (2, 2)), csr([1.0, 2.0], [0, 5], [0, 1, 2], (2, 2)),
        csr([1.0, 2.0], [0, -1], [0, 1, 2], (2, 2)), csr([1.0, 2.0], [0, 1], [0, -1, 2], (2, 2)),
        csr([1.0, 2.0], [0, 1], [0, 1, 9], (2, 2)), csr([1.0, 2.0], [0, 1], [1, 1, 2], (2, 2)),
        csr([1.0, 2.0], [0, 1], [0, 2], (2, 2)),
    ],
)  # fmt: skip
def test_a_malformed_sparse_matrix_is_refused(broken):
    for ask in (linsep.decide, linsep.decide([[0, 0], [1, 1]], [0, 1]).verify):
        with pytest.raises(errors.ShapeError, match="malformed"):
            ask(broken, [0, 1])


@pytest.mark.parametrize(
    ("values", "total"),
    [
        (np.array([200, 100], np.uint8), 300), (np.array([-100, -100], np.int8), -200),
        (np.array([2**62, -1], np.int64), 2**62 - 1), (np.array([2**53, 1], np.float64), 2**53 + 1),
        (np.array([0.1, 0.2]), None), (np.array([0.5, 0.25]), 0.75), (np.array([2**62, 2**62], np.int64), 2.0**63),
        (np.array([2**62, 2**62 + 1], np.int64), None), (np.array([True, True]), None),
        (np.array([0.5, 0.25], np.float32), 0.75), (np.array([3e38, 3e38], np.float32), float(np.float32(3e38)) * 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [sp.coo_array, sp.csr_array, sp.csc_array])
def test_repeated_entries_are_added_up_exactly_or_refused(values, total, kind):
    if kind is sp.coo_array:
        X = kind((values, ([0, 0], [0, 0])), shape=(2, 1))
    else:
        X = kind((values, [0, 0], [0, 2, 2] if kind is sp.csr_array else [0, 2]), shape=(2, 1))
    if total is None:
        with pytest.raises(errors.InexactError):
            read_exact(X)
    else:
        assert read_exact(X).values.toarray().tolist() == [[total], [0]]


def test_unordered_entries_are_put_in_order_whatever_the_matrix_believes():
    X = csr([1.0, 2.0, 3.0], [1, 0, 1], [0, 2, 3], (2, 2))
    X.has_canonical_format = X.has_sorted_indices = True
    assert read_exact(X).values.indices.tolist() == [0, 1, 1] and X.indices.tolist() == [1, 0, 1]


# Labels --------------------------------------------------------------------------------------------------------

NAT, NO_TIME = np.datetime64("NaT"), np.timedelta64("NaT")
DAYS = [np.datetime64("2020-01-01"), NAT, np.datetime64("2020-01-02"), NAT]
MISSING = {
    "NaT": np.array(DAYS), "timedelta NaT": np.array([NO_TIME, 1, 2, 1], "m8[s]"), "NaT in a list": DAYS,
    "pandas NaT": pd.Series(pd.to_datetime(["2020", None, "2021", "2021"])), "pd.NaT": ["a", pd.NaT, "b", "a"],
    "pd.NA": [0, pd.NA, 1, 1], "nullable": pd.Series([0, None, 1, 1], dtype="Int64"),
    "string NA": pd.Series(["a", None, "b", "b"], dtype="string"), "None": ["a", None, "b", "b"],
    "NaN": [0.0, math.nan, 1.0, 1.0], "NaN array": np.array([0.0, math.nan, 1.0, 1.0]),
    "Decimal NaN": [Decimal(0), Decimal("NaN"), Decimal(1), Decimal(1)], "polars": pl.Series([0, None, 1, 1]),
    "arrow": pa.array([0, None, 1, 1]), "empty": ["a", "", "b", "b"], "empty array": np.array(["a", "", "b", "b"]),
    "infinite": [0.0, math.inf, 1.0, 1.0], "infinite array": np.array([0.0, -math.inf, 1.0, 1.0]),
    "masked": np.ma.masked_equal([0, 7, 1, 1], 7), "category": pd.Series(["a", None, "b", "b"], dtype="category"),
    "NaN object": np.array(["a", math.nan, "b", "b"], object),
    "long double": np.array([0, math.nan, 1, 1], np.longdouble),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_one_error_that_names_the_row(kind):
    y = MISSING[kind]
    row = 0 if kind == "timedelta NaT" else 1
    model = linsep.OnlinePerceptron()
    fits = [cls().fit for cls in (linsep.PerceptronClassifier, linsep.MaxMarginClassifier)]
    verify = linsep.decide(XOR, XOR_Y).verify
    for ask in (linsep.decide, verify, model.predict_then_learn, *fits, linsep.Halfspace([1, 1]).margin):
        with pytest.raises(errors.MissingLabelError, match=f"Row {row}: the label is"):
            ask(XOR, y)


@pytest.mark.parametrize(
    "y", [[1, "1", "0", 1], [0, "a", 1, 1], np.array([1, "1", 0, 1], object), [np.str_("a"), 1.5, 1, 1]]
)
def test_text_beside_numbers_is_refused(y):
    verify = linsep.decide(XOR, XOR_Y).verify
    fits = [cls().fit for cls in (linsep.PerceptronClassifier, linsep.MaxMarginClassifier)]
    for ask in (linsep.decide, verify, linsep.OnlinePerceptron().predict_then_learn, *fits):
        with pytest.raises(errors.NotNumericError, match="some are text"):
            ask(XOR, y)


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        ([2**53 + 1, 0.5], (0.5, 2**53 + 1)), ([2**64, 2**64 + 1], (2**64, 2**64 + 1)), ([True, 0], (0, 1)),
        ([np.uint64(2**64 - 1), np.int64(-1)], (-1, 2**64 - 1)), ([Decimal("1.5"), 1], (1, 1.5)),
        (["a", "a\0"], ("a", "a\0")),
        ([np.bool_(True), False], (False, True)), ([F(1, 2), 2], (0.5, 2)), ([1, 2.0], (1, 2)), ([[0], [1]], (0, 1)),
        (np.array(["x", "y"], np.dtypes.StringDType()), ("x", "y")), (pd.DataFrame({"y": [3, 4]}), (3, 4)),
        ((word for word in ("no", "yes")), ("no", "yes")), (pl.Series([2**100, 1], dtype=pl.Int128), (1, 2**100)),
        (pd.Series([True, False], dtype="boolean"), (False, True)), (np.array([1, 2], ">i4"), (1, 2)),
    ],
)  # fmt: skip
def test_labels_are_not_changed_on_the_way(y, labels):
    found, codes = distinct(read_labels(y, 2))
    assert tuple(found) == labels and sorted(codes) == [0, 1]
    assert [type(label) for label in found] == [type(label) for label in labels] or labels in (
        (1, 1.5),
        (0.5, 2),
        (1, 2),
    )


@pytest.mark.parametrize("y", [[b"a", b"b"], np.array([b"a", b"b"]), DAYS[::2], [object(), 1], [(1, 2), (3, 4)]])
def test_labels_that_are_neither_numbers_nor_text_are_refused(y):
    for ask in (linsep.decide, linsep.decide([[0], [1]], [0, 1]).verify):
        with pytest.raises(errors.NotNumericError, match="numbers, booleans or text"):
            ask([[0], [1]], y)


def test_three_labels_that_a_double_would_make_two():
    with pytest.raises(errors.ManyClassesError):
        linsep.decide([[0], [1], [2]], [2**53, 2**53 + 1, 0.5])
    with pytest.raises(errors.InexactError, match="labels"):
        linsep.PerceptronClassifier().fit([[0], [1], [2]], [2**53, 2**53 + 1, 0.5])


def test_a_label_that_a_double_would_take_for_another_is_not_that_of_the_proof():
    verdict = linsep.decide([[0], [1]], [0.5, float(BIG)])
    with pytest.raises(errors.CertificateError, match="Row 1 has the label 9007199254740993"):
        verdict.verify([[0], [1]], [0.5, BIG + 1])


# A source made of functions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "error", "said"),
    [
        ([(XOR, [-1, 1, 1])], errors.LengthError, "^part 0.*4 rows, but y has 3"),
        ([(XOR[:3], [-1, 1, 1, -1])], errors.LengthError, "3 rows, but y has 4"),
        ([(XOR, XOR_Y)], errors.ArgumentError, "row 0: the label is 0. Labels .* -1 and"),
        ([(XOR, [-1, 1, 1, 257 - 2])], errors.ArgumentError, "row 3: the label is 255"),
        ([(XOR, [-1, 1, 1, 1.5])], errors.ArgumentError, "row 3: the label is 1.5"),
        ([(XOR, ["-1", "1", "1", "-1"])], errors.ArgumentError, "row 0: the label is '-1'"),
        ([(XOR, [True] * 4)], errors.ArgumentError, "row 0: the label is True"),
        ([(XOR, [-1, 1, None, 1])], errors.MissingLabelError, "part 0.*row 2"),
        ([(XOR, [-1, 1, 1, -1]), ([1, 2], [1, 1])], errors.ShapeError, "part 1"),
        ([([[1, 2]], [1]), ([[1]], [1])], errors.ShapeError, r"\[1, 2\], from part 1 on"),
        ([([[1, 2]], [1]), (np.zeros((0, 2)), [])], errors.NoRowsError, "part 1"),
        ([([[1.0, 2]], [1]), (sp.csr_array([[1.0, 2]]), [1])], errors.ShapeError, "part 1.*sparse"),
        ([([[BIG + 1]], [1]), ([[0.5]], [1])], errors.InexactError, "part 1"),
        ([[1, 2, 3]], errors.ArgumentError, "not a pair"),
        (None, errors.ArgumentError, "returned None"),
    ],
)
def test_a_part_that_cannot_be_used_is_named(parts, error, said):
    with pytest.raises(error, match=said):
        CallSource(lambda: parts)


def test_an_iterator_that_is_used_up_is_refused():
    once = iter([(XOR, [-1, 1, 1, -1])])
    source = CallSource(lambda: once)
    with pytest.raises(errors.LengthError, match="4 rows the first time and 0 now"):
        linsep.decide(source)


def test_rows_that_come_and_go_are_refused():
    sizes = iter([4, 3, 4, 3])
    source = CallSource(lambda: [(XOR[:n], [-1, 1, 1, -1][:n]) for n in [next(sizes)]])
    with pytest.raises(errors.LengthError, match="the first time and 3 now"):
        linsep.decide(source)


def test_names_of_a_call_source_are_as_many_as_its_columns():
    with pytest.raises(errors.ArgumentError, match="1 names for 2 columns"):
        CallSource(lambda: [(XOR, [-1, 1, 1, -1])], columns=["a"])


# Classifiers, halfspaces, threads ------------------------------------------------------------------------------

CLASSIFIERS = (linsep.PerceptronClassifier, linsep.KernelPerceptronClassifier, linsep.MaxMarginClassifier)
LONG_TABLES = {
    "int64": np.array([[BIG], [BIG + 1]]), "lists": [[BIG, 0.5], [BIG + 1, 0.5]],
    "objects": np.array([[BIG], [BIG + 1]], object),
    "frame": pd.DataFrame({"a": [BIG, BIG + 1], "b": [0.5, 0.5]}), "sparse": sp.csr_array([[BIG], [BIG + 1]]),
    "uint64": np.array([[BIG], [BIG + 1]], np.uint64), "longdouble": np.array([[np.longdouble(1)], [ODD]]),
}  # fmt: skip


@pytest.mark.parametrize("kind", LONG_TABLES)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_classifiers_refuse_what_doubles_would_round(classifier, kind):
    with pytest.raises(errors.InexactError, match=r"Row 1, column (0|'a')"):
        classifier().fit(LONG_TABLES[kind], [0, 1])
    width = LONG_TABLES[kind].shape[1] if kind != "lists" else 2
    fitted = classifier().fit(np.arange(2 * width).reshape(2, width), [0, 1])
    with pytest.raises(errors.InexactError, match=r"Row 1, column (0|'a')"):
        fitted.predict(LONG_TABLES[kind])


@pytest.mark.parametrize("kind", LONG_TABLES)
def test_online_learning_refuses_what_doubles_would_round(kind):
    with pytest.raises(errors.InexactError, match=r"Row 1, column (0|'a')"):
        linsep.OnlinePerceptron().predict_then_learn(LONG_TABLES[kind], [0, 1])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_classifiers_name_the_row_and_column_of_a_bad_number(classifier, bad):
    for X in ([[0.0, 1.0], [1.0, bad]], np.array([[0.0, 1.0], [1.0, bad]])):
        with pytest.raises(errors.NotFiniteError, match=r"^Row 1, column 1 .* holds (NaN|inf): not a finite number"):
            classifier().fit(X, [0, 1])
        with pytest.raises(errors.NotFiniteError, match="Row 1, column 1"):
            classifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).predict(X)


def test_a_source_where_rows_are_needed_is_refused_in_our_words():
    source = CallSource(lambda: [(XOR, [-1, 1, 1, -1])])
    asked = [linsep.Halfspace([1, 1]).score, linsep.homogenise, linsep.explore]
    for ask in asked:
        with pytest.raises(
            (errors.ShapeError, errors.ArgumentError, errors.LengthError),
            match=r"CallSource|y is missing",
        ):
            ask(source)


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
@pytest.mark.parametrize("make", [np.array, sp.csr_array, lambda rows: rows])
def test_a_halfspace_refuses_a_row_that_is_not_finite(bad, make):
    plane = linsep.Halfspace([1.0, -1.0])
    for ask in (plane.score, plane.predict, plane.distance):
        with pytest.raises(errors.NotFiniteError, match="Row 1, column 0"):
            ask(make([[1.0, 2.0], [bad, 1.0]]))


def test_a_halfspace_scores_long_integers_and_overflowing_rows_rightly():
    plane = linsep.Halfspace([1.0, -1.0])
    assert plane.score(np.array([[BIG + 1, BIG]])).tolist() == [1.0]
    assert plane.score(sp.csr_array(np.array([[BIG + 1, BIG]]))).tolist() == [1.0]
    assert linsep.Halfspace([4.0, -4.0]).predict([[1.7e308, 1.6e308], [1.6e308, 1.7e308]]).tolist() == [1, -1]
    assert linsep.Halfspace([2**62, 2**62]).score(np.array([[2, 2]])).tolist() == [2**64]
    assert linsep.Halfspace([1], labels=(0.5, BIG + 1)).predict([[1], [-1]]).tolist() == [BIG + 1, 0.5]


@pytest.mark.parametrize(("w", "error"), [([BIG + 1, 0.5], errors.InexactError), ([[1, 2]], errors.ShapeError)])
def test_weights_that_would_be_rounded_are_refused(w, error):
    with pytest.raises(error):
        linsep.Halfspace(w)


def test_a_halfspace_is_asked_about_rows_of_its_width():
    with pytest.raises(errors.ShapeError, match="3 columns, but the halfspace has 2 weights"):
        linsep.Halfspace([1, 2]).score([[1, 2, 3]])


@pytest.mark.parametrize("asked", ["abc", "0", "-2", "1.5", "9" * 30])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch, asked):
    monkeypatch.setenv("LINSEP_THREADS", asked)
    with pytest.raises(errors.ArgumentError, match="LINSEP_THREADS"):
        linsep.perceptron(XOR, XOR_Y, order="worst", max_passes=2)


@pytest.mark.parametrize("values", [[2**60, 3 * 2**60, -(2**63)], [2**54 + 4, 0, 5]])
def test_long_integers_that_are_doubles_are_welcome(values):
    assert read_doubles(np.array([values])).values.tolist() == [values]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.uint64])
def test_an_array_is_used_where_it_lies(dtype):
    X = np.ones((5, 3), dtype)
    assert np.shares_memory(read_exact(X).values, X)


# What NumPy would round to one type ---------------------------------------------------------------------------


class Relation:
    """A table of another library: Arrow reads its columns, NumPy would round them."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)

    def __array__(self, dtype=None, copy=None):
        return np.array([column.to_numpy() for column in self.table.columns]).T


class Interchanged:
    """A dataframe that only the interchange protocol reads."""

    def __init__(self, table):
        self.table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.table.__dataframe__(nan_as_null, allow_copy)


MIXED = {
    "a long integer beside a half": {"a": pa.array([BIG, BIG + 1]), "b": pa.array([0.5, 0.5])},
    "uint64 beside int64": {"a": pa.array([LONG, LONG + 1], pa.uint64()), "b": pa.array([-1, -1])},
}
AS = {
    "batch": lambda t: t.to_batches()[0],
    "reader": lambda t: t.to_reader(),
    "relation": Relation,
    "interchange": Interchanged,
    "polars": lambda t: pl.from_arrow(t),
    "struct array": lambda t: t.to_batches()[0].to_struct_array(),
}


@pytest.mark.parametrize("columns", MIXED.values(), ids=list(MIXED))
@pytest.mark.parametrize("hand_over", AS.values(), ids=list(AS))
def test_a_table_of_any_library_is_read_column_by_column(columns, hand_over):
    table = read_exact(hand_over(pa.table(columns)))
    numbers = [[F(v) / k for v, k in zip(row, table.scales or (1, 1), strict=True)] for row in table.values.tolist()]
    assert numbers == [list(map(F, row)) for row in zip(*(c.to_pylist() for c in columns.values()), strict=True)]
    assert table.columns == ("a", "b")


def test_a_record_batch_is_decided_as_the_table_it_is():
    assert linsep.decide(pa.record_batch(MIXED["a long integer beside a half"]), [0, 1]).kind == "separable"


@pytest.mark.parametrize("hand_over", [AS["batch"], AS["reader"], Relation])
def test_columns_of_the_same_name_are_refused_however_they_come(hand_over):
    with pytest.raises(errors.ShapeError, match="'a'"):
        read_exact(hand_over(pa.table([[1, 2], [3, 4]], names=["a", "a"])))


def test_a_table_that_only_numpy_reads_is_refused_rather_than_rounded():
    class Opaque:
        def __array__(self, dtype=None, copy=None):
            return np.array([[BIG, 0.5], [BIG + 1, 0.5]])

    with pytest.raises(errors.ShapeError, match="Opaque"):
        read_exact(Opaque())


def test_a_tensor_whose_integers_numpy_would_make_floats_is_refused():
    gaps = pl.Series([[BIG + 1, None], [BIG, 1]], dtype=pl.Array(pl.Int64, 2))
    with pytest.raises(errors.InputError):
        read_exact(gaps)


@pytest.mark.parametrize("one", [f([1, 2]) for f in (pd.Index, pd.Series, pl.Series, pa.array)])
def test_one_column_without_rows_around_it_is_not_a_table(one):
    with pytest.raises(errors.ShapeError):
        read_exact(one)


@pytest.mark.parametrize(
    "rows",
    [
        [pl.Series([Decimal(BIG) + Decimal("0.5"), Decimal(1)]), pl.Series([Decimal(BIG), Decimal(1)])],
        [pd.Series([BIG + 1, 0.5], dtype=object), pd.Series([BIG, 0.5], dtype=object)],
        [pd.array([BIG + 1, 1], "Int64"), pd.array([BIG, 1], "Int64")],
        [pa.array([BIG + 1, 1]), [BIG, 0.5]],
        [pd.Index([BIG + 1, 1]), (BIG, 0.5)],
    ],
)
def test_rows_that_are_series_are_not_rounded(rows):
    assert linsep.decide(rows, [1, 0]).kind == "separable"


def test_a_memoryview_is_read_as_the_array_it_shows():
    X = np.array([[BIG, 1], [BIG + 1, 1]])
    assert np.array_equal(read_exact(memoryview(X)).values, X)
