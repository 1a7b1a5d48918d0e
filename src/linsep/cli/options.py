"""What the commands have in common: exit codes, and the parameters that mean the same everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import Parameter
from cyclopts.validators import Number

if TYPE_CHECKING:
    from cyclopts import Token

    from linsep.sources.files.options import Options

SEPARABLE, NOT_SEPARABLE, BAD_INPUT, UNDECIDED, FAULT = 0, 1, 2, 3, 4
SIGNALLED = 128  # and the number of the signal, as shells count
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
OF_A_FAULT = "4 a fault of linsep (--debug shows where)."


class Terminated(BaseException):
    """SIGTERM or SIGHUP, as an exception with its number: like Ctrl-C it ends the command where it stands."""


STDIN_WORD = "stdin:"  # stands for - on its way through Cyclopts, which takes - for an option


def path(kind: type, tokens: "Sequence[Token]") -> str:
    """A path, or another word that may be -, as it was typed."""
    return "-" if tokens[0].value == STDIN_WORD else tokens[0].value


READABLE = (
    "Files, patterns, folders, or - for standard input: CSV, TSV, Parquet, Arrow, Feather, svmlight, .npy or .npz; "
    "text also .gz, .bz2, .zst."
)
OR_EXAMPLE = "Or example:cornwell, :tao, :wang, :xor."
NewRows: TypeAlias = Annotated[str, Parameter(required=True, converter=path, help=READABLE)]
File: TypeAlias = Annotated[
    str,
    Parameter(
        required=True,
        converter=path,
        help=f"{READABLE} {OR_EXAMPLE}",
    ),
]
Label: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="The label column: its name, or its position such as -1.", allow_leading_hyphen=True, converter=path
    ),
]
Bias: TypeAlias = Annotated[
    bool | None, Parameter(help="Whether the hyperplane may miss the origin. [default: yes; example:tao, :wang no]")
]
Seed: TypeAlias = Annotated[int, Parameter(help="Seed of everything random.", validator=Number(gte=0))]
Progress: TypeAlias = Annotated[
    bool, Parameter(help="Show progress even where stderr is not a terminal.", negative="", show_default=False)
]
Json: TypeAlias = Annotated[bool, Parameter(help="Print JSON instead of text.", negative="", show_default=False)]
Checkpoint: TypeAlias = Annotated[
    str | None, Parameter(help="Save progress in this file; the same command resumes from it.")
]
Proof: TypeAlias = Annotated[str | None, Parameter(help="Where to write the proof (JSON).")]
TimeLimit: TypeAlias = Annotated[
    float | None, Parameter(help="Stop after this many seconds, undecided.", validator=Number(gte=0))
]
Gap: TypeAlias = Annotated[
    float, Parameter(help="How far apart the ends may be, as a part of the margin.", validator=Number(gt=0, lt=1))
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Search:
    """How long an answer is searched for, and how it is told."""

    time_limit: TimeLimit = None
    progress: Progress = False
    json: Json = False


Columns: TypeAlias = Annotated[
    str | None,
    Parameter(help="The columns to use, by name or position, with commas between. [default: all]", converter=path),
]
Memory: TypeAlias = Annotated[str, Parameter(help="How much memory reading may take.")]
IndexBase: TypeAlias = Annotated[int, Parameter(help="The index of the first column of svmlight files: 0 or 1.")]
Reject: TypeAlias = Annotated[str | None, Parameter(help="Write rejected rows to this file instead of stopping.")]
Header: TypeAlias = Annotated[
    bool,
    Parameter(help="The first line of CSV is a header, even if it holds numbers.", negative="", show_default=False),
]
Debug: TypeAlias = Annotated[  # listed here, heard by main wherever it stands
    bool, Parameter(help="Show the traceback of an error.", negative="", show_default=False)
]
Format: TypeAlias = Annotated[str | None, Parameter(help="What the files are, where their names do not say.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Walking:
    """How files are read once, as their rows come."""

    memory: Memory = "512MB"
    reject: Reject = None
    index_base: IndexBase = 1
    header: Header = False
    format: Format = None
    debug: Debug = False

    def options(self, label: str | None, columns: str | None = None) -> "Options":
        """The same as the library has it."""
        from linsep.sources.files import options_of

        return options_of(
            label=label,
            columns=listed(columns),
            memory=self.memory,
            reject=self.reject,
            index_base=self.index_base,
            header=self.header,
        )


Positive: TypeAlias = Annotated[
    str | None, Parameter(help="The positive class; all other labels are negative.", converter=path)
]
Cache: TypeAlias = Annotated[
    str | None,
    Parameter(help="Where slow files are cached: a folder, or none. [default: a private folder, see linsep cache]"),
]
Numbers: TypeAlias = Annotated[
    Literal["binary64", "decimal"] | None, Parameter(help="Read decimals as the nearest doubles, or exactly.")
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read. What not every command can be asked for is added below."""

    columns: Columns = None
    one_hot: Annotated[
        bool,
        Parameter(help="Make a column of 0 and 1 of each category of a text column.", negative="", show_default=False),
    ] = False
    memory: Memory = "512MB"
    reject: Reject = None
    index_base: IndexBase = 1
    header: Header = False
    format: Format = None
    debug: Debug = False

    @property
    def positive(self) -> str | None:
        """The label pitted against all others."""
        return None

    @property
    def numbers(self) -> Literal["binary64", "decimal"] | None:
        """How decimals are read."""
        return None

    @property
    def cache(self) -> str | None:
        """Where slow files are cached."""
        return None

    def options(self, label: str | int | None, numbers: str = "binary64") -> "Options":
        """The same as the library has it; `numbers` is how a proof has them, if nothing else is asked for."""
        from linsep.sources.files import options_of

        return options_of(
            label=label,
            columns=listed(self.columns),
            one_hot=self.one_hot,
            numbers=self.numbers or numbers,  # type: ignore[arg-type]
            memory=self.memory,
            reject=self.reject,
            index_base=self.index_base,
            header=self.header,
        )

    def words(self, *, rows_left_out: int) -> list[str]:
        """The options that another command needs to read the same rows; a proof knows how its numbers were read."""
        given = {
            "--columns": self.columns,
            "--positive": self.positive,
            "--reject": self.reject if rows_left_out else None,
            "--index-base": None if self.index_base == 1 else str(self.index_base),
            "--format": self.format,
        }
        said = [word for name, value in given.items() for word in spelt(name, value)]
        return [*said, *(["--one-hot"] if self.one_hot else []), *(["--header"] if self.header else [])]

    def where_cached(self) -> str | bool | None:
        """The folder of the cache; False for none."""
        return False if self.cache == "none" else self.cache


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Copying(Reading):
    """Files whose labels are kept as they are."""

    cache: Cache = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Learning(Copying):
    """Files of two classes, their numbers as doubles."""

    positive: Positive = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Deciding(Learning):
    """Files of two classes, their numbers as exactly as asked for."""

    numbers: Numbers = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Checking(Reading):
    """Files that a proof is about: they are read themselves, without a cache."""

    positive: Positive = None
    numbers: Numbers = None


def spelt(option: str, value: str | None) -> list[str]:
    """An option and its value as words of a command, in one word where the value would be taken for an option."""
    if value is None:
        return []
    return [f"{option}={value}"] if value.startswith("-") and not value[1:].isdecimal() else [option, value]


def rejects(reading: Reading | None) -> str | None:
    """Where bad rows go."""
    return None if reading is None else reading.reject


def listed(columns: str | None) -> list[str] | None:
    """The names of --columns."""
    return None if columns is None else [name.strip() for name in columns.split(",")]
