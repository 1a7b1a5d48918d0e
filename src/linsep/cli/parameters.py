"""What the commands have in common: the app, exit codes, and the parameters that mean the same everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import App, Parameter
from cyclopts.validators import Number

from linsep import __version__

if TYPE_CHECKING:
    from cyclopts import Token

SEPARABLE, NOT_SEPARABLE, BAD_INPUT, UNDECIDED, FAULT = 0, 1, 2, 3, 4
SIGNALLED = 128  # and the number of the signal, as shells count
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
CODES = {True: SEPARABLE, False: NOT_SEPARABLE, None: UNDECIDED}  # by `separable` and `exists`
OF_A_FAULT = "4 a fault of linsep (--debug shows where)."
LEARNED_CODES = f"Exit codes: 0 separated, 2 bad input, 3 undecided, {OF_A_FAULT}"
DONE_CODES = f"Exit codes: 0 done, 2 bad input, {OF_A_FAULT}"
PROVED_CODES = f"Exit codes: 0 separable, 1 proved not separable, 2 bad input, 3 undecided, {OF_A_FAULT}"

app = App(
    name="linsep",
    help="Can a hyperplane separate the two classes? The answer, with a proof, and the Perceptron, step by step.",
    help_epilogue=f"Example: linsep decide example:xor\n\n{PROVED_CODES}",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # main says what happened
    version=__version__,
)

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
    bool | None, Parameter(help="Fit a bias (intercept) term. [default: yes; example:tao, :wang no]")
]
Seed: TypeAlias = Annotated[int, Parameter(help="Seed for every random choice.", validator=Number(gte=0))]
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
    float,
    Parameter(help="How close the two bounds on the margin must be, relative to it.", validator=Number(gt=0, lt=1)),
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
Format: TypeAlias = Annotated[str | None, Parameter(help="The format of the files, if their names do not say.")]


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


Order: TypeAlias = Literal["cyclic", "restart", "shuffled", "worst"]
MAX_PASSES = 1000


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Run:
    """How the Perceptron is run."""

    order: Annotated[Order, Parameter(help="Which mistake is corrected next.")] = "cyclic"
    bias: Bias = None
    max_updates: Annotated[int | None, Parameter(help="Stop after this many updates.", validator=Number(gte=1))] = None
    max_passes: Annotated[
        int,
        Parameter(help="Stop after this many passes over the rows; 0 for no limit.", validator=Number(gte=0)),
    ] = MAX_PASSES
    seed: Seed = 0
    json: Json = False

    def keywords(self, bias: bool) -> dict[str, Any]:
        """The same for `linsep.on_files.Trainer`."""
        caps = {"max_passes": self.max_passes or None, "max_updates": self.max_updates}
        return {"order": self.order, "bias": bias, "seed": self.seed, **caps}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Which columns are used."""

    columns: Columns = None
    one_hot: Annotated[
        bool,
        Parameter(help="Make a column of 0 and 1 of each category of a text column.", negative="", show_default=False),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Files:
    """How files are read, by every command that reads any."""

    memory: Memory = "512MB"
    reject: Reject = None
    index_base: IndexBase = 1
    header: Header = False
    format: Format = None
    debug: Debug = False

    def keywords(self) -> dict[str, Any]:
        """The same for `linsep.open`."""
        read = {"memory": self.memory, "reject": self.reject, "index_base": self.index_base, "header": self.header}
        return {**read, "format": self.format}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading(Files, Chosen):
    """How files of tables are read. What only some commands take is added below."""

    @property
    def positive(self) -> str | None:
        """The label against all others."""
        return None

    @property
    def numbers(self) -> Literal["binary64", "decimal"] | None:
        """How decimals are read."""
        return None

    @property
    def cache(self) -> str | None:
        """Where slow files are cached."""
        return None

    def keywords(self) -> dict[str, Any]:
        """The same for `linsep.open`."""
        return {**Files.keywords(self), "columns": listed(self.columns), "one_hot": self.one_hot}

    def where_cached(self) -> str | bool | None:
        """The folder of the cache; False for none."""
        return False if self.cache == "none" else self.cache

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


def listed(columns: str | None) -> list[str] | None:
    """The names of --columns."""
    return None if columns is None else [name.strip() for name in columns.split(",")]
