"""What can go wrong, as one tree: every error says what was seen, where, and what to do.

LinsepError
├── InputError (also a ValueError)   the data or the arguments cannot be used
│   ├── NoRowsError                  a table without rows
│   ├── NoColumnsError               a table without columns
│   ├── ShapeError                   not a table: one dimension, or three
│   ├── LengthError                  X and y differ in length
│   ├── NotNumericError              text, complex numbers or objects where numbers belong
│   │   ├── MissingValueError        an empty cell, or a null
│   │   └── ColumnTypeError          a column of dates, lists or other things that are not numbers
│   ├── NotFiniteError               NaN or infinity: row, column and value are named
│   ├── InexactError                 a number that binary64 cannot hold, such as 2^53 + 1
│   │   └── TooManyDigitsError       a decimal with more digits than 64 bits hold, or than its column can share
│   ├── OverflowedError              finite rows whose score is beyond the largest double
│   ├── UnderflowedError             rows so small that every score vanishes below the smallest double
│   ├── OneClassError                all labels are the same
│   ├── ManyClassesError             more than two labels
│   ├── MissingLabelError            a label that is NaN, None or empty
│   ├── MissingColumnError           no column of that name
│   ├── FileError                    a file that cannot be read as what it claims to be
│   │   ├── NoFileError              no file of that name, or a folder or pattern without files
│   │   ├── UnreadableFileError      a file that the system does not hand out
│   │   ├── FileKindError            a file whose name does not say what it is, or says something else
│   │   ├── EmptyFileError           a file without a single byte, or without a line of names
│   │   ├── DamagedFileError         a file that ends too early or is broken inside
│   │   ├── ChangedFileError         a file that changed while it was read
│   │   ├── EncodingError            text that is not UTF-8
│   │   ├── HeaderError              a line of column names that does not tell the columns apart
│   │   ├── RaggedRowError           a row with more or fewer values than there are columns
│   │   ├── QuoteError               a quotation mark that is never closed
│   │   ├── SvmlightError            an svmlight line that cannot be read, or has a bad index
│   │   ├── WideFileError            a file with more columns than the memory has room for
│   │   └── DifferentFilesError      files of one source that differ in their columns
│   ├── ModelError                   a model file that is damaged, foreign or of another version
│   ├── CheckpointError              a checkpoint that is damaged, foreign, of another version or of other data
│   └── ArgumentError                an option outside its range
├── NotSeparableError                a question about the margin of rows that have none; the verdict is attached
├── OutOfMemoryError (also a MemoryError)   rows and columns that do not fit into the memory that is free
├── CertificateError                 a proof that does not hold: the failing row is named
└── MissingPackageError (also an ImportError)   an optional library is not installed: the extra is named

UserWarning
├── RoundedWarning                   a separating hyperplane was rounded to doubles, and lost rows by it
└── NotSeparableWarning              a classifier was fitted to classes that no hyperplane is known to separate

Each class has a `code` that never changes; docs/errors.md lists them all.
"""

from typing import Any, ClassVar


class LinsepError(Exception):
    """The root of every error that linsep raises on purpose."""

    code: ClassVar[str] = "E-LINSEP"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled as it is, whatever its class was constructed from: an error crosses processes."""
        return _as_it_was, (type(self), self.args), self.__dict__

    def facts(self) -> dict[str, Any]:
        """The error as fields: code, message, file, row, column, value, byte and fix, null where not known."""
        known = dict.fromkeys(("file", "row", "column", "value", "byte", "fix"))
        return {"code": self.code, "message": str(self), **known}


def _as_it_was(kind: type[LinsepError], args: tuple[Any, ...]) -> LinsepError:
    error = Exception.__new__(kind, *args)  # MemoryError has one that serves itself alone
    super(LinsepError, error).__init__(*args)  # past the constructors of linsep, which take other things
    return error


class InputError(LinsepError, ValueError):
    """The data or the arguments cannot be used.

    `where` may name file, row (counted from 0 below the header), column, value, byte and fix; all are attributes.
    """

    code = "E-INPUT"
    file: str | None = None
    row: int | None = None
    column: int | str | None = None
    value: Any = None
    byte: int | None = None
    fix: str | None = None

    def __init__(self, message: str, **where: Any) -> None:
        super().__init__(message)
        for name, known in where.items():
            setattr(self, name, known)

    def facts(self) -> dict[str, Any]:
        """The error as fields: code, message, file, row, column, value, byte and fix, null where not known."""
        value = self.value
        shown = value if value is None or isinstance(value, str | bool | int) else str(value)
        known = {"file": self.file, "row": self.row, "column": self.column, "value": shown, "byte": self.byte}
        return {"code": self.code, "message": str(self), **known, "fix": self.fix}


class NoRowsError(InputError):
    """The table has no rows."""

    code = "E-NO-ROWS"


class NoColumnsError(InputError):
    """The table has no columns."""

    code = "E-NO-COLUMNS"


class ShapeError(InputError):
    """The array is not a table of rows and columns."""

    code = "E-SHAPE"


class LengthError(InputError):
    """X and y differ in length."""

    code = "E-LENGTH"


class NotNumericError(InputError):
    """Text, complex numbers or objects stand where numbers belong."""

    code = "E-NOT-A-NUMBER"


class MissingValueError(NotNumericError):
    """A cell is empty, or holds a null."""

    code = "E-VALUE-MISSING"


class ColumnTypeError(NotNumericError):
    """A column holds dates, lists or other things that are not numbers."""

    code = "E-COLUMN-TYPE"


class NotFiniteError(InputError):
    """A value is NaN or infinite."""

    code = "E-NOT-FINITE"

    row: int
    column: int | str
    value: float

    def __init__(
        self, row: int, column: int | str, value: float, name: str = "X", message: str | None = None, **where: Any
    ) -> None:
        fix = "Drop the row or fill the value in."
        super().__init__(
            message
            or f"{name} holds {value} in {place(row, column)}. "
            f"A hyperplane has no side for such a value: {fix[0].lower()}{fix[1:]}",
            **{"row": row, "column": column, "value": value, "fix": fix, **where},
        )


class InexactError(InputError):
    """A number cannot be held exactly."""

    code = "E-INEXACT"


class TooManyDigitsError(InexactError):
    """A decimal has more digits than 64 bits hold, or than its column can share."""

    code = "E-DIGITS"


class OverflowedError(InputError):
    """Finite values whose score is larger than the largest double."""

    code = "E-OVERFLOW"


class UnderflowedError(InputError):
    """Values so small that every score vanishes below the smallest double."""

    code = "E-UNDERFLOW"


class OneClassError(InputError):
    """All labels are the same."""

    code = "E-ONE-CLASS"


class ManyClassesError(InputError):
    """There are more than two labels."""

    code = "E-MANY-CLASSES"


class MissingLabelError(InputError):
    """A label is NaN, None or empty."""

    code = "E-LABEL-MISSING"


class MissingColumnError(InputError):
    """The table has no column of that name."""

    code = "E-NO-COLUMN"


class FileError(InputError):
    """A file cannot be read as what it claims to be."""

    code = "E-FILE"


class NoFileError(FileError):
    """There is no file of that name, or none in that folder or of that pattern."""

    code = "E-FILE-NONE"


class UnreadableFileError(FileError):
    """The system does not hand the file out."""

    code = "E-FILE-UNREADABLE"


class FileKindError(FileError):
    """The name of the file does not say what it is, or says something else."""

    code = "E-FILE-KIND"


class EmptyFileError(FileError):
    """The file has not a single byte, or no line of names."""

    code = "E-FILE-EMPTY"


class DamagedFileError(FileError):
    """The file ends too early or is broken inside."""

    code = "E-FILE-DAMAGED"


class ChangedFileError(FileError):
    """The file changed while it was read."""

    code = "E-FILE-CHANGED"


class EncodingError(FileError):
    """The text is not UTF-8."""

    code = "E-TEXT-ENCODING"


class HeaderError(FileError):
    """The line of column names does not tell the columns apart."""

    code = "E-CSV-HEADER"


class RaggedRowError(FileError):
    """A row has more or fewer values than there are columns."""

    code = "E-CSV-RAGGED"


class QuoteError(FileError):
    """A quotation mark is never closed."""

    code = "E-CSV-QUOTE"


class SvmlightError(FileError):
    """An svmlight line cannot be read, or has a bad index."""

    code = "E-SVMLIGHT"


class WideFileError(FileError):
    """The file has more columns than the memory has room for."""

    code = "E-FILE-WIDE"


class DifferentFilesError(FileError):
    """The files of one source differ in their columns."""

    code = "E-FILES-DIFFER"


class ModelError(InputError):
    """A model file is damaged, foreign or of another version."""

    code = "E-MODEL"


class CheckpointError(InputError):
    """A checkpoint is damaged, foreign, of another version or of other data."""

    code = "E-CHECKPOINT"


class ArgumentError(InputError):
    """An option is outside its range."""

    code = "E-ARGUMENT"


class NotSeparableError(LinsepError):
    """The rows have no margin, because no hyperplane is known to separate them."""

    code = "E-NOT-SEPARABLE"

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        known = "are not separable" if verdict.separable is False else "could not be separated in the time given"
        super().__init__(f"The classes {known} ({verdict.kind}), so the Perceptron has no bound. See the verdict.")


class OutOfMemoryError(LinsepError, MemoryError):
    """The rows and columns of a question do not fit into the memory that is free."""

    code = "E-MEMORY"


class CertificateError(LinsepError):
    """A proof does not hold against the data."""

    code = "E-PROOF"


class MissingPackageError(LinsepError, ImportError):
    """A library that only some of linsep needs is not installed."""

    code = "E-PACKAGE"

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(f"{what} need {package}, which is not installed: pip install 'linsep[{extra}]'")


class NotSeparableWarning(UserWarning):
    """No hyperplane is known to separate the classes, and the classifier fitted something else."""


class RoundedWarning(UserWarning):
    """The weights of a separating hyperplane were rounded to doubles, and some rows are no longer on their side."""


def place(row: int, column: int | str) -> str:
    """Where a value stands, in words. A name says which column it is; a position does not say where counting begins.

    >>> place(1, "x2"), place(1, 1)
    ("row 1, column 'x2'", 'row 1, column 1 (both counted from 0)')
    """
    return f"row {row}, column {column!r}{' (both counted from 0)' if isinstance(column, int) else ''}"


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


def shown(value: Any) -> str:
    """A value for a message, cut short.

    >>> shown("x" * 99), shown(10**9999)
    ("'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...", 'a very large number')
    """
    try:
        words = ascii(value)
    except ValueError:  # an integer of thousands of digits
        words = "a very large number"
    return words if len(words) <= 60 else f"{words[:57]}..."
