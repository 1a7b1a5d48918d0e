"""Tables as they come: every kind gives its own numbers and names, or is refused with what to do."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import linsep
from linsep import errors
from linsep.cli import main
from linsep.sources.calls import CallSource
from linsep.tables import read_exact
from linsep.tables.categories import looks_like_ids

CITIES = ["Chur", "Bern", "Chur", "Basel"]
LEVELS = [[0, 1], [1, 0], [0, 1], [0, 0]]  # Basel is the reference
NUMBERS = [[1, 0.5], [2, 1.5], [3, 2.5], [4, 3.5]]
PLAIN = {"a": [1, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5]}


class Capsule:
    """Anything with the Arrow capsule: what duckdb, DataFusion, cuDF and others hand over."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def pandas(values, **kind):
    return pd.DataFrame({"a": pd.Series(values, **kind)})


def arrow(values, *kind):
    return pa.table({"a": pa.array(values, *kind)})


def dictionary(values, order, *, ordered=False):
    codes = pa.array([order.index(value) for value in values])
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=ordered)})


# Numbers -------------------------------------------------------------------------------------------------------------

TABLES = {
    "pandas": pd.DataFrame(PLAIN),
    "pandas nullable": pd.DataFrame(PLAIN).convert_dtypes(),
    "pandas Arrow": pd.DataFrame(PLAIN).convert_dtypes(dtype_backend="pyarrow"),
    "pandas sparse": pd.DataFrame({name: pd.arrays.SparseArray(values) for name, values in PLAIN.items()}),
    "polars": pl.DataFrame(PLAIN),
    "polars lazy": pl.LazyFrame(PLAIN),
    "polars in chunks": pl.concat([pl.DataFrame(PLAIN)[:2], pl.DataFrame(PLAIN)[2:]], rechunk=False),
    "Arrow table": pa.table(PLAIN),
    "Arrow chunks": pa.concat_tables([pa.table(PLAIN).slice(0, 1), pa.table(PLAIN).slice(1)]),
    "record batch": pa.table(PLAIN).to_batches()[0],
    "capsule": Capsule(pa.table(PLAIN)),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_gives_its_numbers_and_names(kind):
    table = read_exact(TABLES[kind])
    assert (table.values.tolist(), table.columns) == (NUMBERS, ("a", "b"))
    verdict = linsep.decide(TABLES[kind], ["no", "no", "yes", "yes"])
    assert (verdict.kind, verdict.names, verdict.labels) == ("separable", ("a", "b"), ("no", "yes"))
    verdict.verify(TABLES[kind], ["no", "no", "yes", "yes"])


BOOLEANS = {
    "pandas": pandas([True, False, True]),
    "pandas nullable": pandas([True, False, True], dtype="boolean"),
    "pandas objects": pandas([True, False, True], dtype=object),
    "polars": pl.DataFrame({"a": [True, False, True]}),
    "Arrow": arrow([True, False, True]),
}


@pytest.mark.parametrize("kind", BOOLEANS)
@pytest.mark.parametrize("categories", [None, "reference", "all"])
def test_booleans_are_one_column_of_0_and_1(kind, categories):
    table = read_exact(BOOLEANS[kind], categories)
    assert (table.values.tolist(), table.columns) == ([[1], [0], [1]], ("a",))


TENTHS = [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]


@pytest.mark.parametrize(
    "X", [pl.DataFrame({"a": TENTHS}), arrow(TENTHS), pandas(TENTHS, dtype=object), Capsule(arrow(TENTHS))]
)
def test_a_decimal_is_not_rounded(X):
    table = read_exact(X)
    assert [Fraction(int(row[0]), table.scales[0]) for row in table.values] == [Fraction(k, 10) for k in (1, 2, 3)]
    assert linsep.decide(X, [0, 1, 0]).kind == "overlapping"


# Categories ----------------------------------------------------------------------------------------------------------

SORTED = {  # text has no order but that of its characters
    "pandas objects": pandas(CITIES, dtype=object),
    "pandas text": pandas(CITIES),
    "pandas string": pandas(CITIES, dtype="string"),
    "pandas Arrow dictionary": pandas(CITIES, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "pandas category": pandas(CITIES, dtype="category"),
    "polars text": pl.DataFrame({"a": CITIES}),
    "polars lazy text": pl.LazyFrame({"a": CITIES}),
    "polars Categorical": pl.DataFrame({"a": CITIES}, schema={"a": pl.Categorical}),
    "Arrow text": arrow(CITIES),
    "Arrow large text": arrow(CITIES, pa.large_string()),
    "Arrow text views": arrow(CITIES, pa.string_view()),
    "Arrow dictionary": dictionary(CITIES, ["Chur", "Bern", "Basel"]),
    "Arrow dictionary with more": dictionary(CITIES, ["Zug", "Chur", "Bern", "Basel"]),
    "capsule of a dictionary": Capsule(dictionary(CITIES, ["Chur", "Bern", "Basel"])),
}


@pytest.mark.parametrize("kind", SORTED)
def test_text_is_refused_unless_it_is_coded(kind):
    y = [0, 1, 0, 1]
    with pytest.raises(errors.InputError, match=r"Column 'a' holds .*'Chur'.*categories=\"reference\""):
        linsep.decide(SORTED[kind], y)
    table = read_exact(SORTED[kind], "reference")
    assert (table.values.tolist(), table.columns) == (LEVELS, ("a[Bern]", "a[Chur]"))
    every = read_exact(SORTED[kind], "all")
    assert (every.values[:, 1:].tolist(), every.columns[0]) == (LEVELS, "a[Basel]")
    for categories in ("reference", "all"):
        linsep.decide(SORTED[kind], y, categories=categories).verify(SORTED[kind], y)


ORDER = ["Zug", "Chur", "Bern", "Basel"]
OWN_ORDER = {
    "pandas category": pandas(pd.Categorical(CITIES, ORDER)),
    "pandas ordered": pandas(pd.Categorical(CITIES, ORDER, ordered=True)),
    "polars Enum": pl.DataFrame({"a": CITIES}, schema={"a": pl.Enum(ORDER)}),
    "ordered dictionary": dictionary(CITIES, ORDER, ordered=True),
}


@pytest.mark.parametrize("kind", OWN_ORDER)
def test_categories_in_an_order_keep_it_and_an_unused_level_has_no_column(kind):
    table = read_exact(OWN_ORDER[kind], "reference")
    assert table.columns == ("a[Bern]", "a[Basel]")
    assert table.values.tolist() == [[0, 0], [1, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize("X", [pandas(pd.Categorical([30, 10, 30])), dictionary([30, 10, 30], [30, 10])])
def test_a_category_of_numbers_is_neither_its_codes_nor_its_numbers(X):
    with pytest.raises(errors.ColumnTypeError, match="holds categories, such as 30"):
        linsep.decide(X, [0, 1, 0])
    assert read_exact(X, "all").columns == ("a[10]", "a[30]")


def test_columns_stay_in_their_order_and_numbers_beside_categories_are_exact():
    X = pd.DataFrame({"x": [2**53 + 1, 2**53], "site": ["b", "a"], "z": [0.5, 1.5]})
    table = read_exact(X, "reference")
    assert table.columns == ("x", "site[b]", "z")
    exact = [[Fraction(int(v), k) for v, k in zip(row, table.scales, strict=True)] for row in table.values]
    assert exact == [[2**53 + 1, 1, Fraction(1, 2)], [2**53, 0, Fraction(3, 2)]]


def test_thousands_of_levels_are_sparse():
    site = [f"s{k % 3000:04d}" for k in range(9000)]
    X = pl.DataFrame({"x": np.arange(9000) % 7, "site": site})
    table = read_exact(X, "reference")
    assert sp.issparse(table.values) and table.values.shape == (9000, 3000) and table.values.nnz < 18_000
    dense = np.array([[k % 7] + [int(site[k] == name[5:-1]) for name in table.columns[1:4]] for k in range(5)])
    assert (table.values[:5, :4].toarray() == dense).all()


def test_a_named_column_alone_is_coded_also_one_of_numbers():
    X = pd.DataFrame({"plz": [8001, 900, 8001], "x": [1, 2, 3]})
    table = read_exact(X, {"plz": "all"})
    assert (table.columns, table.values.tolist()) == (("plz[900]", "plz[8001]", "x"), [[0, 1, 1], [1, 0, 2], [0, 1, 3]])
    verdict = linsep.decide(X, [0, 1, 1], categories={"plz": "reference"})
    assert verdict.names == ("plz[8001]", "x")
    verdict.verify(X, [0, 1, 1])


def test_a_column_with_about_as_many_levels_as_rows_is_an_id_unless_it_is_named():
    X = pd.DataFrame({"who": [f"p{k}" for k in range(20)], "x": range(20)})
    for ask in (linsep.mle_exists, lambda X, y: linsep.decide(X, y, categories="all")):
        with pytest.raises(errors.ColumnTypeError, match=r"'who' has 20 different values in 20 rows, as an id has"):
            ask(X, [0, 1] * 10)
    assert linsep.decide(X, [0, 1] * 10, categories={"who": "all"}).kind == "separable"
    assert not looks_like_ids(10, 10) and not looks_like_ids(100, 200) and looks_like_ids(101, 200)


REFUSED = {
    "null": (pandas(["u", None]), {}, errors.MissingValueError, "Row 1, column 'a'"),
    "empty text": (pandas(["u", ""]), {}, errors.MissingValueError, "Row 1, column 'a'"),
    "null category": (pandas(pd.Categorical(["u", None])), {}, errors.MissingValueError, "Row 1, column 'a'"),
    "mixed objects": (pandas([1, "u"]), {}, errors.NotNumericError, "Row 1, column 'a' holds 'u'"),
    "text among numbers": (pandas(["1", "?"]), {}, errors.NotNumericError, r"Row 1, column 'a' holds '\?'.*name it"),
    "dates": (pandas(pd.to_datetime(["2020", "2021"])), {}, errors.ColumnTypeError, "holds dates with times"),
    "lists": (pl.DataFrame({"a": [[1], [2]]}), {}, errors.ColumnTypeError, "holds lists"),
    "bytes": (arrow([b"u", b"v"]), {}, errors.ColumnTypeError, "holds bytes"),
    "one level": (pandas(["u", "u"]), {}, errors.NoColumnsError, "one value in all rows"),
    "a name twice": (pd.DataFrame({"a": ["u", "v"], "a[v]": [1, 2]}), {}, errors.HeaderError, r"'a\[v\]'"),
    "no such column": (pandas(["u", "v"]), {"categories": {"b": "all"}}, errors.MissingColumnError, "no column 'b'"),
    "another is text": (pd.DataFrame({"a": ["u", "v"], "b": ["u", "v"]}), {"categories": {"b": "all"}},
                        errors.NotNumericError, "Column 'a' holds text"),
    "named floats": (pandas([0.5, 1.5]), {"categories": {"a": "all"}}, errors.ColumnTypeError, "not categories"),
    "names of an array": ([[1], [2]], {"categories": {"a": "all"}}, errors.ArgumentError, "not a dataframe"),
    "another word": (pandas(["u", "v"]), {"categories": "dummy"}, errors.ArgumentError, "categories is 'dummy'"),
    "another coding": (pandas(["u", "v"]), {"categories": {"a": "x"}}, errors.ArgumentError, "'reference' or 'all'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_coded_is_refused(kind):
    X, options, error, said = REFUSED[kind]
    with pytest.raises(error, match=said):
        linsep.decide(X, [0, 1], **{"categories": "reference", **options})


@pytest.mark.parametrize(
    "X", [pandas(pd.Categorical(["1", "2+"])), pl.DataFrame({"a": ["1", "2+"]}, {"a": pl.Enum(["1", "2+"])})]
)
def test_declared_categories_may_be_numbers_and_text(X):
    assert read_exact(X, "reference").columns == ("a[2+]",)


def test_mle_exists_codes_text_by_itself_and_names_the_culprit_level():
    X = pd.DataFrame({"site": ["A", "A", "B", "B", "C", "C"], "age": [1, 2, 1, 2, 1, 2]})
    report = linsep.mle_exists(X, [0, 1, 1, 0, 1, 1])
    states = {"(Intercept)": "finite", "site[B]": "finite", "site[C]": "+inf", "age": "finite"}
    assert (report.coefficients, report.separated_rows) == (states, (4, 5))
    report.verify(X, [0, 1, 1, 0, 1, 1])
    with pytest.raises(errors.NotNumericError):
        linsep.mle_exists(X, [0, 1, 1, 0, 1, 1], categories=None)


def test_a_text_column_may_be_the_strata():
    X = pl.DataFrame({"x": [1, 2, 3, 1], "clinic": ["u", "u", "v", "v"]})
    report = linsep.mle_exists(X, [0, 1, 1, 0], family="conditional", strata="clinic")
    assert report.coefficients == {"x": "+inf"}


@pytest.mark.parametrize("ask", [linsep.decide_classes, linsep.max_margin, linsep.max_margin_classes])
def test_every_question_codes_text(ask):
    X, y = pandas(["u", "v", "w", "u"]), [0, 1, 1, 0]
    ask(X, y, categories="all").verify(X, y)


def test_a_proof_about_coded_text_is_refused_for_other_levels():
    X, y = pandas(["u", "v", "w"]), [0, 1, 1]
    verdict = linsep.verdict_from_json(linsep.decide(X, y, categories="reference").to_json())
    verdict.verify(X, y)
    for other in (pandas(["v", "u", "w"]), pandas(["u", "v", "x"]), pandas(["u", "u", "w"])):
        with pytest.raises(errors.CertificateError):
            verdict.verify(other, y)


# Labels by name, and queries -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_the_label_column_may_be_named(make):
    X = make({"x": [1, 2, 3], "kind": ["a", "b", "b"]})
    verdict = linsep.decide(X, "kind")
    assert (verdict.names, verdict.labels) == (("x",), ("a", "b"))
    verdict.verify(X, "kind")
    with pytest.raises(errors.MissingColumnError, match="no column 'sort'"):
        linsep.decide(X, "sort")


BLOOD = pd.DataFrame(
    {
        ("blood", "sugar"): [1.0, 2, 3, 4, 2.5],
        ("age", ""): [3, 4, 5, 6, 3],
        ("who", "name"): list("pqrst"),
        ("who", "ill"): [0, 0, 1, 1, 0],
    }
)
ILL, NAME = ("who", "ill"), ("who", "name")


@pytest.mark.parametrize("ask", [linsep.decide, linsep.max_margin, linsep.decide_classes, linsep.mle_exists])
def test_a_column_whose_name_has_levels_is_named_by_them_or_by_its_text(ask):
    found, known = ask(BLOOD, ILL, ids=NAME), ask(BLOOD, "who.ill", ids="who.name")
    assert found.explain() == known.explain()
    found.verify(BLOOD, ILL)
    frame = found.frame(BLOOD)
    assert set(frame["who.name"]) <= set("pqrst") and {"blood.sugar", "age"} <= set(frame.columns)


def test_a_column_whose_name_has_levels_may_be_coded_or_hold_weights():
    table = BLOOD.copy()
    table["w", ""] = [1, 1, 1, 1, 2]
    report = linsep.mle_exists(table, ILL, weights=("w", ""), categories={NAME: "all"})
    assert list(report.coefficients)[:4] == ["(Intercept)", "blood.sugar", "age", "who.name[p]"]
    written = linsep.mle_exists("`who.ill` ~ `blood.sugar`", table, ids=NAME, weights=("w", ""))
    assert written.coefficients == {"(Intercept)": "-inf", "blood.sugar": "+inf"}
    assert written.separated_ids == tuple("pqrst")


@pytest.mark.parametrize("library", [pd, pl])
def test_labels_that_are_still_a_column_of_the_table_are_refused(library):
    """Every label is separated by itself: the verdict would be true, and not what was asked."""
    frame = library.DataFrame({"x": [1.0, 2.0, 1.5, 3.0], "y": [0, 1, 1, 0]})
    for ask in (linsep.decide, linsep.mle_exists, linsep.fewest_mistakes):
        with pytest.raises(errors.ArgumentError, match="column 'y' of X holds the labels"):
            ask(frame, frame["y"])
    assert linsep.decide(frame, y="y").kind == "overlapping"
    assert linsep.decide(frame[["x"]], frame["y"]).kind == "overlapping"
    assert linsep.decide(frame, 1 - frame["y"]).kind == "separable"  # another column by the same name


def test_a_tuple_that_names_no_column_is_refused_unless_it_may_be_the_labels():
    with pytest.raises(errors.MissingColumnError, match=r"no column 'who\.kind'\."):
        linsep.decide(BLOOD, ("who", "kind"))
    with pytest.raises(errors.MissingColumnError, match=r"no column 'who\.id'"):
        linsep.decide(BLOOD, ILL, ids=("who", "id"))
    assert linsep.decide(BLOOD[["age"]].iloc[:2], ("no", "yes")).labels == ("no", "yes")


def test_two_names_of_levels_with_one_text_are_refused():
    X = pd.DataFrame([[1, 2], [3, 4]], columns=pd.MultiIndex.from_tuples([("a.b", "c"), ("a", "b.c")]))
    with pytest.raises(errors.ShapeError, match=r"Two columns are called 'a\.b\.c'"):
        linsep.decide(X, [0, 1])


def test_a_query_is_read_with_its_own_labels_alone():
    duckdb = pytest.importorskip("duckdb")
    query = duckdb.sql("select * from (values (1, 0.10::decimal(4,2), 'u', 0), (2, 0.3, 'v', 1)) t(a, b, c, y)")
    verdict = linsep.decide(query, "y", categories="reference")
    assert (verdict.names, verdict.numbers, verdict.kind) == (("a", "b", "c[v]"), "decimal", "separable")
    verdict.verify(query, "y")
    for X, y in ((query, [0, 1]), ([[0], [1]], query.select("y"))):
        with pytest.raises(errors.ArgumentError, match="a query: its rows have no order"):
            linsep.decide(X, y)


def test_a_table_of_ibis_is_read_as_a_query():
    ibis = pytest.importorskip("ibis")
    table = ibis.memtable(pa.table({"a": [1, 2], "c": ["u", "v"], "y": [0, 1]}))
    verdict = linsep.decide(table, "y", categories="reference")
    assert (verdict.names, verdict.kind) == (("a", "c[v]"), "separable")
    verdict.verify(table, "y")
    with pytest.raises(errors.ArgumentError, match="a query: its rows have no order"):
        linsep.decide(table, [0, 1])


def test_a_query_that_fails_says_so():
    with pytest.raises(errors.ShapeError, match="X is a LazyFrame, and fetching its rows failed"):
        linsep.decide(pl.LazyFrame({"a": [1, 2]}).select("b"), [0, 1])


def test_columns_named_by_numbers_are_named_by_text():
    X = pd.DataFrame([[0, 1, 7], [1, 0, 8]])
    assert linsep.decide(X, [0, 1], ids="2").names == ("0", "1")
    for asked in ({"y": 2}, {"y": [0, 1], "ids": 2}):
        with pytest.raises(errors.ArgumentError, match=r"is 2, a number: columns are named by text\. Say (y|ids)='2'"):
            linsep.decide(X, **asked)


@pytest.mark.parametrize("X", [pd.Series([1, 2]), pl.Series([1, 2])])
def test_a_series_is_told_how_it_becomes_a_table(X):
    with pytest.raises(errors.ShapeError, match=r"A single column is X\.to_frame\(\)"):
        linsep.decide(X, [0, 1])
    assert linsep.decide(X.to_frame(), [0, 1]).kind == "separable"


def test_text_among_objects_is_not_told_to_be_coded_again():
    X = pd.DataFrame({"a": [1, "u", 2]})
    with pytest.raises(errors.NotNumericError, match=r"Row 1, column 'a' holds 'u'.*make all of it text"):
        linsep.decide(X, [0, 1, 1], categories="reference")
    assert linsep.decide(X.astype({"a": str}), [0, 1, 1], categories={"a": "reference"}).names == ("a[2]", "a[u]")


# Rows with gaps ------------------------------------------------------------------------------------------------------

GAPS = [[0.0, 1.0], [math.nan, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
GAPS_Y = [1, 1, 1, 0, 0]
WITH_GAPS = {
    "array": np.array(GAPS),
    "lists": GAPS,
    "None": [[None if v != v else v for v in row] for row in GAPS],
    "masked": np.ma.masked_invalid(np.array(GAPS)),
    "objects": np.array([[None if v != v else v for v in row] for row in GAPS], object),
    "sparse": sp.csr_array(np.array(GAPS)),
    "pandas": pd.DataFrame(GAPS, columns=["a", "b"]),
    "nullable": pd.DataFrame(GAPS, columns=["a", "b"]).convert_dtypes(),
    "polars nulls": pl.DataFrame({"a": [0, None, 1, 0, 1], "b": [1, 1, 0, 0, 1]}),
    "polars NaN": pl.DataFrame(GAPS, schema=["a", "b"], orient="row"),
    "polars lazy": pl.LazyFrame({"a": [0, None, 1, 0, 1], "b": [1, 1, 0, 0, 1]}),
    "Arrow": pa.table({"a": [0, None, 1, 0, 1], "b": [1, 1, 0, 0, 1]}),
    "capsule": Capsule(pa.table({"a": [0, None, 1, 0, 1], "b": [1, 1, 0, 0, 1]})),
}


@pytest.mark.parametrize("kind", WITH_GAPS)
def test_rows_with_gaps_are_refused_or_dropped_and_the_others_keep_their_numbers(kind):
    X = WITH_GAPS[kind]
    with pytest.raises(errors.InputError, match="Row 1"):
        linsep.decide(X, GAPS_Y)
    verdict = linsep.decide(X, GAPS_Y, missing="drop")
    assert (verdict.kind, verdict.obstruction.rows) == ("overlapping", (0, 2, 3, 4))
    assert (verdict.n_rows, verdict.rows_left_out, verdict.facts()["data"]["rows_left_out"]) == (4, 1, "1")
    assert "1 row left out" in verdict.explain(X, GAPS_Y)
    linsep.verdict_from_json(verdict.to_json()).verify(X, GAPS_Y)


def test_a_row_without_a_label_is_dropped_too_and_a_level_of_dropped_rows_has_no_column():
    X = pd.DataFrame({"site": ["A", "B", "C", "B", "C"], "x": [1, 2, 3, 4, None]})
    verdict = linsep.decide(X, [None, "p", "n", "p", "n"], missing="drop", categories="reference")
    assert (verdict.names, verdict.n_rows, verdict.rows_left_out) == (("site[C]", "x"), 3, 2)


def test_names_of_rows_stay_those_of_the_table():
    X = pd.DataFrame(GAPS, columns=["a", "b"], index=list("pqrst"))
    y = pd.Series(GAPS_Y, index=X.index)
    for ids, expected in ((None, ("p", "r", "s", "t")), ([10, 11, 12, 13, 14], (10, 12, 13, 14))):
        verdict = linsep.decide(X, y, ids=ids, missing="drop")
        assert verdict.obstruction.ids == expected
        verdict.verify(X, y)
    named = X.assign(who=[5, 6, 7, 8, 9], y=y)
    verdict = linsep.decide(named, "y", ids="who", missing="drop")
    assert (verdict.names, verdict.obstruction.ids) == (("a", "b"), (5, 7, 8, 9))
    verdict.verify(named, "y")


def test_nearest_and_separated_rows_keep_their_names():
    X = pd.DataFrame({"x": [math.nan, 0, 1, 3, 4]}, index=list("pqrst"))
    y = pd.Series([0, 0, 0, 1, 1], index=X.index)
    widest = linsep.max_margin(X, y, missing="drop")
    assert (widest.nearest.rows, widest.nearest.ids) == ((2, 3), ("r", "s"))
    widest.verify(X, y)
    report = linsep.mle_exists(X, y, missing="drop", weights=[1, 1, 1, 1, 1])
    assert (report.separated_rows, report.separated_ids) == ((1, 2, 3, 4), ("q", "r", "s", "t"))
    report.verify(X, y, weights=[1, 1, 1, 1, 1])
    plain = linsep.mle_exists(X, y, missing="drop")
    plain.verify(X, y)
    assert plain.separated_rows == (1, 2, 3, 4) and plain.facts()["rows_left_out"] == 1
    rest = linsep.mle_exists(X[1:], y[1:]).limits().facts()
    assert plain.limits().facts() == {**rest, "fitted": [None, *rest["fitted"]]}


@pytest.mark.parametrize("by", ["joint", "pairs", "rest"])
def test_rows_of_many_classes_keep_their_numbers(by):
    X, y = np.array([[math.nan], [0], [1], [2], [3]]), ["a", "a", "b", "c", "a"]
    found = linsep.decide_classes(X, y, by=by, missing="drop")
    rows = {row // (3 if by == "joint" else 1) for verdict in found.verdicts for row in verdict.named_rows()}
    assert rows and 0 not in rows
    found.verify(X, y)
    linsep.verdict_from_json(found.to_json()).verify(X, y)


def test_what_else_is_wrong_is_told_with_the_number_of_the_table():
    with pytest.raises(errors.NotFiniteError, match="Row 2"):
        linsep.decide([[None], [1.0], [math.inf]], [0, 1, 0], missing="drop")
    with pytest.raises(errors.NotNumericError, match="Row 2"):
        linsep.decide([[None], [1.0], ["x"]], [0, 1, 0], missing="drop")


def test_a_proof_that_names_a_dropped_row_or_left_out_others_is_refused():
    verdict = linsep.decide(GAPS, GAPS_Y, missing="drop")
    wrong = linsep.Obstruction((1, 2, 3, 4), (1, 1, 1, 1))
    forged = replace(verdict, obstruction=wrong, spread=wrong)
    with pytest.raises(errors.CertificateError, match="row 1, which was left out"):
        forged.verify(GAPS, GAPS_Y)
    with pytest.raises(errors.CertificateError, match="2 rows have missing values; the proof left out 1"):
        verdict.verify([*GAPS[:4], [math.nan, 1.0]], GAPS_Y)


@pytest.mark.parametrize(
    ("X", "y", "options", "error"),
    [
        ([[None], [None]], [0, 1], {"missing": "drop"}, errors.NoRowsError),
        ([[1.0], [2.0]], [0, 1], {"missing": "mean"}, errors.ArgumentError),
        ([[None], [1.0], [2.0]], [0, 1], {"missing": "drop"}, errors.LengthError),
        ([[None], [1.0], [2.0]], [0, 1, 1], {"missing": "drop"}, errors.OneClassError),
        (CallSource(lambda: [([[0.0], [1.0]], [-1, 1])]), None, {"missing": "drop"}, errors.ArgumentError),
    ],
)
def test_dropping_that_leaves_nothing_or_means_nothing_is_refused(X, y, options, error):
    with pytest.raises(error):
        linsep.decide(X, y, **options)


def test_the_frame_of_an_answer_has_the_rows_of_the_table():
    X, y = pd.DataFrame(GAPS, columns=["a", "b"], index=list("pqrst")), GAPS_Y
    verdict = linsep.decide(X, y, missing="drop")
    assert verdict.frame(X).index.tolist() == ["p", "r", "s", "t"]
    read = linsep.verdict_from_json(verdict.to_json())
    assert read.frame(X, y)[["row", "label"]].to_numpy().tolist() == [[0, 1], [2, 1], [3, 0], [4, 0]]
    with pytest.raises(errors.ArgumentError, match="X has 4 rows"):
        verdict.frame(X.dropna())
    report = linsep.mle_exists(X[["a"]], [1, 1, 1, 0, 0], missing="drop", weights=[1, 1, 1, 1, 0])
    assert report.frame(X)[["row", "label"]].to_numpy().tolist() == [[row, 1] for row in report.separated_rows]


# Each question -------------------------------------------------------------------------------------------------------

WARD = pd.DataFrame(
    {
        "age": [31, None, 28, 60, 52, 28, 31, 45],
        "site": ["B", "C", "B", "C", "B", "B", "B", "C"],
        "died": [0, 1, 1, 0, 0, 0, 1, 1],
    },
    index=list("abcdefgh"),
)
KNOWN = WARD.drop(index="b")
AS_IT_IS = {"categories": "reference", "missing": "drop"}


@pytest.mark.parametrize("cost", [None, {0: 1, 1: 5}, [9, 1, 2, 3, 4, 5, 6, 7]])
def test_the_fewest_mistakes_of_a_table_with_gaps_are_those_without_its_gaps(cost):
    found = linsep.fewest_mistakes(WARD, "died", cost=cost, **AS_IT_IS)
    own = [each for k, each in enumerate(cost) if k != 1] if isinstance(cost, list) else cost
    known = linsep.fewest_mistakes(KNOWN, "died", cost=own, categories="reference")
    assert (found.best, found.lower, found.mistaken_ids) == (known.best, known.lower, known.mistaken_ids)
    assert found.frame(WARD).index.tolist() == list(found.mistaken_ids)
    assert found.rows_left_out == 1 and "1 row left out" in found.explain(WARD, "died")
    linsep.verdict_from_json(found.to_json()).verify(WARD, "died")


@pytest.mark.parametrize("gap", [None, math.nan, pd.NA])
@pytest.mark.parametrize("ask", [linsep.fewest_mistakes, linsep.clean])
def test_a_row_without_a_cost_is_dropped_as_one_with_a_gap(ask, gap):
    cost = pd.Series([9, 1, 2, gap, 4, 5, 6, 7], index=WARD.index, dtype=object)
    known = ask(WARD.drop(index=["b", "d"]), "died", cost=cost.drop(["b", "d"]), categories="reference")
    found = ask(WARD, "died", cost=cost, **AS_IT_IS)
    mistakes, other = (getattr(one, "mistakes", one) for one in (found, known))
    assert (mistakes.best, mistakes.lower, mistakes.mistaken_ids) == (other.best, other.lower, other.mistaken_ids)
    assert mistakes.rows_left_out == 2
    mistakes.verify(WARD, "died")
    linsep.verdict_from_json(mistakes.to_json()).verify(WARD, "died")
    with pytest.raises(errors.ArgumentError, match="cost"):
        ask(WARD.drop(index="b"), "died", cost=cost.drop("b"), categories="reference")


def test_a_cost_of_0_beside_one_that_is_missing_is_refused_as_no_proof_tells_them_apart():
    with pytest.raises(errors.ArgumentError, match="Some rows have no cost, and others a cost of 0"):
        linsep.fewest_mistakes(WARD, "died", cost=[0, 1, 2, None, 4, 5, 6, 7], **AS_IT_IS)
    linsep.fewest_mistakes(WARD, "died", cost=[0, 1, 2, 3, 4, 5, 6, 7], **AS_IT_IS).verify(WARD, "died")


def test_costs_of_dropped_rows_that_are_not_there_are_refused():
    found = linsep.fewest_mistakes(WARD, "died", cost=[9, 1, 2, 3, 4, 5, 6, 7], **AS_IT_IS)
    with pytest.raises(errors.CertificateError, match="costs"):
        replace(found, costs=found.costs[:-1]).verify(WARD, "died")


def test_suspects_of_a_table_with_gaps_have_its_numbers_and_names():
    found, known = linsep.clean(WARD, "died", **AS_IT_IS), linsep.clean(KNOWN, "died", categories="reference")
    assert found.ids == known.ids and found.rows == tuple(WARD.index.get_indexer(known.ids))
    assert found.frame(WARD).index.tolist() == list(known.ids) and "1 row left out" in found.explain()
    found.mistakes.verify(WARD, "died")


@pytest.mark.parametrize("table", [WARD, WARD.reset_index(names="who"), pl.from_pandas(WARD.reset_index(names="who"))])
def test_regions_of_a_table_as_it_is_name_its_rows(table):
    found = linsep.separate_regions(table, "died", ids=None if "who" not in table.columns else "who", **AS_IT_IS)
    assert (found.contradictions, found.mistaken_ids) == (((5, 2), (6, 0)), ("f", "g"))
    assert (found.names, found.rows_left_out) == (("age", "site[C]"), 1)
    frame = found.frame(table)
    assert (list(frame["row"]), list(frame["label"]), list(frame["equals"])) == ([5, 6], [0, 1], [2, 0])
    found.verify(table, "died")
    with pytest.raises(errors.CertificateError):
        replace(found, contradictions=((5, 2), (6, 2))).verify(table, "died")


def test_a_run_of_the_perceptron_counts_the_rows_of_the_table():
    run = linsep.perceptron(WARD, "died", max_passes=3, **AS_IT_IS)
    known = linsep.perceptron(KNOWN, "died", max_passes=3, categories="reference")
    assert np.delete(run.mistakes_per_row, 1).tolist() == known.mistakes_per_row.tolist()
    assert run.mistakes_per_row[1] == 0 and run.rows_left_out == 1 and "1 row left out" in run.explain()
    rows = [step.row for step in linsep.perceptron_steps(WARD, "died", max_passes=3, **AS_IT_IS)]
    assert np.bincount(rows, minlength=8).tolist() == run.mistakes_per_row.tolist()
    with pytest.raises(errors.NotFiniteError, match="Row 4"):
        list(linsep.perceptron_steps(WARD.replace(52, math.inf), "died", max_passes=3, **AS_IT_IS))


def test_the_bound_of_a_table_as_it_is_says_what_was_left_out_and_which_rows_forbid_one():
    parted = WARD.assign(died=[0, 1, 0, 1, 1, 0, 0, 1], who=range(8))
    bound = linsep.novikoff(parted, "died", ids="who", **AS_IT_IS)
    assert bound.bound == linsep.novikoff(parted.drop(index="b", columns="who"), "died", categories="reference").bound
    assert "1 row left out" in bound.explain()
    with pytest.raises(errors.NotSeparableError) as caught:
        linsep.novikoff(WARD, "died", **AS_IT_IS)
    assert set(caught.value.verdict.obstruction.ids) <= set(KNOWN.index)
    caught.value.verdict.verify(WARD, "died")


# The command line ----------------------------------------------------------------------------------------------------

SITES = "age,site,died\n1,A,0\n2,A,1\n1,B,1\n2,B,0\n1,C,1\n2,C,1\n"


@pytest.fixture
def sites(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(SITES)


def test_mle_compares_text_with_its_first_level_and_names_the_culprit(sites, capsys):
    assert main(["mle", "d.csv", "--label", "died"]) == 1
    out, err = capsys.readouterr()
    assert "Diverging to +infinity: site[C]." in " ".join(out.split()) or "site[C]" in out
    assert "liased" not in out and "site: one column for each of 'B', 'C', compared with 'A'." in err


def test_a_proof_about_categories_is_verified_by_the_command_that_is_told(sites, capsys):
    for how, code in (("reference", 1), ("all", 1), ("site=all", 1)):
        assert main(["decide", "d.csv", "--label", "died", "--categories", how, "--proof", "p.json"]) == code
        assert f"--categories {how}" in capsys.readouterr().err
        assert main(["verify", "p.json", "d.csv", "--label", "died", "--categories", how]) == 0
    assert main(["decide", "d.csv", "--label", "died"]) == 2
    assert "--categories all" in capsys.readouterr().err


def test_a_model_is_not_made_of_a_reference(sites, capsys):
    assert main(["fit", "d.csv", "--label", "died", "--categories", "reference", "-o", "m.json"]) == 2
    assert "Use --categories all." in capsys.readouterr().err


@pytest.mark.parametrize("how", ["dummy", "site=dummy", "place=all"])
def test_another_coding_is_refused(how, sites, capsys):
    assert main(["decide", "d.csv", "--label", "died", "--categories", how]) == 2
    assert "dummy" in (said := capsys.readouterr().err) or "no column 'place'" in said


@pytest.mark.parametrize("kind", ["Float64", "double[pyarrow]"])
def test_gaps_of_nullable_floats_are_dropped(kind):
    X = pd.DataFrame({"a": pd.array([1.5, None, 2, 3], dtype=kind)})
    verdict = linsep.decide(X, list("nyny"), missing="drop")
    assert (verdict.n_rows, verdict.rows_left_out) == (3, 1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_levels_of_rejected_rows_alone_are_no_levels(tmp_path, kind):
    sites, ages = ["Basel", *["Bern", "Bern", "Chur", "Chur", "Bern", "Bern"]], [None, 1, 2, 3, 1, 1, 3]
    frame = pd.DataFrame({"age": ages, "site": sites, "y": ["no", "no", "yes", "yes", "yes", "yes", "no"]})
    path = tmp_path / f"rows.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    dropped = linsep.mle_exists(frame[["age", "site"]], frame["y"], missing="drop")
    source = linsep.open(path, label="y", categories="reference", reject=tmp_path / "bad.csv")
    assert source.facts.rows_left_out == 1 and source.categories == {"site": ("Bern", "Chur")}
    assert linsep.mle_exists(source).states == dropped.states
    assert dropped.coefficients == {"(Intercept)": "finite", "age": "finite", "site[Chur]": "+inf"}


def written(frame, folder, kind):
    path = folder / f"rows.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else getattr(frame, f"to_{kind}")(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("odd", ["s", "x", "y"])
def test_what_only_dropped_rows_hold_is_not_judged(tmp_path, kind, odd):
    """Row 2 is dropped for its gap in z (or y), though it holds a number among text, or infinity."""
    frame = pd.DataFrame(
        {"x": [1.0, 2, 3, 4, 5], "s": ["u", "v", "u", "v", "v"], "z": [5.0, 6, None, 7, 8], "y": list("ababa")}
    )
    frame.loc[2, "s" if odd == "y" else odd] = math.inf if odd == "x" else "7"
    if odd == "y":
        frame.loc[2, ["z", "y"]] = [6.5, None]
    known = linsep.decide(frame, "y", categories="reference", missing="drop")
    options = {"categories": "reference", "missing": "drop"}
    found = linsep.decide(linsep.open(written(frame, tmp_path, kind), label="y", **options))
    assert (found.names, found.rows_left_out, found.kind) == (known.names, 1, known.kind)


def test_text_among_numbers_in_a_row_that_is_dropped_leaves_a_column_of_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,y\n1,5,a\n2,6,b\n?,,a\n3,7,b\n")
    for categories in (None, "reference"):
        source = linsep.open(tmp_path / "a.csv", label="y", missing="drop", categories=categories)
        assert (linsep.decide(source).names, source.n_rows) == (("x", "z"), 3)


def test_infinity_beside_a_gap_is_dropped_in_an_array_too(tmp_path):
    np.savez(tmp_path / "a.npz", X=[[1, 2], [math.inf, math.nan], [3, 4]], y=[0, 1, 1])
    np.savez(tmp_path / "b.npz", X=[[1, 2], [math.inf, 2], [3, 4]], y=[0, math.nan, 1])
    np.savez(tmp_path / "c.npz", X=[[1, 2], [math.inf, 2], [3, 4]], y=[0, 1, 1])
    for name in ("a", "b"):
        assert linsep.open(tmp_path / f"{name}.npz", missing="drop").n_rows == 2
    with pytest.raises(errors.NotFiniteError, match="row 1, column 0"):
        linsep.open(tmp_path / "c.npz", missing="drop")


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_text_among_numbers_and_ids_are_refused_in_files_as_in_memory(tmp_path, kind):
    odd = pd.DataFrame({"x": ["1", "2", "?", "3"], "y": list("abab")})
    with pytest.raises(errors.NotNumericError, match=r"row 2.*column 'x' holds '\?'"):
        linsep.open(written(odd, tmp_path, kind), label="y", categories="reference")
    names = pd.DataFrame({"x": [f"k{i}" for i in range(24)], "z": [*range(12), *[None] * 12], "y": list("ab" * 12)})
    with pytest.raises(errors.ColumnTypeError, match="12 different values in 12 rows, as an id has"):
        linsep.open(written(names, tmp_path, kind), label="y", categories="reference", missing="drop")


def test_text_of_one_file_among_numbers_of_another_is_refused(tmp_path):
    for k, levels in enumerate((["1", "2"], ["u", "v"])):
        pd.DataFrame({"x": levels, "z": [1, 2], "y": ["a", "b"]}).to_parquet(tmp_path / f"part{k}.parquet")
    with pytest.raises(errors.NotNumericError, match=r"part1.*column 'x' holds 'u'"):
        linsep.open(tmp_path / "part*.parquet", label="y", categories="reference")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_levels_that_are_booleans_are_called_alike_in_memory_and_in_files(tmp_path, kind):
    table = pa.table({"g": pa.array([True, False, True]).dictionary_encode(), "x": [1.0, 2, 3], "y": [0, 1, 0]})
    known = linsep.decide(table, "y", categories={"g": "all"})
    write = {"parquet": pyarrow.parquet.write_table, "feather": pyarrow.feather.write_feather}[kind]
    write(table, tmp_path / f"g.{kind}")
    found = linsep.decide(linsep.open(tmp_path / f"g.{kind}", label="y", categories={"g": "all"}))
    assert found.names == known.names == ("g[False]", "g[True]", "x")


# Labels that are ordered categories ----------------------------------------------------------------------------------

RISING = ["low", "low", "high", "high"]
ORDERED = {
    "pandas": pd.Series(pd.Categorical(RISING, categories=["low", "mid", "high"], ordered=True)),
    "pandas array": pd.Categorical(RISING, categories=["low", "high"], ordered=True),
    "polars Enum": pl.Series(RISING, dtype=pl.Enum(["low", "high"])),
    "Arrow": dictionary(RISING, ["low", "high"], ordered=True)["a"],
    "Arrow array": dictionary(RISING, ["low", "high"], ordered=True)["a"].chunk(0),
}


@pytest.mark.parametrize("y", ORDERED.values(), ids=ORDERED)
def test_the_later_of_two_ordered_categories_is_the_positive_class(y):
    verdict = linsep.decide([[0], [1], [2], [3]], y)
    assert verdict.labels == ("low", "high") and verdict.weights[0] > 0
    verdict.verify([[0], [1], [2], [3]], y)
    verdict.verify([[0], [1], [2], [3]], RISING)
    report = linsep.mle_exists([[0], [1], [2], [3]], y, weights=[1, 1, 2, 2])
    assert report.coefficients == {"(Intercept)": "-inf", "x1": "+inf"}
    assert "y is 'high', against 'low'" in report.explain()
    assert "'low' < 'high'" in linsep.mle_exists([[0], [1], [2], [3]], y, family="ordinal").explain()


def test_text_and_categories_without_an_order_are_sorted():
    for y in (RISING, pd.Series(pd.Categorical(RISING, categories=["low", "high"])), pl.Series(RISING)):
        assert linsep.decide([[0], [1], [2], [3]], y).labels == ("high", "low")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_file_keeps_the_order_of_its_labels(tmp_path, kind):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "y": ORDERED["pandas"]})
    path = tmp_path / f"ordered.{kind}"
    getattr(frame, f"to_{kind}")(path)
    source = linsep.open(path, label="y")
    assert source.facts.labels == ("low", "high")
    linsep.decide(frame, "y").verify(source)
    assert linsep.open(path, label="y", positive="low").facts.labels == ("high", "low")


def test_intervals_are_labels_by_their_text_and_ordered_numbers_stay_numbers():
    y = pd.cut(pd.Series([1, 2, 8, 9]), [0, 5, 10])
    assert linsep.decide([[0], [1], [2], [3]], y).labels == ("(0, 5]", "(5, 10]")
    counts = pd.Series(pd.Categorical([3, 3, 0, 5], categories=[0, 3, 5], ordered=True))
    assert linsep.mle_exists([[0], [0], [1], [0]], counts, family="poisson").coefficients["x1"] == "-inf"
    assert linsep.decide([[0], [0], [1], [0]], counts == 0).kind == "separable"


def test_three_ordered_categories_are_listed_in_their_order():
    y = pl.Series(["lo", "mid", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))
    with pytest.raises(errors.ManyClassesError, match=r"\('lo', 'mid', 'hi'\).*y == 'hi'"):
        linsep.decide([[0], [1], [2]], y)
    assert linsep.decide_classes([[0], [1], [2]], y).labels == ("lo", "mid", "hi")


@pytest.mark.parametrize("ordered", [True, False])
def test_an_ordered_dictionary_in_chunks_keeps_its_order(ordered):
    chunks = [dictionary(part, ["b", "a"], ordered=ordered)["a"].chunk(0) for part in (["b", "b"], ["a", "b"])]
    table = pa.table({"a": pa.chunked_array(chunks)})
    assert read_exact(table, "all").columns == (("a[b]", "a[a]") if ordered else ("a[a]", "a[b]"))


LIBRARIES = [pd.DataFrame, partial(pd.DataFrame, index=list("pqrs")), pl.DataFrame, pa.table]
ONE_LEVEL = [
    {"x": [0, 1, 2, 3], "g": [None, "p", "p", "p"]},
    {"c0": [-2, 2, 0, None], "g": [None, "q", "q", "p"]},
    {"x": [0, 1, 2, 3], "g": ["p"] * 4},
    {"x": [0, 1, 2, 3], "g": ["p"] * 4, "who": list("abcd"), "h": [None, "u", "u", "u"]},
    {"x": [0, 1, 2, 3], "g": ["p", None, "p", "p"], "who": [None, "b", "c", "d"]},
    {"x": [0, 1, 2, 3], "g": ["p"] * 4, "who": ["a", None, None, None]},
]
ASKED = [
    linsep.decide,
    linsep.max_margin,
    linsep.fewest_mistakes,
    partial(linsep.fewest_mistakes, cost=[1, 2, 3, 1]),
    linsep.decide_classes,
    partial(linsep.decide_classes, by="pairs"),
]


@pytest.mark.parametrize("made", LIBRARIES)
@pytest.mark.parametrize("columns", ONE_LEVEL)
def test_a_proof_with_a_category_of_one_level_is_verified_and_so_is_the_same_proof_from_a_file(made, columns):
    ids, labels = "who" if "who" in columns else None, [0, 1, 0, 1]
    named = made({**columns, "label": labels})
    table = made(columns)
    beside = pd.Series(labels, index=table.index) if isinstance(table, pd.DataFrame) else pl.Series(labels)
    for X, y in ((table, labels), (table, beside), (table, np.array(labels)), (named, "label")):
        how = {"categories": "reference", "missing": "drop", "ids": ids}
        for ask in ASKED:
            found = ask(X, y, **how)
            for proof in (found, linsep.verdict_from_json(found.to_json())):
                proof.verify(X, y)
                assert len(proof.frame(X, y)) == len(found.frame(X, y)) and proof.explain(X, y)
        linsep.separate_regions(X, y, **how).verify(X, y)


def test_a_text_column_that_is_neither_ids_nor_of_one_level_is_called_by_its_own_name():
    proof = linsep.decide(pd.DataFrame({"x": [0, 1]}), [0, 1])
    other = pd.DataFrame({"x": [0, 1], "who": ["a", "b"], "name": ["c", "d"]})
    with pytest.raises(
        errors.CertificateError, match=r"^The column 'who' is not one of the proof\. Leave it out, or say ids"
    ):
        linsep.verdict_from_json(proof.to_json()).verify(other, [0, 1])


@pytest.mark.parametrize("how", [{}, {"missing": "drop"}, {"ids": "a"}])
def test_two_columns_of_one_name_are_refused_by_that_name(how):
    cells, names = [[1, 2], [3, 4]], ["a", "a"]
    arrow = pa.table([pa.array([1, 3]), pa.array([2, 4])], names=names)
    for table in (pd.DataFrame(cells, columns=names), arrow):
        with pytest.raises(errors.ShapeError) as caught:
            linsep.decide(table, [0, 1], **how)
        assert str(caught.value) == "Two columns are called 'a'. Rename one of them."
        with pytest.raises(errors.ShapeError, match=r"^Two columns are called 'a'\. Rename one of them\.$"):
            linsep.PerceptronClassifier().fit(table, [0, 1])
