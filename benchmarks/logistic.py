"""Regressions with published answers: what the literature says, and what linsep proves.

    python benchmarks/logistic.py [folder of the data sets]             ten logistic regressions
    python benchmarks/logistic.py [folder] --part models counts families firth
                            R's 34 models, 18 Poisson sets, textbooks of the other families, three Firth fits

Every coefficient of the second command is checked by two linear programs in floats (HiGHS): does any direction along
which the likelihood never falls raise it, does any lower it? Exits 1 if a published verdict or such a program and our
answer differ.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import linsep
from real_data import Logistic, load, logistic_sets, poisson_sets, separation_models
from textbooks import INFCOX, leukaemia, matched_pairs, sex2, wine
from timing import table

OURS = {"intercept": "(Intercept)"}  # what the published tables call otherwise
BY_LPS = {(False, False): "finite", (True, False): "+inf", (False, True): "-inf", (True, True): "undetermined"}
POSITIVE = 1e-7  # the largest score of a program that counts as 0
BRGLM2 = {  # Heinze and Schemper (2002); summary of brglm2: estimates and standard errors
    "(Intercept)": (3.77456, 1.48869),
    "NV": (2.92927, 1.55076),
    "PI": (-0.03475, 0.03958),
    "EH": (-2.60416, 0.77602),
}
LOGISTF = [  # on sex2, as the tests of firthlogist quote them: estimates and profile intervals
    (0.12025405, -0.8185591, 1.07315122),
    (-1.10598131, -1.9737884, -0.30742514),
    (-0.06881673, -0.9414363, 0.78920202),
    (2.26887464, 1.2730216, 3.43543273),
    (-2.11140817, -3.2608611, -1.11773495),
    (-0.78831694, -1.6080879, 0.01518468),
    (3.09601166, 0.7745682, 8.03029352),
]
INFINITE = "-21.2, -21.9 and a warning (coxph)"
BRGLM = {  # the example of brglm's documentation, as brglm prints it
    "(Intercept)": (1.9018, 0.3374),
    "height": (1.1064, 0.2544),
    "diameter": (-0.7536, 0.2103),
    "shady": (-0.8177, 0.3186),
    "midday": (0.2280, 0.2488),
    "late": (-0.7273, 0.2975),
}


def disagreements(known: Logistic, report: linsep.MleReport) -> list[str]:
    """Every published statement that our report contradicts."""
    found = []
    if report.verdict.kind != known.verdict:
        found.append(f"verdict {report.verdict.kind}, published {known.verdict}")
    states = report.coefficients
    for name, published in known.infinite.items():
        state = states[OURS.get(name, name)]
        if state not in (("+inf", "-inf") if published == "inf" else (published,)):
            found.append(f"{name} {state}, published {published}")
    finite = states if known.all_finite else [OURS.get(name, name) for name in known.finite]
    found += [f"{name} {states[name]}, published finite" for name in finite if states[name] != "finite"]
    return found


def line(known: Logistic, report: linsep.MleReport, against: list[str]) -> list[str]:
    """One regression: its size, both verdicts, both sets of coefficients."""
    infinite = {name: state for name, state in report.coefficients.items() if state != "finite"}
    size = f"{report.verdict.n_rows} x {report.verdict.n_columns}"
    said = known.verdict if known.published else "not stated"
    theirs = "all finite" if known.all_finite else shown(known.infinite) or "not stated"
    agree = "; ".join(against) or "agrees"
    return [known.name, size, said, report.verdict.kind, theirs, shown(infinite) or "all finite", agree]


def shown(states: dict[str, str]) -> str:
    """Coefficients with their states, as words."""
    return ", ".join(f"{OURS.get(name, name)} {state}" for name, state in states.items())


def ten(folder: str | None) -> bool:
    """Ten regressions of textbooks and papers; whether all agree."""
    lines, wrong = [], 0
    for known, X, y in logistic_sets(folder):
        report = linsep.mle_exists(X, y, known.columns)
        against = disagreements(known, report)
        wrong += bool(against)
        lines.append(line(known, report, against))
    heads = ["regression", "rows x columns", "published", "ours", "coefficients, published", "ours, if not finite", ""]
    print(table(heads, lines))
    return not wrong


def by_programs(Z: np.ndarray, aliased: list[bool]) -> list[str]:
    """What becomes of each coefficient, by two linear programs for each: the directions w in a box with Z·w >= 0."""
    sizes = np.abs(Z).max(axis=0)
    sizes[sizes == 0] = 1.0
    box = [(0, 0) if left_out else (-1, 1) for left_out in aliased]
    rows, states = -np.unique(Z / sizes, axis=0), []
    for j, left_out in enumerate(aliased):
        raised = []
        for sign in (-1, 1):
            aim = np.zeros(Z.shape[1])
            aim[j] = sign
            found = linprog(aim, A_ub=rows, b_ub=np.zeros(len(rows)), bounds=box, method="highs")
            raised.append(bool(-found.fun > POSITIVE))
        states.append("aliased" if left_out else BY_LPS[raised[0], raised[1]])
    return states


def aliased_of(report: linsep.MleReport) -> list[bool]:
    """Which coefficients are left out."""
    return [state == "aliased" for state in report.coefficients.values()]


def checked(report: linsep.MleReport, Z: np.ndarray) -> list[str]:
    """The coefficients whose state two programs each do not confirm."""
    ours = list(report.coefficients.values())
    theirs = by_programs(Z, aliased_of(report))
    return [name for name, mine, other in zip(report.coefficients, ours, theirs, strict=True) if mine != other]


def by_cells(X: np.ndarray, y: np.ndarray, aliased: list[bool]) -> list[str] | None:
    """The same in fractions, for a table whose different rows are independent: a coefficient is a combination of them.

    For columns that depend on each other but for rounding, which no program in floats can tell apart.
    """
    kept = [j for j, left_out in enumerate(aliased) if not left_out]
    outcomes: dict[tuple[float, ...], set[int]] = {}
    for row, label in zip(X[:, kept].tolist(), y.tolist(), strict=True):
        outcomes.setdefault(tuple(row), set()).add(1 if label > 0 else -1)
    if len(outcomes) != len(kept):
        return None
    entries = [fmpq(*row[j].as_integer_ratio()) for j in range(len(kept)) for row in outcomes]
    unit = fmpq_mat(fmpz_mat(np.eye(len(kept), dtype=int).tolist()))
    shares = fmpq_mat(len(kept), len(kept), entries).solve(unit)
    pure = [(i, next(iter(seen))) for i, seen in enumerate(outcomes.values()) if len(seen) == 1]
    states = ["aliased"] * len(aliased)
    for place, j in enumerate(kept):
        pulls = [shares[i, place] * sign for i, sign in pure]
        states[j] = BY_LPS[any(pull > 0 for pull in pulls), any(pull < 0 for pull in pulls)]
    return states


def counted(states: dict[str, str]) -> str:
    """How many coefficients are in each state."""
    return ", ".join(f"{number} {state}" for state, number in sorted(Counter(states.values()).items()))


def models(folder: str | None) -> bool:
    """R's detectseparation beside us, on 34 models; whether verdicts and programs agree."""
    lines, fine, proofs = [], True, []
    for known in separation_models(folder):
        started = time.process_time()
        report = linsep.mle_exists(known.X, known.y, known.names, bias=False)
        seconds = time.process_time() - started
        verdict = {"overlapping": "none", "touching": "quasi-complete", "separable": "complete"}[report.verdict.kind]
        unlike = Counter(
            f"{theirs} → {ours}"
            for theirs, ours in zip(known.coefficients.values(), report.coefficients.values(), strict=True)
            if theirs != ours
        )
        wrong = checked(report, known.X * np.where(known.y > 0, 1, -1)[:, None])
        confirmed = f"all but {', '.join(wrong)}" if wrong else "all"
        if wrong and by_cells(known.X, known.y, aliased_of(report)) == list(report.coefficients.values()):
            confirmed, wrong = f"{confirmed}; all in fractions", []
        fine &= verdict == known.verdict and not wrong
        size = f"{len(known.y)} x {len(known.names)}"
        said = "; ".join(f"{number} {what}" for what, number in unlike.items()) or "the same"
        states = counted(report.coefficients)
        lines.append([known.name, size, known.verdict, verdict, states, said, confirmed, f"{seconds:.2f} s"])
        proofs += finite_in_r(known, report)
    heads = ["model", "rows x columns", "separation, R", "ours", "coefficients, ours", "R → ours"]
    print(table([*heads, "confirmed by LPs", ""], lines))
    print("\nWhere R says finite and we say infinite, a direction along which the likelihood never falls")
    print("and which moves these coefficients, checked in integers:\n")
    print("\n".join(proofs))
    return fine


def finite_in_r(known: Any, report: linsep.MleReport) -> list[str]:
    """A direction that moves every coefficient that R calls finite and we do not, checked in integers."""
    Z, ours = known.X * np.where(known.y > 0, 1, -1)[:, None], report.coefficients
    infinite = {"+inf": 1, "-inf": -1}
    unlike = {
        j: infinite[ours[name]]
        for j, name in enumerate(known.names)
        if known.coefficients[name] == "finite" and ours[name] in infinite
    }
    if not unlike:
        return []
    w = short_direction(Z, unlike, aliased_of(report))
    terms = " ".join(f"{weight:+d}·{known.names[k]}" for k, weight in enumerate(w) if weight)
    strict = int(np.count_nonzero(Z @ w))
    which = ", ".join(f"{known.names[j]} {ours[known.names[j]]}" for j in unlike)
    return [f"- {known.name}: {which}. `{terms}` has {strict} rows strictly on their side and none on the wrong one."]


def short_direction(Z: np.ndarray, moved: dict[int, int], aliased: list[bool]) -> np.ndarray:
    """Few small integers w with Z·w >= 0 that move some coefficients: the least sum of sizes, made whole."""
    D = Z.shape[1]
    moves = np.zeros((len(moved), D))
    moves[np.arange(len(moved)), list(moved)] = list(moved.values())
    rows, most = np.vstack([-Z, -moves]), np.repeat([0.0, -1.0], [len(Z), len(moved)])
    bounds = 2 * [(0, 0) if left_out else (0, None) for left_out in aliased]
    found = linprog(np.ones(2 * D), A_ub=np.hstack([rows, -rows]), b_ub=most, bounds=bounds, method="highs").x
    whole = Z.astype(np.int64)
    for k in range(1, 61):
        w = np.rint(k * (found[:D] - found[D:])).astype(np.int64)
        if (whole == Z).all() and (whole @ w >= 0).all() and all(sign * w[j] > 0 for j, sign in moved.items()):
            return w
    raise AssertionError("No short direction was found.")


def counts(folder: str | None) -> bool:
    """ppmlhdfe's 18 sets: the separated rows beside the published ones; whether all agree."""
    lines, fine = [], True
    for known in poisson_sets(folder):
        report = linsep.mle_exists(known.X, known.y, known.names, family="poisson")
        ours = set(report.separated_rows or ())
        wrong = checked(report, poisson_rows(known.X, known.y))
        fine &= ours == known.separated and not wrong
        agree = "the same" if ours == known.separated else f"differ: {sorted(ours ^ known.separated)}"
        confirmed = f"all but {', '.join(wrong)}" if wrong else "all"
        size = f"{len(known.y)} x {len(known.names)}"
        numbers = [str(len(known.separated)), str(len(ours))]
        lines.append([known.name, size, *numbers, agree, counted(report.coefficients), confirmed])
    heads = ["set", "rows x columns", "separated rows, published", "ours", "", "coefficients", "confirmed by LPs"]
    print(table(heads, lines))
    return fine


def poisson_rows(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The definition of Correia, Guimarães and Zylkin as rows that must not be negative."""
    A = np.column_stack([np.ones(len(X)), X])
    return np.vstack([-A, A[y > 0]])


def families(folder: str | None) -> bool:
    """Multinomial, ordinal, conditional and Cox models of textbooks; whether verdicts and programs agree."""
    flowers, species = load_iris(return_X_y=True)
    bottles, rating = wine()
    low = (bottles[:, 0] == 0) | (rating == 5)
    group, relapse, week = leukaemia()
    pairs, alike = matched_pairs(37, 16), matched_pairs(37, 0)
    measures = ["sepal length", "sepal width", "petal length", "petal width"]
    both, own = ["warm", "contact"], "not stated; made from the set above"
    cases, alone = {"strata": pairs[2]}, {"strata": alike[2]}
    asked: list[tuple[str, str, str, bool, Any, Any, list[str], dict[str, Any]]] = [
        ("iris", "multinomial", "not stated", False, flowers, species, measures, {}),
        ("iris without setosa", "multinomial", own, True, flowers[50:], species[50:], measures, {}),
        ("wine (Randall 1989)", "ordinal", "2.503, 1.528 (clm)", True, bottles, rating, both, {}),
        ("warm bottles rated 5 alone", "ordinal", own, False, bottles[low], rating[low], both, {}),
        ("infarction and diabetes (Agresti)", "conditional", "log(37/16)", True, *pairs[:2], ["diabetes"], cases),
        ("without the 16 pairs", "conditional", own, False, *alike[:2], ["diabetes"], alone),
        ("leukaemia (Freireich 1963)", "cox", "1.57 (coxph)", True, group, relapse, ["control"], {"time": week}),
        ("survival's test of infinity", "cox", INFINITE, False, *INFCOX, ["x1", "x2"], {"time": np.arange(1, 13)}),
    ]
    lines, fine = [], True
    for name, family, published, exists, X, y, names, options in asked:
        report = linsep.mle_exists(X, y, names, family=family, **options)  # type: ignore[arg-type]
        wrong = checked(report, DEFINITIONS[family](np.asarray(X, float), np.asarray(y), *options.values()))
        fine &= report.exists is exists and not wrong
        ours = "exists" if report.exists else f"{len(report.separated_rows or ())} of {len(y)} rows separated"
        confirmed = f"all but {', '.join(wrong)}" if wrong else "all"
        lines.append([name, family, published, ours, counted(report.coefficients), confirmed])
    print(table(["set", "family", "published", "ours", "coefficients", "confirmed by LPs"], lines))
    return fine


def ordinal_rows(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Thresholds below and above the score of each row."""
    codes = np.searchsorted(np.unique(y), y)
    T = np.eye(codes.max())
    below = [np.r_[T[c], -x] for x, c in zip(X, codes, strict=True) if c < len(T)]
    return np.array(below + [np.r_[-T[c - 1], x] for x, c in zip(X, codes, strict=True) if c > 0])


def multinomial_rows(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The score of each row's class less that of every other; the first class has the score 0."""
    codes = np.searchsorted(np.unique(y), y)
    own = np.vstack([np.zeros(codes.max()), np.eye(codes.max())])
    ahead = [(own[c] - other, x) for x, c in zip(X, codes, strict=True) for k, other in enumerate(own) if k != c]
    return np.array([np.kron(difference, np.r_[1, x]) for difference, x in ahead])


def conditional_rows(X: np.ndarray, y: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Every case less every control of its stratum."""
    return np.array([X[i] - X[j] for i in np.flatnonzero(y) for j in np.flatnonzero((y == 0) & (strata == strata[i]))])


def cox_rows(X: np.ndarray, y: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Every event less every row at risk."""
    return np.array([X[i] - X[j] for i in np.flatnonzero(y) for j in np.flatnonzero(time >= time[i])])


DEFINITIONS: dict[str, Callable[..., np.ndarray]] = {
    "ordinal": ordinal_rows,
    "multinomial": multinomial_rows,
    "conditional": conditional_rows,
    "cox": cox_rows,
}


def firth(folder: str | None) -> bool:
    """Firth's estimates beside those of brglm2, brglm and logistf; whether they agree to the digits printed."""
    X, y = load("sep_endometrial", folder)
    fine = beside("endometrial", "brglm2", linsep.mle_exists(X, y, ["NV", "PI", "EH"]).firth(), BRGLM2, 5)
    print()
    X, y = load("sep_lizards", folder)
    fine &= beside("lizards", "brglm", linsep.mle_exists(X, y, list(BRGLM)[1:]).firth(), BRGLM, 4)
    print()
    return fine & intervals("sex2", linsep.mle_exists(*sex2()).firth())


def intervals(name: str, fit: Any) -> bool:
    """A table of estimates and profile intervals beside those of logistf; whether the digits agree."""
    lines, fine = [], True
    for each, limit, published in zip(fit.estimates, fit.limits.estimates, LOGISTF, strict=True):
        ours = each.value, each.low, each.high
        fine &= max(abs(own - theirs) for own, theirs in zip(ours, published, strict=True)) <= 2e-5
        said = [f"{value:.4f} ({low:.4f} to {high:.4f})" for value, low, high in (published, ours)]
        lines.append([each.name, f"{limit.value:.4f}", *said])
    print(table([name, "limit of ML", "Firth, logistf", "Firth, ours"], lines))
    return fine


def beside(name: str, program: str, fit: Any, published: dict[str, tuple[float, float]], digits: int) -> bool:
    """A table of one set; whether all digits agree."""
    lines, fine = [], True
    for each, limit in zip(fit.estimates, fit.limits.estimates, strict=True):
        value, error = published[each.name]
        fine &= max(abs(each.value - value), abs(each.error - error)) <= 0.51 * 10.0**-digits
        numbers = [
            f"{pair[0]:.{digits}f} ({pair[1]:.{digits}f})" for pair in ((value, error), (each.value, each.error))
        ]
        lines.append([each.name, f"{limit.value:.4f}", *numbers, f"{each.low:.4f} to {each.high:.4f}"])
    print(table([name, "limit of ML", f"Firth, {program}", "Firth, ours", "profile interval"], lines))
    return bool(fine)


PARTS: dict[str, Callable[[str | None], bool]] = {
    "ten": ten,
    "models": models,
    "counts": counts,
    "families": families,
    "firth": firth,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=["ten"])
    asked = parser.parse_args()
    fine = []
    for k, part in enumerate(asked.part):
        print("\n" if k else "", end="")
        fine.append(PARTS[part](asked.folder))
    return int(not all(fine))


if __name__ == "__main__":
    sys.exit(main())
