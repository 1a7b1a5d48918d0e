"""Models of statsmodels: read by what they hold, here in stand-ins, and in statsmodels itself where it is installed."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import linsep
from linsep.errors import ArgumentError, ShapeError

TABLE = pd.DataFrame(
    {"const": 1.0, "age": [3, 5, 6, 2, 6, 5, 2.0], "chur": [0, 0, 0, 1, 0, 0, 0.0]}, index=list("tuvwxyz")
)
DIED = np.array([0, 1, 0, 1, 1, 0, 1])
COUNTS = np.array([0, 2, 1, 0, 1, 2, 3])
GROUPS = np.array([1, 1, 2, 2, 1, 2, 2])


class Held:
    """Some attributes."""

    def __init__(self, **held):
        self.__dict__.update(held)


def model(name, endog, columns=("const", "age", "chur"), home="statsmodels.stand_in", **held):
    """What linsep looks at in a model of statsmodels, and nothing else."""
    exog = TABLE[list(columns)]
    own = {"endog": endog, "endog_names": "y", "exog_names": list(columns), "exog": exog.to_numpy(), **held}
    return type(name, (Held,), {"__module__": home})(data=Held(orig_exog=exog), **own)


def glm(family, link, endog, **held):
    kind = type(family, (Held,), {})(link=type(link, (), {})(), **held.pop("of_family", {}))
    ones = np.ones(len(endog))
    given = {"freq_weights": ones, "var_weights": ones, "n_trials": ones, "offset": None, "exposure": None, **held}
    return model("GLM", endog, family=kind, **given)


def states(given, **options):
    return linsep.mle_exists(given, **options).coefficients


def of_table(y, columns=("const", "age", "chur"), **options):
    return linsep.mle_exists(TABLE[list(columns)], y, bias=False, **options).coefficients


@pytest.mark.parametrize("name", ["Logit", "Probit"])
def test_a_binary_model_and_its_result_are_the_rows_that_they_hold(name):
    given = model(name, DIED)
    result = type("BinaryResultsWrapper", (Held,), {"__module__": "statsmodels.stand_in"})(model=given)
    assert states(given) == states(result) == of_table(DIED) == {"const": "finite", "age": "finite", "chur": "+inf"}
    linsep.mle_exists(given).verify(result)


@pytest.mark.parametrize(("link", "is_unique"), [("Logit", True), ("Cauchy", False)])
def test_an_estimate_is_called_unique_where_the_likelihood_is_concave(link, is_unique):
    said = linsep.mle_exists(glm("Binomial", link, np.array([0, 1, 0, 1, 1, 0, 0]), columns=("const", "age"))).explain()
    assert ("exists and is unique" in said, "it may not be unique" in said) == (is_unique, not is_unique)


ALL = ("const", "age", "chur")


@pytest.mark.parametrize(
    ("given", "y", "columns", "options"),
    [
        (glm("Binomial", "Logit", DIED), DIED, ALL, {}),
        (glm("Binomial", "CLogLog", DIED / 2, n_trials=2 * np.ones(7)), np.column_stack([DIED, 2 - DIED]), ALL, {}),
        (glm("Binomial", "Logit", DIED, freq_weights=COUNTS), DIED, ALL, {"weights": COUNTS}),
        (glm("Binomial", "Logit", DIED, var_weights=COUNTS), DIED, ALL, {"weights": COUNTS}),
        (glm("Poisson", "Log", COUNTS, exposure=np.ones(7)), COUNTS, ALL, {"family": "poisson"}),
        (glm("NegativeBinomial", "log", COUNTS), COUNTS, ALL, {"family": "poisson"}),
        (glm("Tweedie", "Log", COUNTS, of_family={"var_power": 1.5}), COUNTS, ALL, {"family": "poisson"}),
        (model("Poisson", COUNTS), COUNTS, ALL, {"family": "poisson"}),
        (
            model("ConditionalLogit", DIED, ["age"], groups=GROUPS),
            *(DIED, ["age"], {"family": "conditional", "strata": GROUPS}),
        ),
        (
            model("PHReg", TABLE["age"], ["chur"], status=DIED, entry=None, strata=None, offset=None),
            *(DIED, ["chur"], {"family": "cox", "time": TABLE["age"].to_numpy()}),
        ),
    ],
)
def test_each_model_is_the_family_that_it_says(given, y, columns, options):
    assert states(given) == of_table(y, columns, **options)
    linsep.mle_exists(given).verify(given)


def test_classes_keep_their_names_and_their_order():
    codes = np.array([2, 1, 0, 2, 1, 0, 2])
    classes = model("MNLogit", codes, ["const", "age"], _ynames_map={0: "lo", 1: "mid", 2: "hi"})
    assert list(states(classes)) == ["mid:const", "mid:age", "hi:const", "hi:age"]
    ordered = model("OrderedModel", codes, ["age"], labels=["lo", "mid", "hi"], distr=stats.norm, offset=None)
    assert list(states(ordered)) == ["lo|mid", "mid|hi", "age"]
    assert states(ordered)["age"] == linsep.mle_exists(TABLE[["age"]], codes, family="ordinal").coefficients["age"]


def test_offset_and_exposure_are_those_of_the_fit():
    given = model("Poisson", COUNTS, ["const", "age"], offset=np.arange(7.0), exposure=np.log(TABLE["age"]))
    offset = np.arange(7.0) + np.log(TABLE["age"])
    plain = linsep.mle_exists(TABLE[["const", "age"]], COUNTS, bias=False, family="poisson", offset=offset)
    assert linsep.mle_exists(given).limits().coefficients == plain.limits().coefficients


def test_a_fit_is_not_given_for_a_link_that_it_does_not_have():
    for given in (model("Probit", DIED), glm("NegativeBinomial", "Log", COUNTS)):
        with pytest.raises(ArgumentError, match="this model has"):
            linsep.mle_exists(given).limits()


ENTRY = {"status": DIED, "entry": np.zeros(7), "strata": None, "offset": None}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (model("NegativeBinomial", COUNTS), "NegativeBinomial of statsmodels. Its dispersion"),
        (model("GEE", DIED), "GEE of statsmodels. linsep knows GLM, Logit"),
        (model("GLMGam", DIED), "GLMGam of statsmodels. Its penalty"),
        (glm("Gamma", "Log", COUNTS), "family Gamma"),
        (glm("Gaussian", "Identity", COUNTS), "family Gaussian"),
        (glm("Tweedie", "Log", COUNTS, of_family={"var_power": 2.0}), "family Tweedie of power 2"),
        (glm("Binomial", "Log", DIED), "the link log"),
        (glm("Poisson", "Identity", COUNTS), "the link identity"),
        (model("PHReg", TABLE["age"], ["chur"], **ENTRY), "entry times"),
        (model("OrderedModel", DIED, ["age"], labels=[0, 1], distr=stats.uniform, offset=None), "the distribution"),
        (model("ConditionalLogit", DIED, ["age"], groups=GROUPS[1:]), "dropped for missing values"),
        (model("Logit", None), "no longer holds its data"),
    ],
)
def test_a_model_whose_question_is_another_is_refused_by_name(given, message):
    with pytest.raises(ArgumentError, match=message):
        linsep.mle_exists(given)


def test_a_constrained_fit_and_a_model_of_ones_own_making_are_refused():
    result = type("Results", (Held,), {"__module__": "statsmodels.stand_in"})(model=model("Logit", DIED), constraints=1)
    with pytest.raises(ArgumentError, match="constraints"):
        linsep.mle_exists(result)
    own = type("Logit", (type(model("Logit", DIED)),), {"__module__": "mine"})(**vars(model("Logit", DIED)))
    with pytest.raises(ArgumentError, match="Logit of statsmodels"):
        linsep.mle_exists(own)
    with pytest.raises(ShapeError, match="is not a table"):
        linsep.mle_exists(model("Logit", DIED, home="elsewhere"), DIED)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"y": DIED}, "leave y out"), ({"weights": DIED}, "leave weights out"), ({"family": "cox"}, "family 'binomial'")],
)
def test_a_model_brings_its_own_data(options, message):
    with pytest.raises(ArgumentError, match=message):
        linsep.mle_exists(model("Logit", DIED), **options)


# ---------------------------------------------------------------------------------------------------
# statsmodels itself
# ---------------------------------------------------------------------------------------------------

FRAME = TABLE.assign(died=DIED, n=COUNTS, g=GROUPS, told=np.where(DIED == 1, "yes", "no"))


@pytest.mark.filterwarnings("ignore")
def test_statsmodels_itself_holds_what_is_looked_at():
    smf = pytest.importorskip("statsmodels.formula.api")
    from statsmodels.discrete.conditional_models import ConditionalLogit
    from statsmodels.genmod import families
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    one = {"Intercept": "finite", "age": "finite", "chur": "+inf"}
    assert states(smf.logit("died ~ age + chur", FRAME)) == one
    assert states(smf.probit("died ~ age + chur", FRAME)) == one
    assert states(smf.glm("died ~ age + chur", FRAME, family=families.Binomial())) == one
    first = states(smf.glm("told ~ age + chur", FRAME, family=families.Binomial()))  # it models the first level
    assert first == {**one, "chur": "-inf"}
    assert states(smf.poisson("n ~ age + chur", FRAME, exposure=FRAME["age"])) == {**one, "chur": "-inf"}
    assert list(states(smf.mnlogit("g ~ age", FRAME))) == ["2:Intercept", "2:age"]
    ordered = FRAME.assign(g=pd.Categorical(FRAME["g"], ordered=True))
    assert list(states(OrderedModel.from_formula("g ~ age", ordered))) == ["1|2", "age"]
    assert list(states(ConditionalLogit(FRAME["died"], FRAME[["age"]], groups=FRAME["g"]))) == ["age"]
    cox = linsep.mle_exists(FRAME[["chur"]], FRAME["died"], family="cox", time=FRAME["age"])
    assert states(smf.phreg("age ~ chur", FRAME, status=FRAME["died"])) == cox.coefficients


@pytest.mark.filterwarnings("ignore")
def test_the_limit_where_an_estimate_exists_is_the_fit_of_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api")
    from statsmodels.genmod import families

    counts = smf.glm("n + g ~ age", FRAME, family=families.Binomial(), var_weights=[1, 2, 1, 2, 1, 2, 1])
    for given in (counts, smf.poisson("n ~ age", FRAME, exposure=FRAME["age"])):
        fit = given.fit()
        ours = linsep.mle_exists(fit).limits()
        assert list(ours.coefficients.values()) == pytest.approx(list(fit.params), abs=1e-6)
        assert [each.error for each in ours.estimates] == pytest.approx(list(fit.bse), abs=1e-5)
