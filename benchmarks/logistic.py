"""Ten logistic regressions with published answers: what the literature says, what linsep proves, how long it takes.

    python benchmarks/logistic.py [folder of the data sets]

Exits 1 if a published answer and ours differ.
"""

import sys
import time

import linsep
from real_data import Logistic, logistic_sets

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


def main() -> int:
    wrong = 0
    for known, X, y in logistic_sets(sys.argv[1] if len(sys.argv) > 1 else None):
        start = time.perf_counter()
        report = linsep.mle_exists(X, y, known.columns)
        seconds = time.perf_counter() - start
        against = disagreements(known, report)
        wrong += bool(against)
        print(f"{known.name}: {X.shape[0]} rows, {X.shape[1]} columns, {1000 * seconds:.1f} ms")
        print(f"  published  {known.verdict}, {known.infinite or 'nothing said of single coefficients'}")
        print(f"  ours       {report.verdict.kind}, {report.coefficients}")
        print(f"  {'DIFFERENT: ' + '; '.join(against) if against else 'agrees'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
