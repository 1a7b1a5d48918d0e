"""Ten logistic regressions with published answers: what the literature says, and what linsep proves.

    python benchmarks/logistic.py [folder of the data sets]

Exits 1 if a published answer and ours differ.
"""

import sys

import linsep
from real_data import Logistic, logistic_sets
from timing import table

OURS = {"intercept": "(Intercept)"}  # what the published tables call otherwise


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


def main() -> int:
    lines, wrong = [], 0
    for known, X, y in logistic_sets(sys.argv[1] if len(sys.argv) > 1 else None):
        report = linsep.mle_exists(X, y, known.columns)
        against = disagreements(known, report)
        wrong += bool(against)
        lines.append(line(known, report, against))
    heads = ["regression", "rows x columns", "published", "ours", "coefficients, published", "ours, if not finite", ""]
    print(table(heads, lines))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
