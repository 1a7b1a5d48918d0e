"""What can go wrong, as one tree: every error says what was seen, where, and what to do.

LinsepError
├── InputError (also a ValueError)   the data or the arguments cannot be used
│   ├── NoRowsError                  a table without rows
│   ├── NoColumnsError               a table without columns
│   ├── ShapeError                   not a table: one dimension, or three
│   ├── LengthError                  X and y differ in length
│   ├── NotNumericError              text, complex numbers or objects where numbers belong
│   ├── NotFiniteError               NaN or infinity: row, column and value are named
│   ├── InexactError                 a number that binary64 cannot hold, such as 2^53 + 1
│   ├── OverflowedError              finite rows whose score is beyond the largest double
│   ├── OneClassError                all labels are the same
│   ├── ManyClassesError             more than two labels
│   ├── MissingLabelError            a label that is NaN, None or empty
│   ├── MissingColumnError           no column of that name
│   ├── FileError                    a file that cannot be read as what it claims to be
│   ├── ModelError                   a model file that is damaged, foreign or of another version
│   ├── CheckpointError              a checkpoint that is damaged, foreign, of another version or of other data
│   └── ArgumentError                an option outside its range
├── NotSeparableError                a question about the margin of rows that have none; the verdict is attached
├── CertificateError                 a proof that does not hold: the failing row is named
└── MissingPackageError (also an ImportError)   an optional library is not installed: the extra is named

UserWarning
└── NotSeparableWarning              a classifier was fitted to classes that no hyperplane is known to separate
"""

from typing import Any


class LinsepError(Exception):
    """The root of every error that linsep raises on purpose."""


class InputError(LinsepError, ValueError):
    """The data or the arguments cannot be used."""


class NoRowsError(InputError):
    """The table has no rows."""


class NoColumnsError(InputError):
    """The table has no columns."""


class ShapeError(InputError):
    """The array is not a table of rows and columns."""


class LengthError(InputError):
    """X and y differ in length."""


class NotNumericError(InputError):
    """Text, complex numbers or objects stand where numbers belong."""


class NotFiniteError(InputError):
    """A value is NaN or infinite."""

    def __init__(self, row: int, column: int | str, value: float, name: str = "X") -> None:
        self.row, self.column, self.value = row, column, value
        super().__init__(
            f"{name} holds {value} in row {row}, column {column!r} (both counted from 0). "
            "A hyperplane has no side for such a value: drop the row or fill the value in."
        )


class InexactError(InputError):
    """A number cannot be held exactly."""


class OverflowedError(InputError):
    """Finite values whose score is larger than the largest double."""


class OneClassError(InputError):
    """All labels are the same."""


class ManyClassesError(InputError):
    """There are more than two labels."""


class MissingLabelError(InputError):
    """A label is NaN, None or empty."""


class MissingColumnError(InputError):
    """The table has no column of that name."""


class FileError(InputError):
    """A file cannot be read as what it claims to be."""


class ModelError(InputError):
    """A model file is damaged, foreign or of another version."""


class CheckpointError(InputError):
    """A checkpoint is damaged, foreign, of another version or of other data."""


class ArgumentError(InputError):
    """An option is outside its range."""


class NotSeparableError(LinsepError):
    """The rows have no margin, because no hyperplane is known to separate them."""

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        known = "are not separable" if verdict.separable is False else "could not be separated in the time given"
        super().__init__(f"The classes {known} ({verdict.kind}), so the Perceptron has no bound. See the verdict.")


class CertificateError(LinsepError):
    """A proof does not hold against the data."""


class MissingPackageError(LinsepError, ImportError):
    """A library that only some of linsep needs is not installed."""

    def __init__(self, package: str, extra: str, what: str) -> None:
        super().__init__(f"{what} need {package}, which is not installed: pip install 'linsep[{extra}]'")


class NotSeparableWarning(UserWarning):
    """No hyperplane is known to separate the classes, and the classifier fitted something else."""
