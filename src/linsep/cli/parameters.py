"""What the commands have in common: the app, exit codes, and the parameters that mean the same everywhere."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import App, Parameter
from cyclopts.validators import Number

from linsep import __version__, on_files
from linsep.errors import ArgumentError

if TYPE_CHECKING:
    from cyclopts import Token

SEPARABLE, NOT_SEPARABLE, BAD_INPUT, UNDECIDED, FAULT = 0, 1, 2, 3, 4
SIGNALLED = 128  # plus the number of the signal, as in shells
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
CODES = {True: SEPARABLE, False: NOT_SEPARABLE, None: UNDECIDED}  # by `separable` and `exists`
OF_A_FAULT = "4 a bug in linsep (--debug shows where)."
LEARNED_CODES = f"Exit codes: 0 separated, 2 bad input, 3 not separated, {OF_A_FAULT}"
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

STDIN_WORD = "stdin:"  # replaces - on its way through Cyclopts, which would take - for an option


def path(kind: type, tokens: "Sequence[Token]") -> str:
    """A path, or another word that may be -, as it was typed."""
    return "-" if tokens[0].value == STDIN_WORD else tokens[0].value


READABLE = (
    "Files, patterns, folders, or - for standard input: CSV, TSV, Parquet, Arrow, Feather, svmlight, .vw, .npy or "
    ".npz; text also .gz, .bz2, .zst, .xz."
)
OR_EXAMPLE = "Or example:cornwell, :tao, :wang, :xor."


def switch(what: str) -> Parameter:
    """An option without a value, which is off unless it is given."""
    return Parameter(help=what, negative="", show_default=False)


NewRows: TypeAlias = Annotated[str, Parameter(required=True, converter=path, help=READABLE)]
File: TypeAlias = Annotated[str, Parameter(required=True, converter=path, help=f"{READABLE} {OR_EXAMPLE}")]
LABEL_HELP = (
    "The label column: its name, or its position such as -1. Needed unless the format, a proof or a formula gives it."
)
Label: TypeAlias = Annotated[str | None, Parameter(help=LABEL_HELP, allow_leading_hyphen=True, converter=path)]
Bias: TypeAlias = Annotated[
    bool | None, Parameter(help="Fit a bias (intercept) term. [default: yes; example:tao, :wang no]")
]
Seed: TypeAlias = Annotated[int, Parameter(help="Seed for every random choice.", validator=Number(gte=0))]
Progress: TypeAlias = Annotated[bool, switch("Show progress even where stderr is not a terminal.")]
Json: TypeAlias = Annotated[bool, switch("Print JSON instead of text.")]
Debug: TypeAlias = Annotated[bool, switch("Show the traceback of an error.")]  # listed here, handled by main
ModelFile: TypeAlias = Annotated[
    str | None, Parameter(name=["--output", "-o"], help="Where to write the model (JSON).")
]
Proof: TypeAlias = Annotated[str | None, Parameter(help="Where to write the proof (JSON).")]
Cost: TypeAlias = Annotated[
    list[str] | None,
    Parameter(help="What a mistake on a row of a class costs: LABEL=NUMBER, for each class. [default: 1]", negative=""),
]
Classes: TypeAlias = Annotated[
    Literal["joint", "pairs", "rest"] | None,
    Parameter(help="Any number of classes: all jointly, every pair, or each against the rest."),
]
TimeLimit: TypeAlias = Annotated[
    float | None,
    Parameter(help="Stop after this many seconds with what is proved by then.", validator=Number(gte=0)),
]
Columns: TypeAlias = Annotated[
    str | None,
    Parameter(help="The columns to use, by name or position, separated by commas. [default: all]", converter=path),
]
Positive: TypeAlias = Annotated[
    str | None, Parameter(help="The positive class; all other labels are negative.", converter=path)
]
Numbers: TypeAlias = Annotated[
    Literal["binary64", "decimal"] | None,
    Parameter(help="Read decimals as the nearest doubles or, for decide, verify and mle, exactly."),
]
Standardise: TypeAlias = Annotated[
    bool, switch("Centre and scale the columns for the run; weights are given in the units of the rows.")
]
Order: TypeAlias = Literal["cyclic", "restart", "shuffled", "worst"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Search:
    """How long to search for an answer, and how to show it."""

    time_limit: TimeLimit = None
    progress: Progress = False
    json: Json = False


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
    ] = 1000
    seed: Seed = 0
    standardise: Standardise = False
    json: Json = False

    def keywords(self, bias: bool) -> dict[str, Any]:
        """The same for `linsep.on_files.Trainer`."""
        caps = {"max_passes": self.max_passes or None, "max_updates": self.max_updates}
        return {"order": self.order, "bias": bias, "seed": self.seed, "standardise": self.standardise, **caps}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Which columns are used."""

    columns: Columns = None
    id: Annotated[
        str | None, Parameter(help="The column that holds the ids of the rows; it is not a feature.", converter=path)
    ] = None
    categories: Annotated[
        str | None,
        Parameter(
            help="Encode text as columns of 0 and 1: reference, one for each category but the first; all, one for "
            "each; or COLUMN=all,... for some columns."
        ),
    ] = None
    missing: Annotated[
        Literal["drop"] | None, Parameter(help="drop leaves out rows with missing values, and says how many.")
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Files:
    """How files are read, by every command that reads any."""

    memory: Annotated[str, Parameter(help="How much memory reading may take.")] = "512MB"
    reject: Annotated[str | None, Parameter(help="Write rejected rows to this file instead of stopping.")] = None
    index_base: Annotated[int, Parameter(help="The index of the first column of svmlight files: 0 or 1.")] = 1
    header: Annotated[bool, switch("The first line of CSV is a header, even if it holds numbers.")] = False
    format: Annotated[str | None, Parameter(help="The format of the files, if their names do not say.")] = None
    numbers: Numbers = None
    debug: Debug = False

    def keywords(self) -> dict[str, Any]:
        """The same for `linsep.open`."""
        given = {name: value for name, value in asdict(self).items() if value is not None and name != "debug"}
        if "columns" in given:
            given["columns"] = listed(given["columns"])
        if "categories" in given:
            given["categories"] = coded(given["categories"])
        return {**given, "cache": False} if given.get("cache") == "none" else given


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading(Files, Chosen):
    """How files of tables are read. The subclasses below add what only some commands take."""

    def require_all_categories(self) -> None:
        """Refuse a reference category for a model: in new rows it could not be told from an unknown category."""
        if self.categories is not None and "reference" in self.categories:
            raise ArgumentError("A model needs a column for each category.", fix="Use --categories all.")

    def words(self, *, rows_left_out: int) -> list[str]:
        """The options that another command needs to read the same rows; a proof knows how its numbers were read."""
        given = {
            "--columns": self.columns,
            "--id": self.id,
            "--categories": self.categories,
            "--positive": asdict(self).get("positive"),
            "--missing": self.missing if rows_left_out else None,
            "--reject": self.reject if rows_left_out else None,
            "--index-base": None if self.index_base == 1 else str(self.index_base),
            "--format": self.format,
        }
        said = [word for name, value in given.items() for word in spelt(name, value)]
        return [*said, *(["--header"] if self.header else [])]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Copying(Reading):
    """Files whose labels are kept as they are."""

    cache: Annotated[
        str | None,
        Parameter(help="Where slow files are cached: a folder, or none. [default: a private folder, see linsep cache]"),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Learning(Copying):
    """Files of two classes."""

    positive: Positive = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asking(Learning):
    """Files of two classes that a cluster may read: Parquet, from fsspec paths too."""

    scheduler: Annotated[
        str | None, Parameter(help="Let the workers of a Dask scheduler, such as tcp://HOST:8786, read Parquet files.")
    ] = None
    workers: Annotated[
        int | None,
        Parameter(help="The same with this many processes on this machine.", validator=Number(gte=1)),
    ] = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether a cluster reads the files."""
        return self.scheduler is not None or self.workers is not None

    def keywords(self) -> dict[str, Any]:
        """The same for `linsep.open`, with a cluster on this machine if --workers asks for one."""
        given = Learning.keywords(self)
        workers = given.pop("workers", None)
        return given if workers is None else {**given, "scheduler": on_files.local_cluster(workers, self.scheduler)}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Checking(Reading):
    """Files that a proof is about: they are read directly, never from a cache."""

    positive: Positive = None


def spelt(option: str, value: str | None) -> list[str]:
    """An option and its value as words of a command; a single word if the value would be taken for an option."""
    if value is None:
        return []
    return [f"{option}={value}"] if value.startswith("-") and not value[1:].isdecimal() else [option, value]


def coded(categories: str) -> Any:
    """The value of --categories: one coding for all text columns, or a coding for each column that is named."""
    if "=" not in categories:
        return categories
    named = (word.rpartition("=") for word in categories.split(","))
    return {name.strip(): coding.strip() for name, _, coding in named}


def listed(columns: str | None) -> list[str] | None:
    """The names of --columns."""
    return None if columns is None else [name.strip() for name in columns.split(",")]
