"""Verdicts and their proofs: what linsep says, how it is written down, and how it is checked.

    verdict_base   what all verdicts share: their table, and how they are checked, written and explained
    verdicts       the five verdicts, frozen values with the integers that prove them
    class_verdicts the verdicts about many classes; class_rows makes their rows, class_words explains them
    obstructions   a few rows with weights, the heart of most of them
    checks         what each claim requires of the data, in exact arithmetic
    margin_checks  the same for margins
    definite       the same for positive-definite obstructions: the theorem
    eigenvalues    how its condition is proved in floats
    checked_rows   what a proof is checked against: an array, a sparse matrix, a dataframe, a source
    proof_json     a verdict as JSON, and back
    explain        a verdict in plain words
    sketch         a verdict as a small picture

Nothing here knows about solvers.
"""

from linsep.proofs.obstructions import Obstruction
from linsep.proofs.verdict_base import Kind, Verdict
from linsep.proofs.verdicts import HalfspaceVerdict, NotSeparable, Overlapping, Separable, Touching, Undecided

__all__ = [
    "HalfspaceVerdict",
    "Kind",
    "NotSeparable",
    "Obstruction",
    "Overlapping",
    "Separable",
    "Touching",
    "Undecided",
    "Verdict",
]
