"""What can go wrong, as one tree: every error says what happened, where, and what to do.

LinsepError
├── InputError (also a ValueError)   the data or the arguments cannot be used
│   ├── NoRowsError                  a table without rows
│   ├── NoColumnsError               a table without columns
│   ├── ShapeError                   not a table: one dimension, or three
│   ├── LengthError                  X and y differ in length
│   ├── NotNumericError              text, complex numbers or objects where numbers belong
│   │   ├── MissingValueError        an empty cell, or a null
│   │   └── ColumnTypeError          a column of dates, lists or other things that are not numbers
│   ├── NotFiniteError               NaN or infinity
│   ├── InexactError                 a number that cannot be stored exactly, such as 2^53 + 1 in float64
│   │   └── TooManyDigitsError       a decimal with too many digits to be read exactly
│   ├── OverflowedError              finite rows whose score is beyond the largest double
│   ├── UnderflowedError             rows so small that every score vanishes
│   ├── OneClassError                all labels are the same
│   ├── ManyClassesError             more than two labels
│   ├── MissingLabelError            a label that is missing, NaN or infinite
│   ├── MissingColumnError           no column of that name
│   ├── FileError                    a file that cannot be read or written
│   │   ├── NoFileError              no such file, or no match for a folder or pattern
│   │   ├── UnreadableFileError      a file that cannot be opened
│   │   ├── FileKindError            an unknown extension, or one that does not match the content
│   │   ├── EmptyFileError           an empty file, or one without a header row
│   │   ├── DamagedFileError         a file that is cut short or broken inside
│   │   ├── ChangedFileError         a file that changed while it was read
│   │   ├── EncodingError            text that is not UTF-8
│   │   ├── HeaderError              no header row, or two columns of the same name
│   │   ├── RaggedRowError           a row with more or fewer values than there are columns
│   │   ├── QuoteError               a quotation mark that is never closed
│   │   ├── SvmlightError            an svmlight line that cannot be read
│   │   ├── WideFileError            a file with more columns than fit in memory
│   │   └── DifferentFilesError      files read together with different columns
│   ├── ModelError                   a model file that is damaged or of another kind or version
│   ├── CheckpointError              a checkpoint that is damaged or of another version or other data
│   └── ArgumentError                an option with a value that is not allowed
├── NotSeparableError                no margin: no hyperplane is known to separate the rows; the verdict is attached
├── ClusterError                     a cluster that cannot be reached, or lost its workers
├── OutOfMemoryError (also a MemoryError)   a problem that does not fit in the free memory
├── CertificateError                 a proof that does not hold: the failing row is named
└── MissingPackageError (also an ImportError)   an optional library that is not installed: the extra is named

UserWarning
├── RoundedWarning                   the weights were rounded to doubles, and some rows are no longer on their side
└── NotSeparableWarning              a classifier was fitted to classes that no hyperplane is known to separate

Each class has a `code` that never changes, and each error a `fault`: code, what happened, where, and what to do. Only
`Fault.__str__` puts it into words. The second sentence of a class's docstring says what to do; docs/errors.md lists
them all.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

PLACE = ("file", "row", "line", "column", "value", "byte")


@dataclass(frozen=True, slots=True)
class Where:
    """Where a fault is: rows count from 0, below the header; lines from 1; the byte is that of the file.

    >>> str(Where(row=1, column="x2", value=math.nan)), str(Where(row=1, line=3, column=1))
    ("row 1, column 'x2' holds NaN", 'row 1 (line 3), column 1 (both counted from 0)')
    """

    file: str | None = None  # or what stands for one: a part of a source
    row: int | None = None
    line: int | None = None
    column: int | str | None = None
    value: Any = None
    byte: int | None = None
    more: int = 0  # how many other files it concerns

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}"
        row = line if self.row is None else f"row {self.row}" + (f" ({line})" if line else "")
        column = "" if self.column is None else f"column {self.column!r}"
        place = ", ".join(filter(None, [row, column]))
        counted = " (both counted from 0)" if self.row is not None and isinstance(self.column, int) else ""
        return f"{place}{counted}{'' if self.value is None or not place else f' holds {shown(self.value)}'}"

    @property
    def name(self) -> str:
        """What the file is called in a sentence."""
        name = "standard input" if self.file == "-" else self.file or ""
        return f"{name} and {self.more:,} more" if self.more else name


@dataclass(frozen=True, slots=True)
class Fault:
    """What happened, where, and what to do: "a.csv: row 3 (line 5), column 'x' holds 'NA': the value is missing. ..."

    `told` are the fields of the place that the sentence itself names. Where nothing stands before it,
    a sentence begins with a capital letter; what begins with the name of an option or a field does not.
    """

    code: str
    what: str
    where: Where = Where()
    fix: str = ""
    told: tuple[str, ...] = ()
    is_sentence: bool = False

    def __str__(self) -> str:
        unsaid: dict[str, Any] = dict.fromkeys(self.told)
        place = str(replace(self.where, **unsaid))
        said = f"{place}: {self.what}" if place else self.what
        if self.where.name:
            said = f"{self.where.name}: {said}"
        elif place or self.is_sentence:
            said = said[:1].upper() + said[1:]
        end = "" if said.endswith((".", "?")) else "."
        return f"{said}{end} {self.fix}".rstrip()


class LinsepError(Exception):
    """The root of every error that linsep raises on purpose. No error has this code itself."""

    code: ClassVar[str] = "E-LINSEP"
    fault: Fault
    file: str | None
    row: int | None
    line: int | None
    column: int | str | None
    value: Any
    byte: int | None
    fix: str | None

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        super().__init_subclass__()
        cls.code = code or cls.code

    def __init__(self, what: str | Fault, *, fix: str = "", **where: Any) -> None:
        fault = what if isinstance(what, Fault) else Fault(self.code, what, Where(**where), fix)
        super().__init__(fault.what)
        self._about(fault)

    def _about(self, fault: Fault) -> None:
        self.fault, self.fix = fault, fault.fix or None
        for name in PLACE:
            setattr(self, name, getattr(fault.where, name))

    def __str__(self) -> str:
        return str(self.fault)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the error as it is, whatever its constructor takes, so that it can cross processes."""
        return _as_it_was, (type(self), self.args), self.__dict__

    def at(self, *, fix: str | None = None, **where: Any) -> Self:
        """The same error, with what is now known about where it happened."""
        found = replace(self.fault.where, **where)
        self._about(replace(self.fault, where=found, fix=self.fault.fix if fix is None else fix))
        return self

    def facts(self) -> dict[str, Any]:
        """The error as fields: code, message, file, row, line, column, value, byte and fix, null where not known."""
        value = self.value[:200] if isinstance(self.value, str) else self.value
        is_plain = value is None or isinstance(value, str) or (isinstance(value, int) and value.bit_length() <= 64)
        known = {name: getattr(self, name) for name in PLACE} | {"value": value if is_plain else shown(value)}
        return {"code": self.code, "message": str(self), **known, "fix": self.fix}


def _as_it_was(kind: type[LinsepError], args: tuple[Any, ...]) -> LinsepError:
    error = Exception.__new__(kind, *args)  # not MemoryError's own, which serves only that class
    super(LinsepError, error).__init__(*args)  # skips linsep's constructors, which take other arguments
    return error


class InputError(LinsepError, ValueError, code="E-INPUT"):
    """The data or the arguments cannot be used. Read the message."""


class NoRowsError(InputError, code="E-NO-ROWS"):
    """The table has no rows. Check that the file or array has rows below its header."""


class NoColumnsError(InputError, code="E-NO-COLUMNS"):
    """The table has no columns. Give columns besides the label."""


class ShapeError(InputError, code="E-SHAPE"):
    """The array is not a table of rows and columns. Make it two-dimensional; a single column is X.reshape(-1, 1)."""


class LengthError(InputError, code="E-LENGTH"):
    """X and y differ in length. Give one label for each row."""


class NotNumericError(InputError, code="E-NOT-A-NUMBER"):
    """Text, complex numbers or objects stand where numbers belong. Convert them, or leave the column out."""


class MissingValueError(NotNumericError, code="E-VALUE-MISSING"):
    """A cell is empty, or holds a null. Drop the row or fill in the value."""


class ColumnTypeError(NotNumericError, code="E-COLUMN-TYPE"):
    """A column holds dates, lists or other things that are not numbers. Convert it, or leave it out."""


class NotFiniteError(InputError, code="E-NOT-FINITE"):
    """A value is NaN or infinite. Drop the row or fill in the value."""


class InexactError(InputError, code="E-INEXACT"):
    """A number cannot be stored exactly. Subtract a constant from the column, or scale it."""


class TooManyDigitsError(InexactError, code="E-DIGITS"):
    """A decimal has too many digits to be read exactly. Round the column, or read the nearest doubles."""


class OverflowedError(InputError, code="E-OVERFLOW"):
    """The score of finite values is beyond the largest double. Divide large columns by a power of two."""


class UnderflowedError(InputError, code="E-UNDERFLOW"):
    """Values are so small that every score vanishes. Multiply X by a power of two."""


class OneClassError(InputError, code="E-ONE-CLASS"):
    """All labels are the same. Give rows of both classes."""


class ManyClassesError(InputError, code="E-MANY-CLASSES"):
    """There are more than two labels. Choose one as the positive class, or ask about all with decide_classes."""


class MissingLabelError(InputError, code="E-LABEL-MISSING"):
    """A label is missing, NaN or infinite. Give the row a label, or drop it."""


class MissingColumnError(InputError, code="E-NO-COLUMN"):
    """There is no column of that name. Choose one of the columns that the message lists."""


class FileError(InputError, code="E-FILE"):
    """A file cannot be read or written. Read the message."""


class NoFileError(FileError, code="E-FILE-NONE"):
    """There is no such file, or the folder or pattern matches none. Check the path."""


class UnreadableFileError(FileError, code="E-FILE-UNREADABLE"):
    """The file cannot be opened. Check the file permissions."""


class FileKindError(FileError, code="E-FILE-KIND"):
    """The file extension is unknown, or does not match the content. Rename the file, or give its format."""


class EmptyFileError(FileError, code="E-FILE-EMPTY"):
    """The file is empty or has no header row. Write a line of column names, and rows below it."""


class DamagedFileError(FileError, code="E-FILE-DAMAGED"):
    """The file is cut short or broken inside. Download or write it again."""


class ChangedFileError(FileError, code="E-FILE-CHANGED"):
    """The file changed while it was read. Wait until it is complete, then start again."""


class EncodingError(FileError, code="E-TEXT-ENCODING"):
    """The text is not UTF-8. Save it as UTF-8."""


class HeaderError(FileError, code="E-CSV-HEADER"):
    """The header row is missing, or two columns have the same name. Give each column a name of its own."""


class RaggedRowError(FileError, code="E-CSV-RAGGED"):
    """A row has more or fewer values than there are columns. Quote text with a comma or line end, or fill in values."""


class QuoteError(FileError, code="E-CSV-QUOTE"):
    """A quotation mark is never closed. Close it, or double it inside quotes."""


class SvmlightError(FileError, code="E-SVMLIGHT"):
    """An svmlight line cannot be read. Write a label, then index:value pairs with rising indices."""


class WideFileError(FileError, code="E-FILE-WIDE"):
    """The file has more columns than fit in memory. Allow more memory, or choose fewer columns."""


class DifferentFilesError(FileError, code="E-FILES-DIFFER"):
    """Files that are read together have different columns. Choose columns that all files have."""


class ModelError(InputError, code="E-MODEL"):
    """A model file is damaged, of another kind or of another version. Fit the model again, or update linsep."""


class CheckpointError(InputError, code="E-CHECKPOINT"):
    """A checkpoint is damaged, of another version or of other data. Delete it to start over, or give the right one."""


class ArgumentError(InputError, code="E-ARGUMENT"):
    """An option has a value that is not allowed. Give it one that is."""


class NotSeparableError(LinsepError, code="E-NOT-SEPARABLE"):
    """There is no margin: the classes are not known to be separable. Look at the attached verdict."""

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        known = "are not separable" if verdict.separable is False else "could not be separated in the time given"
        super().__init__(f"The classes {known} ({verdict.kind}), so the Perceptron has no bound. See the verdict.")


class ClusterError(LinsepError, code="E-CLUSTER"):
    """A cluster cannot be reached, or its workers cannot do the work. Start the worker that the message names again."""


class OutOfMemoryError(LinsepError, MemoryError, code="E-MEMORY"):
    """The problem does not fit in the free memory. Use fewer columns, or a machine with more memory."""


class CertificateError(LinsepError, code="E-PROOF"):
    """A proof does not hold for the data. Decide again: the proof is not about these rows."""


class MissingPackageError(LinsepError, ImportError, code="E-PACKAGE"):
    """An optional library is not installed. Install the extra that the message names."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        fix = f"Install it: pip install 'linsep[{extra}]'"
        super().__init__(f"{what} need {package}, which is not installed.", fix=fix)


class NotSeparableWarning(UserWarning):
    """No hyperplane is known to separate the classes, and the classifier fitted something else."""


class RoundedWarning(UserWarning):
    """The weights of a separating hyperplane were rounded to doubles, and some rows are no longer on their side."""


def shown(value: Any) -> str:
    """A value for a message, no longer than a line.

    >>> shown("ä"), shown("x" * 99), shown(math.nan), shown(10**9999)
    ("'ä'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... (101 characters)", 'NaN', 'a very large number')
    """
    try:
        is_nan = isinstance(value, float) and math.isnan(value)
        words = "NaN" if is_nan else str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # an integer of thousands of digits
        words = "a very large number"
    except RecursionError:
        words = f"a {type(value).__name__} nested a thousand deep or more"
    return words if len(words) <= 60 else f"{words[:40]}... ({len(words):,} characters)"


def told(value: Any) -> str:
    """A label, or several, as `repr` writes them; an integer that Python refuses to write, in words.

    >>> told("ä"), told((1, 10**5000))
    ("'ä'", '(1, a very large number)')
    """
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        many = isinstance(value, tuple)
        return f"({', '.join(map(told, value))})" if many else "a very large number"
