"""What the commands have in common: exit codes, and the parameters that mean the same everywhere."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

SEPARABLE, NOT_SEPARABLE, BAD_INPUT, UNDECIDED, FAULT = 0, 1, 2, 3, 4
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
OF_A_FAULT = "4 a fault of linsep (--debug shows where)."


class Terminated(BaseException):
    """SIGTERM, as an exception: like Ctrl-C it ends the command where it stands."""


File: TypeAlias = Annotated[
    str,
    Parameter(
        help="A file, a pattern, a folder, or - for standard input: CSV, TSV, Parquet, Arrow, Feather, svmlight, .npy "
        "or .npz; text also .gz, .bz2, .zst. Or example:cornwell, :tao, :wang, :xor."
    ),
]
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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read."""

    columns: Annotated[
        str | None, Parameter(help="The columns to use, by name or position, with commas between. [default: all]")
    ] = None
    positive: Annotated[str | None, Parameter(help="Pit this label against all others.")] = None
    one_hot: Annotated[
        bool,
        Parameter(help="Make a column of 0 and 1 of each category of a text column.", negative="", show_default=False),
    ] = False
    numbers: Annotated[
        Literal["binary64", "decimal"] | None, Parameter(help="Read decimals as the nearest doubles, or exactly.")
    ] = None
    memory: Annotated[str, Parameter(help="How much memory reading may take.")] = "512MB"
    cache: Annotated[
        str | None, Parameter(help="Where slow files are cached: a folder, or none. [default: beside the file]")
    ] = None
    reject: Annotated[str | None, Parameter(help="Set bad rows aside in this file instead of stopping.")] = None
    index_base: Annotated[int, Parameter(help="The index of the first column of svmlight files: 0 or 1.")] = 1
    format: Annotated[str | None, Parameter(help="What the files are, where their names do not say.")] = None

    def options(self, label: str | None, numbers: str = "binary64") -> Any:
        """The same as the library has it; `numbers` is how a proof has them, if nothing else is asked for."""
        from linsep.sources.files import options_of

        return options_of(
            label=label,
            columns=None if self.columns is None else [name.strip() for name in self.columns.split(",")],
            one_hot=self.one_hot,
            numbers=self.numbers or numbers,  # type: ignore[arg-type]
            memory=self.memory,
            reject=self.reject,
            index_base=self.index_base,
        )

    def where_cached(self) -> str | bool | None:
        """The folder of the cache; False for none."""
        return False if self.cache == "none" else self.cache
