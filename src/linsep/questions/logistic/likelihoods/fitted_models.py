"""A model of statsmodels, or the result of fitting one, as a model of `mle_exists`. statsmodels is not imported.

Its predictors are used as they are, including the constant, so there is no other intercept. Weights (frequency weights
times variance weights), offsets and exposures are read; so is the link, which is refused if scores cannot grow in both
directions. Anything else that could change the question is refused by name.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linsep.errors import ArgumentError, shown
from linsep.questions.logistic.likelihoods.observed import Extras, Family, Posed
from linsep.sources.base import Array, Floats
from linsep.tables.given_rows import Given, Missing

HOME = "statsmodels"
BINOMIAL_LINKS = ("logit", "probit", "cloglog", "loglog", "cauchy")
LOG_FAMILIES = ("Poisson", "NegativeBinomial", "Tweedie")
DISTRIBUTIONS = {"logistic": "logit", "norm": "probit", "gumbel_l": "cloglog", "gumbel_r": "loglog"}
INSTEAD = {
    "NegativeBinomial": "Its dispersion is estimated too: ask about GLM with families.NegativeBinomial(alpha=...).",
    "GLMGam": "Its penalty gives it an estimate in any case.",
    "OLS": "Least squares have no separation: the estimate exists.",
    "ConditionalMNLogit": "Ask about ConditionalLogit for two classes.",
}


class Read(NamedTuple):
    """What was read from a model about its outcome."""

    family: Family
    y: Any
    link: str = ""  # if it is not the usual one of the family
    weights: Floats | None = None
    strata: Any = None
    time: Any = None


def is_model(X: Any) -> bool:
    """Whether this is a model of statsmodels or a result of one."""
    return any(kind.__module__.partition(".")[0] == HOME for kind in type(X).__mro__)


def of_model(posed: Posed, missing: Missing = None) -> Posed:
    """The model that was given instead of X, as options of `mle_exists`."""
    (given, y, ids, *_), family = posed.rows, posed.family
    model = getattr(given, "model", given)
    if getattr(given, "constraints", None) is not None:
        raise ArgumentError("This fit has constraints between its coefficients: linsep cannot decide about it.")
    name = type(model).__name__
    if name not in READERS or type(model).__module__.partition(".")[0] != HOME:
        hint = INSTEAD.get(name, f"linsep knows {', '.join(READERS)}.")
        raise ArgumentError(f"linsep cannot decide about a {name} of statsmodels. {hint}")
    if model.endog is None or model.exog is None:
        raise ArgumentError(f"The {name} has no predictors, or no longer holds its data: give one that does.")
    beside = {"y": y, "names": posed.names, "missing": missing, **posed.options._asdict()}
    told = [option for option, value in beside.items() if value is not None]
    if told:
        raise ArgumentError(f"A model brings its own data: leave {', '.join(told)} out.")
    read = READERS[name](model)
    if family not in ("binomial", read.family):
        raise ArgumentError(f"family={family!r}, but the {name} is of family {read.family!r}: leave family out.")
    extras = Extras(None, read.weights, _offset(model), read.strata, read.time)
    columns = [str(column) for column in model.exog_names][: model.exog.shape[1]]
    called = model.endog_names
    outcome = called if isinstance(called, str) else str(called[0])
    rows = Given(_predictors(model), read.y, ids)
    return Posed(rows, columns, read.family, False, extras, None, outcome, link=read.link)


def _predictors(model: Any) -> Any:
    """The predictors, as the table that the user gave if there is one, since it knows what rows are called."""
    own: Any = getattr(model.data, "orig_exog", None)
    is_same = hasattr(own, "columns") and own.shape == model.exog.shape and np.array_equal(own.to_numpy(), model.exog)
    return own if is_same else np.asarray(model.exog)


def _index(model: Any) -> Any:
    return getattr(_predictors(model), "index", None)


def _offset(model: Any) -> Floats | None:
    """Offset and the logarithm of the exposure, which is what statsmodels keeps of it."""
    parts = [getattr(model, name, None) for name in ("offset", "exposure")]
    known = [np.asarray(part, np.float64) for part in parts if part is not None]
    return np.asarray(sum(known), np.float64) if known and sum(part.size for part in known) else None


def _unlike(name: str, what: str) -> ArgumentError:
    return ArgumentError(f"linsep cannot decide about a {name} with {what}.")


# ---------------------------------------------------------------------------------------------------
# Each model
# ---------------------------------------------------------------------------------------------------


def _shares(endog: Any, trials: Any = None, weights: Any = None) -> Any:
    """Shares of successes: as labels if each row is one trial, else as successes and failures."""
    shares = np.asarray(endog, np.float64)
    number = np.ones(len(shares)) if trials is None else np.asarray(trials, np.float64)
    counted = np.ones(len(shares), np.bool_) if weights is None else weights > 0
    if (number == 1).all() and np.isin(shares, (0, 1)).all() and len(np.unique(shares[counted])) == 2:
        return shares.astype(np.int64)
    successes = np.where(number == 0, 0, shares) * number  # with 0 trials the share is NaN
    near = np.rint(successes)  # a share was a quotient of counts
    successes = np.where(np.abs(successes - near) <= 1e-9 * number, near, successes)
    return np.column_stack([successes, number - successes])


def _logit(model: Any) -> Read:
    return Read("binomial", _shares(model.endog))


def _probit(model: Any) -> Read:
    return Read("binomial", _shares(model.endog), "probit")


def _glm(model: Any) -> Read:
    family, link = type(model.family).__name__, type(model.family.link).__name__.lower()
    weights = np.asarray(model.freq_weights, np.float64) * np.asarray(model.var_weights, np.float64)
    used = None if (weights == 1).all() else weights
    if family == "Binomial":
        if link not in BINOMIAL_LINKS:
            raise _unlike(f"GLM of family {family}", f"the link {link}: probabilities bound its scores")
        return Read("binomial", _shares(model.endog, model.n_trials, used), "" if link == "logit" else link, used)
    if family not in LOG_FAMILIES or (family == "Tweedie" and not 1 < model.family.var_power < 2):
        power = f" of power {model.family.var_power:g}" if family == "Tweedie" else ""
        raise _unlike("GLM", f"family {family}{power}: binomial and log-linear counts can be separated")
    if link != "log":
        raise _unlike(f"GLM of family {family}", f"the link {link}: means bound its scores")
    return Read("poisson", np.asarray(model.endog), "" if family == "Poisson" else f"family {family}", used)


def _poisson(model: Any) -> Read:
    return Read("poisson", np.asarray(model.endog))


def _classes(model: Any, codes: Any, levels: Sequence[Any]) -> Any:
    """Classes in their order, with their names."""
    import pandas as pd  # statsmodels needs it

    classes = pd.Categorical.from_codes(np.asarray(codes, np.int64), [str(level) for level in levels], ordered=True)
    return pd.Series(classes, index=_index(model))


def _mnlogit(model: Any) -> Read:
    called = model._ynames_map
    return Read("multinomial", _classes(model, model.endog, [called[k] for k in sorted(called)]))


def _ordered(model: Any) -> Read:
    name = str(getattr(model.distr, "name", model.distr))
    if name not in DISTRIBUTIONS:
        raise _unlike("OrderedModel", f"the distribution {shown(name)}: {', '.join(DISTRIBUTIONS)} are known")
    return Read("ordinal", _classes(model, model.endog, list(model.labels)), DISTRIBUTIONS[name])


def _conditional(model: Any) -> Read:
    strata = np.asarray(model.groups)
    if len(strata) != len(model.endog):
        raise _unlike("ConditionalLogit", "rows dropped for missing values: drop them first")
    return Read("conditional", np.asarray(model.endog), strata=strata)


def _phreg(model: Any) -> Read:
    if model.entry is not None:
        raise _unlike("PHReg", "entry times: rows would enter the risk sets late")
    event: Array = np.ones(len(model.endog)) if model.status is None else np.asarray(model.status)
    return Read("cox", event, time=np.asarray(model.endog, np.float64), strata=model.strata)


READERS: dict[str, Callable[[Any], Read]] = {
    "GLM": _glm,
    "Logit": _logit,
    "Probit": _probit,
    "Poisson": _poisson,
    "MNLogit": _mnlogit,
    "OrderedModel": _ordered,
    "ConditionalLogit": _conditional,
    "PHReg": _phreg,
}
