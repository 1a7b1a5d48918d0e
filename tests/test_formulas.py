"""Formulas: the model that is meant, of every kind of table, in the names of the formula; and no program is run."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linsep
from linsep.cli import main
from linsep.errors import (
    ArgumentError,
    InexactError,
    InputError,
    LinsepError,
    MissingPackageError,
    NoColumnsError,
    ShapeError,
)

pytest.importorskip("formulaic")

TABLE = pd.DataFrame(
    {
        "died": ["no", "yes", "no", "yes", "yes", "no", "yes"],
        "age": [3, 5, 6, 2, 6, 5, 2],
        "site": ["Bern", "Basel", "Basel", "Chur", "Bern", "Basel", "Bern"],
        "ward": [1, 2, 1, 2, 1, 2, 2],
        "n": [0, 2, 1, 0, 1, 2, 3],
    }
)


def states(*data, **options):
    return linsep.mle_exists(*data, **options).coefficients


def by_hand(frame, columns):
    """The same predictors without a formula."""
    sites = {f"site[T.{level}]": (frame["site"] == level).astype(int) for level in ("Bern", "Chur")}
    return pd.DataFrame({**frame[[c for c in columns if c != "site"]], **(sites if "site" in columns else {})})


@pytest.mark.parametrize("wrap", [lambda t: t, pl.from_pandas, pa.table, lambda t: t.astype({"site": "category"})])
def test_a_formula_is_the_model_of_its_columns_whatever_the_table_is(wrap):
    report = linsep.mle_exists("died ~ age + site", wrap(TABLE))
    plain = linsep.mle_exists(by_hand(TABLE, ["age", "site"]), TABLE["died"])
    assert report.coefficients == plain.coefficients
    assert report.coefficients["site[T.Chur]"] == "+inf"
    assert report.separated_rows == plain.separated_rows == (3,)
    report.verify("died ~ age + site", wrap(TABLE))


def test_names_are_those_of_the_formula_and_the_intercept_is_the_models_own():
    assert list(states("died ~ age + C(site)", TABLE)) == ["(Intercept)", "age", "C(site)[T.Bern]", "C(site)[T.Chur]"]
    assert list(states("died ~ 0 + site", TABLE)) == ["site[Basel]", "site[Bern]", "site[Chur]"]
    assert list(states("died ~ age:C(ward)", TABLE)) == ["(Intercept)", "age:C(ward)[1]", "age:C(ward)[2]"]
    assert list(states("died ~ I(age**2) + log(age)", TABLE)) == ["(Intercept)", "I(age ** 2)", "log(age)"]


def test_a_dot_stands_for_the_columns_that_nothing_else_names():
    named = list(states("died ~ .", TABLE, weights="n"))
    assert named == ["(Intercept)", "age", "site[T.Bern]", "ward"]  # the one row of Chur has weight 0


@pytest.mark.parametrize(
    ("formula", "options", "plain"),
    [
        ("n ~ age + ward", {"family": "poisson"}, ("n", ["age", "ward"], {})),
        ("site ~ age", {"family": "multinomial"}, ("site", ["age"], {})),
        ("ward ~ age + n", {"family": "ordinal"}, ("ward", ["age", "n"], {})),
        ("died ~ age + strata(ward)", {"family": "conditional"}, ("died", ["age"], {"strata": "ward"})),
        ("died ~ age", {"family": "conditional", "strata": "ward"}, ("died", ["age"], {"strata": "ward"})),
        ("Surv(age, ward2) ~ n", {"family": "cox"}, ("ward2", ["n"], {"time": "age"})),
        ("ward2 ~ n", {"family": "cox", "time": "age"}, ("ward2", ["n"], {"time": "age"})),
        ("cbind(n, ward) ~ age", {}, (["n", "ward"], ["age"], {})),
        ("n ~ age", {"trials": "three"}, ("n", ["age"], {"trials": "three"})),
    ],
)
def test_every_family_takes_a_formula(formula, options, plain):
    table = TABLE.assign(ward2=TABLE["ward"] - 1, three=3)
    y, columns, extras = plain
    values = {name: table[column] for name, column in extras.items()}
    same = linsep.mle_exists(table[columns], table[y], family=options.get("family", "binomial"), **values)
    report = linsep.mle_exists(formula, table, **options)
    assert report.coefficients == same.coefficients
    assert report.separated_rows == same.separated_rows


def test_an_offset_of_the_formula_is_that_of_the_fit():
    given = linsep.mle_exists(TABLE[["ward"]], TABLE["n"], family="poisson", offset=np.log(TABLE["age"])).limits()
    told = linsep.mle_exists("n ~ ward + offset(log(age))", TABLE, family="poisson").limits()
    assert told.coefficients == given.coefficients


def test_levels_keep_their_order_and_those_that_no_row_has_give_no_column():
    site = pd.Categorical(TABLE["site"], categories=["Chur", "Genf", "Bern", "Basel"])
    assert list(states("died ~ site", TABLE.assign(site=site)))[1:] == ["site[T.Bern]", "site[T.Basel]"]


def test_numbers_of_any_width_are_crossed_without_overflow():
    table = TABLE.assign(a=np.array([100, 50, 3, 7, 9, 20, 1], np.int8), b=np.float32(0.1))
    crossed = states("died ~ a:age + I(a**2) + I(a*b)", table)
    doubles = table.astype({"a": float, "b": float})
    assert crossed == states("died ~ a:age + I(a**2) + I(a*b)", doubles)


def test_a_number_that_no_double_is_is_refused():
    with pytest.raises(InexactError, match="are not doubles"):
        states("died ~ age", TABLE.assign(age=2**53 + 1 + TABLE["age"]))


def test_missing_values_are_refused_by_row_and_column_where_the_model_looks():
    table = TABLE.assign(age=TABLE["age"].astype(float).where(TABLE["age"] != 6), other=np.nan)
    with pytest.raises(InputError, match="age"):
        states("died ~ age", table)
    assert list(states("died ~ ward", table)) == ["(Intercept)", "ward"]


def test_what_a_function_makes_of_a_number_must_be_finite():
    with pytest.raises(InputError, match=r"log\(n\)"):
        states("died ~ log(n)", TABLE)


def test_levels_that_are_not_those_of_the_data_are_refused_and_not_taken_for_the_reference():
    with pytest.raises(ArgumentError, match="outside of the nominated levels"):
        states("died ~ C(site, levels=['Bern', 'Chur'])", TABLE)


REFUSED = [
    ("died ~ __import__('os').system('true')", "cannot be read"),
    ("died ~ log(__import__('os').system('true'))", "not part of a formula"),
    ("died ~ I(age.__class__)", "not part of a formula"),
    ("died ~ I([x for x in age])", "not part of a formula"),
    ("died ~ {open('x')}", "not part of a formula"),
    ("died ~ I((lambda: 1)())", "not part of a formula"),
    ("died ~ np.load('x')", "not part of a formula"),
    ("died ~ I(f'{age}')", "not part of a formula"),
    ("died ~ C(site, levels=[open('x')])", "not part of a formula"),
    ("died ~ offset(open('x')) + age", "not part of a formula"),
    ("died ~ I(9**9**9)", "not part of a formula"),
    ("died ~ I('a'*1000000000)", "not part of a formula"),
    ("died ~ lag(age)", "not part of a formula"),
    ("died ~ poly(age, 1000000)", "more than 100 columns"),
    ("died ~ (age + ward)**1000", "crosses more than 5"),
    ("died ~ age +" + " age +" * 3000 + " age", "characters"),
    ("died ~ agee", "names 'agee'"),
    ("died ~ died + age", "both sides"),
    ("log(n) ~ age", "To the left of the ~"),
    ("died ~ age | ward", "several parts"),
    ("died ~ age ~ ward", "needs one ~"),
    ("age + ward", "needs one ~"),
    ("died ~ ", "nothing to the right"),
    ("died ~ 0", "has no coefficient"),
    ("Surv(age, n) ~ 1", "has no coefficient"),
    ("died ~ age +", "cannot be read"),
    ("died ~ strata(ward):age", "is in a product"),
    ("died ~ age + strata(ward)", "has no meaning for family='binomial'"),
    ("n ~ offset(log(agee)) + age", "names 'agee'"),
]


@pytest.mark.parametrize(("formula", "message"), REFUSED, ids=[formula[:40] for formula, _ in REFUSED])
def test_a_formula_that_makes_no_sense_or_more_than_sense_is_refused(formula, message):
    with pytest.raises(ArgumentError, match=message.replace("(", r"\(")):
        linsep.mle_exists(formula, TABLE)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (None, {}, "give the table as the second argument"),
        (TABLE, {"names": ["age"]}, "leave names out"),
        (TABLE, {"bias": False}, "write 0 \\+"),
        (TABLE, {"weights": "nope"}, "no column of that name"),
        (TABLE.to_numpy(), {}, "by name"),
        (TABLE[:0], {}, "no rows"),
    ],
)
def test_misuse_is_refused_with_a_reason(data, options, message):
    with pytest.raises((ArgumentError, ShapeError), match=message):
        linsep.mle_exists("died ~ age", data, **options)


def test_a_category_is_to_blame_even_where_it_is_the_first():
    told = linsep.mle_exists("died ~ age + site", TABLE).explain().splitlines()
    assert told[1] == "modelled: the probability that died is 'yes', against 'no'."
    assert told[2] == "The 1 row with site = Chur is 'yes'."
    first = TABLE.assign(site=TABLE["site"].replace("Chur", "Aarau"))
    report = linsep.mle_exists("died ~ age + C(site)", first)
    assert report.coefficients["(Intercept)"] == "+inf"
    assert report.reasons == ("The 1 row with site = Aarau is 'yes'.",)


def test_a_dot_does_not_take_an_id_for_a_category():
    table = pd.DataFrame({"died": [0, 1] * 10, "age": range(20), "patient": [f"p{k}" for k in range(20)]})
    with pytest.raises(ArgumentError, match="names rows"):
        states("died ~ .", table)
    assert "patient[T.p7]" in states("died ~ patient", table)


def test_without_formulaic_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "formulaic", None)
    with pytest.raises(MissingPackageError, match=r"linsep\[formula\]"):
        states("died ~ age", TABLE)


# ---------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    TABLE.to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def run(capsys, *words):
    return main(["mle", *words]), capsys.readouterr()


def test_the_command_line_takes_a_formula_and_its_text_columns(file, capsys):
    code, said = run(capsys, file, "--formula", "died ~ age + C(site)")
    assert code == 1
    assert "C(site)[T.Chur]   +inf" in said.out


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_label_that_is_chosen_on_the_command_line_is_the_one_that_is_modelled(file, capsys, positive):
    source = linsep.open(file, label="died", columns=["age", "n"], positive=positive)
    found = linsep.mle_exists("died ~ age + n", source)
    assert found.coefficients == linsep.mle_exists(source).coefficients
    assert found.coefficients == linsep.mle_exists(source, weights=[1] * len(TABLE)).coefficients


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--formula", "died ~ agee"], "there is no column 'agee'"),
        (["--formula", "died ~ log(open('x'))"], "is not part of a formula"),
        (["--formula", "died ~ age", "--label", "site"], "leave --label site out"),
        (["--formula", "died ~ age", "--columns", "age"], "leave --columns out"),
        (["--formula", "died ~ age", "--no-bias"], "write 0 +"),
    ],
)
def test_misuse_on_the_command_line_is_refused_with_a_reason(file, capsys, words, message):
    code, said = run(capsys, file, *words)
    assert code == 2
    assert message in said.err


def test_nothing_that_is_typed_as_a_formula_is_run(file, capsys, tmp_path):
    for text in (f"open('{tmp_path}/hit', 'w')", f"I(open('{tmp_path}/hit', 'w'))", f"{{open('{tmp_path}/hit', 'w')}}"):
        assert run(capsys, file, "--formula", f"died ~ {text}")[0] == 2
    assert not (tmp_path / "hit").exists()


def test_a_linsep_error_is_all_that_a_formula_of_random_signs_raises():
    rng = np.random.default_rng(3)
    words = [
        "age",
        "site",
        "+",
        "*",
        ":",
        "(",
        ")",
        "-",
        "/",
        "~",
        "1",
        "0",
        "C",
        ",",
        "`",
        "'",
        "{",
        "}",
        "[",
        "]",
        ".",
    ]
    for _ in range(150):
        text = "died ~ " + " ".join(rng.choice(words, rng.integers(1, 7)))
        try:
            linsep.mle_exists(text, TABLE)
        except LinsepError:
            continue


def test_rows_keep_the_names_of_the_index_or_of_the_column_of_ids():
    named = TABLE.set_axis(list("tuvwxyz"))
    assert linsep.mle_exists("died ~ age + site", named).separated_ids == ("w",)
    with_ids = TABLE.assign(patient=[f"p{k}" for k in range(7)])
    report = linsep.mle_exists("died ~ . - n", with_ids, ids="patient")
    assert "p3" in report.separated_ids
    assert list(report.coefficients) == ["(Intercept)", "age", "site[T.Bern]", "site[T.Chur]", "ward"]
    report.verify("died ~ . - n", with_ids)


@pytest.mark.parametrize("formula", ["died ~ age + site", "died ~ age + C(site)"])
def test_dropped_rows_are_counted_and_the_others_keep_their_numbers_and_names(formula):
    age = [None, *TABLE["age"].iloc[1:]]
    gaps = TABLE.assign(age=age, patient=list("tuvwxyz"), unused=None)
    with pytest.raises(InputError, match="age"):
        linsep.mle_exists(formula, gaps, ids="patient")
    for table, options in ((gaps, {"weights": "n"}), (gaps.assign(n=1), {}), (pl.from_pandas(gaps.assign(n=1)), {})):
        report = linsep.mle_exists(formula, table, ids="patient", missing="drop", **options)
        assert report.verdict.rows_left_out == 1
        assert report.n_rows == 6
        report.verify(formula, table, **options)
    rest = linsep.mle_exists(formula, TABLE[1:].reset_index(drop=True))
    assert report.coefficients == rest.coefficients
    assert report.reasons == rest.reasons
    assert report.separated_rows == tuple(row + 1 for row in rest.separated_rows)
    assert report.separated_ids == tuple("tuvwxyz"[row] for row in report.separated_rows)
    assert report.limits().coefficients == pytest.approx(rest.limits().coefficients, nan_ok=True)


def test_a_formula_has_no_other_coding_and_no_other_gaps():
    for options in ({"categories": "all"}, {"missing": "fill"}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            states("died ~ age", TABLE, **options)


def test_text_columns_without_a_formula_are_said_as_categories_too():
    report = linsep.mle_exists(TABLE[["age", "site"]], TABLE["died"])
    assert report.coefficients["site[Chur]"] == "+inf"
    assert report.reasons == ("The 1 row with site = Chur is 'yes'.",)


SMOKERS = pd.DataFrame(
    {
        "smokes": [True, True, False, False, False, False, True, True],
        "site": list("kkkzkzzz"),
        "age": [1, 5, 2, 4, 3, 7, 5, 2],
        "died": [0, 1, 1, 1, 1, 1, 0, 1],
    }
)


@pytest.mark.parametrize(
    "wrap",
    [lambda t: t, pl.from_pandas, pa.table, lambda t: t.astype({"smokes": object}), lambda t: t.convert_dtypes()],
)
@pytest.mark.parametrize(
    ("right", "names"),
    [
        ("smokes", "(Intercept) smokes[T.True]"),
        ("0 + smokes", "smokes[False] smokes[True]"),
        ("0 + smokes:site", "smokes[False]:site[k] smokes[True]:site[k] smokes[False]:site[z] smokes[True]:site[z]"),
        ("site*smokes - site", "(Intercept) smokes[T.True] site[T.z]:smokes[False] site[T.z]:smokes[True]"),
        ("age:smokes", "(Intercept) age:smokes[False] age:smokes[True]"),
        ("C(smokes)", "(Intercept) C(smokes)[T.True]"),
        ("I(smokes*2) + smokes", "(Intercept) I(smokes*2) smokes[T.True]"),
        ("0 + I(age>3)", "I(age>3)[False] I(age>3)[True]"),
    ],
)
def test_a_boolean_is_a_category_in_a_formula_as_in_r_and_patsy(wrap, right, names):
    found = linsep.mle_exists(f"died ~ {right}", wrap(SMOKERS))
    assert [name.replace(" ", "") for name in found.coefficients] == names.split()
    found.verify(f"died ~ {right}", wrap(SMOKERS))


def test_what_the_rows_of_a_boolean_have_in_common_is_told():
    assert linsep.mle_exists("died ~ 0 + smokes:site", SMOKERS).reasons[0] == "All 4 rows with smokes = False are 1."


def test_an_intercept_alone_is_a_model_and_may_diverge():
    table = TABLE.assign(none=0, kind=list("abcabca"))
    for formula, options, names, state in (
        ("died ~ 1", {}, ["(Intercept)"], "finite"),
        ("none ~ 1", {"family": "poisson"}, ["(Intercept)"], "-inf"),
        ("cbind(none, n) ~ 1", {}, ["(Intercept)"], "-inf"),
        ("kind ~ 1", {"family": "multinomial"}, ["b:(Intercept)", "c:(Intercept)"], "finite"),
    ):
        report = linsep.mle_exists(formula, table, **options)
        assert report.coefficients == dict.fromkeys(names, state)
        report.verify(formula, table)
    assert linsep.mle_exists("died ~ 1", table).limits().coefficients["(Intercept)"] == pytest.approx(np.log(4 / 3))


def test_surv_says_that_the_model_is_coxs(tmp_path, capsys):
    table = pd.DataFrame({"days": [1, 2, 3, 4], "event": [1, 0, 1, 1], "age": [4, 2, 3, 1]})
    report = linsep.mle_exists("Surv(days, event) ~ age", table)
    assert report.family == "cox"
    assert report.coefficients == states("Surv(days, event) ~ age", table, family="cox")
    with pytest.raises(ArgumentError, match=r"the outcome of a Cox model\. Leave family="):
        linsep.mle_exists("Surv(days, event) ~ age", table, family="poisson")
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["mle", str(tmp_path / "t.csv"), "--formula", "Surv(days, event) ~ age"]) in (0, 1)
    assert "the hazard of an event" in capsys.readouterr().out


def test_a_category_of_one_level_is_refused_by_a_formula_as_without_one():
    frame = TABLE[["died"]].assign(site="Bern")
    for data in ("died ~ site", frame), (frame, "died"):
        with pytest.raises(NoColumnsError, match="Column 'site' has one value in all rows"):
            linsep.mle_exists(*data)
    assert states("died ~ 1", frame) == {"(Intercept)": "finite"}
