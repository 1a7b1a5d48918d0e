"""What linsep says, and why it may be believed: verdicts, how they are written, and how they are checked.

    verdict_base   what every verdict is: about a table, checked, written, told
    verdicts       the five verdicts, frozen values with the integers that prove them
    class_verdicts the verdicts about many classes; class_rows has their rows, class_words their words
    obstructions   a few rows with weights, the heart of most of them
    checks         what each claim requires of the data, in exact arithmetic
    margin_checks  the same for margins
    definite       the same for positive-definite obstructions: the theorem
    eigenvalues    how floats prove its condition
    checked_rows   what a proof is checked against: an array, a sparse matrix, a dataframe, a source
    proof_json     a verdict as JSON, and back
    explain        a verdict in plain words
    sketch         a verdict as a small picture

Nothing in here knows a solver.
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
