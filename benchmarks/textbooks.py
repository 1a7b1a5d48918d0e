"""Small data sets of textbooks and papers, with their published answers: for the tests and for docs/logistic.md."""

import numpy as np

# logistf's sex2 (Foxman et al. 1997): age, oc, vic, vicl, vis, dia, then cases and controls.
SEX2 = """000010 1 1|001000 14 2|001010 3 1|001100 10 8|001110 12 18|001111 1 0|010000 44 42|010001 3 0|010010 0 1|
011000 15 1|011001 1 0|011010 2 0|011100 7 5|011110 3 6|101000 2 0|101010 1 0|101011 1 0|101100 1 2|101110 0 4|
101111 1 0|110000 5 14|110010 0 1|111000 3 1|111110 0 2"""
# The bitterness of wine (Randall 1989): temperature, contact, rating. clm and polr print 2.503 and 1.528.
WINE = {(0, 0): (4, 9, 5, 0, 0), (0, 1): (1, 7, 8, 2, 0), (1, 0): (0, 5, 8, 3, 2), (1, 1): (0, 1, 5, 7, 5)}
# survival's own test of its check for infinity: coxph stops at -21.2 and -21.9.
INFCOX = np.array([[0, 1] * 6, [0] * 6 + [1] * 6]).T, [1, 0, 1, 0, 1] + [0] * 7
# Freireich et al. 1963, the example of Cox's paper: coxph prints 1.57 for the control group.
TREATED = [6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35]  # < 0: censored
CONTROL = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]


def sex2() -> tuple[list[list[int]], list[list[int]], list[str]]:
    """Predictors, cases and controls, names."""
    groups = [group.split() for group in SEX2.replace("\n", "").split("|")]
    X = [[int(digit) for digit in code] for code, _, _ in groups]
    return X, [[int(cases), int(controls)] for _, cases, controls in groups], ["age", "oc", "vic", "vicl", "vis", "dia"]


def wine() -> tuple[np.ndarray, np.ndarray]:
    """Temperature and contact, and the rating of each bottle."""
    rows = [(*cell, k) for cell, counts in WINE.items() for k, count in enumerate(counts, 1) for _ in range(count)]
    return np.array(rows)[:, :2], np.array(rows)[:, 2]


def leukaemia() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The group, whether there was a relapse, and the week."""
    weeks = np.array([*TREATED, *CONTROL])
    X = np.repeat([[0], [1]], [len(TREATED), len(CONTROL)], axis=0)
    return X, (weeks > 0).astype(int), np.abs(weeks)


def matched_pairs(exposed_case: int, exposed_control: int, both: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Exposure, case or control, and the pair."""
    pairs = [(1, 0)] * exposed_case + [(0, 1)] * exposed_control + [(1, 1)] * both
    return np.reshape(pairs, (-1, 1)), np.tile([1, 0], len(pairs)), np.repeat(np.arange(len(pairs)), 2)
