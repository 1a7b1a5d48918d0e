"""What the commands have in common: exit codes, and the parameters that mean the same everywhere."""

from typing import Annotated, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

SEPARABLE, NOT_SEPARABLE, BAD_INPUT, UNDECIDED, FAULT = 0, 1, 2, 3, 4
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
OF_A_FAULT = "4 a fault of linsep (--debug shows where)."


class Terminated(BaseException):
    """SIGTERM, as an exception: like Ctrl-C it ends the command where it stands."""


File: TypeAlias = Annotated[str, Parameter(help="A .csv, .npy or .npz file, or example:cornwell, :tao, :wang, :xor.")]
Label: TypeAlias = Annotated[
    str | None,
    Parameter(help="The label column: its name, or its position such as -1.", allow_leading_hyphen=True),
]
Bias: TypeAlias = Annotated[
    bool | None, Parameter(help="Whether the hyperplane may miss the origin. [default: yes; example:tao, :wang no]")
]
Seed: TypeAlias = Annotated[int, Parameter(help="Seed of everything random.", validator=Number(gte=0))]
Progress: TypeAlias = Annotated[
    bool, Parameter(help="Say how it gets on, also where stderr is no terminal.", negative="", show_default=False)
]
Json: TypeAlias = Annotated[bool, Parameter(help="Print JSON instead of text.", negative="", show_default=False)]
Checkpoint: TypeAlias = Annotated[
    str | None, Parameter(help="Keep what is learned in this file; after a stop, go on from it.")
]
Proof: TypeAlias = Annotated[str | None, Parameter(help="Where to write the proof (JSON).")]
TimeLimit: TypeAlias = Annotated[
    float | None, Parameter(help="Give up after so many seconds: undecided.", validator=Number(gte=0))
]
Gap: TypeAlias = Annotated[
    float, Parameter(help="How far apart the ends may be, as a part of the margin.", validator=Number(gt=0, lt=1))
]
