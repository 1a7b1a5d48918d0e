"""What can be wrong with a file, as one table: every sentence is written here, and rendered in one place.

In a sentence `@` stands for the place ("row 3 (line 5), column 'a'"), `@=` for the place and what it holds, {_row} for
its row alone, and other {words} are filled in. A fault is raised, or its row is rejected with it: in the same words.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from linsep import errors
from linsep.errors import InputError

DROP_OR_FILL = "Drop the row or fill the value in."
EVERY_ROW = "Every row needs one."
TEXT_FIX = "Convert the text to numbers, leave the column out, or ask for one-hot columns."
SHIFT = "Subtract a constant from the column or divide it."
AGAIN = "Fetch or write the file again."
ROUNDED = "would be rounded, and linsep never rounds in silence"
VANISHES = "nearer to 0 than any double, and would become 0"
PAIRS = "Write a label, then index:value pairs in rising order."
FEWER_DIGITS = "Round the column to fewer digits, or read the nearest doubles (numbers=binary64, --numbers binary64)."


class Fault(NamedTuple):
    """A kind of fault: the error that it is, what happened, and what to do."""

    kind: type[InputError]
    what: str
    fix: str = ""


FAULTS = {
    # cells
    "missing": Fault(errors.MissingValueError, "@=: the value is missing", DROP_OR_FILL),
    "not finite": Fault(errors.NotFiniteError, "@=: not a finite number", DROP_OR_FILL),
    "beyond doubles": Fault(errors.NotFiniteError, "@=: not a finite number but beyond any double", DROP_OR_FILL),
    "not a number": Fault(errors.NotNumericError, "@=: not a number", TEXT_FIX),
    "not a boolean": Fault(
        errors.NotNumericError,
        "@=: neither true nor false",
        "Write true or false in the whole column, or 1 and 0.",
    ),
    "unknown category": Fault(errors.NotNumericError, "@=: the model knows {known}"),
    "rounded": Fault(
        errors.InexactError,
        f"@=: an integer beyond 2^53 in a column of floats, or beyond 64 bits, {ROUNDED}",
        SHIFT,
    ),
    "long integer": Fault(errors.InexactError, f"@=: an integer beyond 2^53 {ROUNDED}", SHIFT),
    "inexact": Fault(errors.InexactError, f"@=, which {ROUNDED}", SHIFT),
    "vanishes": Fault(errors.InexactError, f"@=: {VANISHES}", "Multiply the column by a power of ten, or write 0."),
    "float beside long": Fault(
        errors.InexactError,
        "@=, a float, beside integers beyond 2^53, which a double would round",
        "Subtract a constant from the column of large integers, or divide it.",
    ),
    "long beside floats": Fault(
        errors.InexactError,
        "@ holds an integer beyond 2^53 beside floats, and would be rounded",
        "Subtract a constant from the column of large integers, or divide it.",
    ),
    "digits": Fault(
        errors.TooManyDigitsError,
        "@=: more than {most} digits after the point, the most that are read exactly",
        FEWER_DIGITS,
    ),
    "too long": Fault(
        errors.TooManyDigitsError,
        "@=: too long to be held exactly: times 10^{places}, which makes its column integers, it is beyond 64 bits",
        FEWER_DIGITS,
    ),
    # labels
    "no label": Fault(errors.MissingLabelError, "@=: the label is missing", EVERY_ROW),
    "bad label": Fault(errors.MissingLabelError, "the label of row {row} is {value}", EVERY_ROW),
    "label not finite": Fault(errors.MissingLabelError, "@: the label is {word}", EVERY_ROW),
    "label rounded": Fault(
        errors.InexactError, "the label of row {row} is {value}, which no double is", "Round the labels."
    ),
    "label type": Fault(errors.ColumnTypeError, "the labels are of type {seen}: they must be numbers or text"),
    "label column type": Fault(
        errors.ColumnTypeError,
        "the label column {column!r} holds {seen}",
        "Labels are integers, floats, booleans or text.",
    ),
    "labels not text": Fault(errors.EncodingError, "Some labels are not UTF-8 text: {seen}"),
    "many labels": Fault(errors.ManyClassesError, "the label column has more than {most:,} different values: {seen}"),
    "mixed labels": Fault(errors.NotNumericError, "Some labels are numbers and some are text, such as {seen}"),
    "one class": Fault(
        errors.OneClassError, "All {rows} labels are {seen}: there is nothing to separate", "Two labels are needed."
    ),
    "no such class": Fault(errors.ArgumentError, "No label is {value!r}. The labels are {seen}"),
    # rows of text
    "not text": Fault(errors.EncodingError, "@: {what}, at byte {byte:,}"),
    "line not text": Fault(errors.EncodingError, "@: {what}"),
    "lone quote": Fault(
        errors.QuoteError,
        "@: text follows the closing quotation mark of a value",
        "Write a quotation mark inside quotes twice.",
    ),
    "ragged": Fault(
        errors.RaggedRowError,
        "line {line} has {seen} values where the header names {names} columns",
        "Text that contains a {separator} needs quotes around it.",
    ),
    "open quote": Fault(
        errors.QuoteError,
        "{at}: a quotation mark, at byte {byte:,} ({value}), is never closed",
        "Close it, or write it twice inside quotes.",
    ),
    "long quote": Fault(
        errors.QuoteError,
        "{at}: a quotation mark, at byte {byte:,} ({value}), is not closed within {most}",
        "Close it or write it twice inside quotes; if the value is as long as that, shorten it.",
    ),
    "endless": Fault(
        errors.RaggedRowError,
        "{at} is longer than {most}",
        "Check that the file is a table with line ends.",
    ),
    "svmlight": Fault(errors.SvmlightError, "@: {word} {what}", PAIRS),
    "svmlight wide": Fault(
        errors.WideFileError, "@: {word} would make more columns than the memory has room for ({most:,})"
    ),
    "svmlight not finite": Fault(errors.NotFiniteError, "{_row}: {word} is not a finite number", DROP_OR_FILL),
    "svmlight rounded": Fault(
        errors.InexactError, f"{{_row}}, {{what}} holds {{word}}: an integer beyond 2^53 {ROUNDED}", SHIFT
    ),
    "label digits": Fault(
        errors.InexactError,
        "{_row}, {what} holds {word}: a double would not tell it from labels near by",
        "Write fewer digits.",
    ),
    "svmlight vanishes": Fault(
        errors.InexactError, f"{{_row}}, {{what}} holds {{word}}: {VANISHES}", "Multiply by a power of ten, or write 0."
    ),
    "svmlight endless": Fault(errors.SvmlightError, "line {line} (byte {byte}) is longer than {most}"),
    "not svmlight": Fault(errors.SvmlightError, "cannot be read as svmlight: {seen}"),
    # headers and columns
    "no header": Fault(
        errors.HeaderError,
        "the first line holds values ({seen}): it may be a row, and not name the columns",
        "Say --header (header=True), or give the label column by name, if it does; else write one above it.",
    ),
    "long header": Fault(errors.HeaderError, "the line of column names is longer than {most}"),
    "name twice": Fault(errors.HeaderError, "two columns are called {column!r}", "Rename one of them."),
    "category twice": Fault(
        errors.HeaderError, "two columns would be called {column!r}, one of them for a category", "Rename one."
    ),
    "text column": Fault(errors.NotNumericError, "column {column!r} holds text", TEXT_FIX),
    "column type": Fault(
        errors.ColumnTypeError,
        "column {column!r} holds {seen}",
        "Convert it to numbers, or leave the column out.",
    ),
    "many categories": Fault(
        errors.ColumnTypeError, "column {column!r} has more than {most:,} categories", "Leave the column out."
    ),
    "no column": Fault(errors.MissingColumnError, "there is no column {column!r}. {advice}"),
    "no position": Fault(
        errors.MissingColumnError,
        "there is no column {column!r}. An {kind} file has no names: give a position from 0 to {last}{or_back}",
    ),
    "no such label": Fault(
        errors.MissingColumnError, "the label column is {column!r}, but that of the proof is {stated!r}"
    ),
    "say the label": Fault(
        errors.ArgumentError,
        "say which column holds the labels with --label{advice}",
        "Give label=NAME, or --label NAME on the command line.",
    ),
    "label in y": Fault(errors.ArgumentError, "an .npz file holds its labels in y: leave --label {label} out"),
    "label in front": Fault(
        errors.ArgumentError,
        "an svmlight file has its labels in front, and its columns are read all: leave --{option} out",
    ),
    "only the label": Fault(errors.NoColumnsError, "the label is the only column: there is nothing to separate by"),
    "label as column": Fault(errors.ArgumentError, "column {column!r} is the label and cannot be a column too"),
    "column twice": Fault(errors.ArgumentError, "a column is chosen twice"),
    "needs column": Fault(
        errors.MissingColumnError, "the model needs the column {column!r}, which is not there. {advice}"
    ),
    "needs own column": Fault(errors.MissingColumnError, "the model needs a column {column!r} of its own"),
    "width": Fault(errors.ShapeError, "{seen} columns, but the model has {known} weights"),
    "wide": Fault(errors.WideFileError, "{value:,} columns are more than the memory has room for"),
    "not decimal": Fault(errors.ArgumentError, "decimals are read exactly from CSV and TSV files alone"),
    # arrays
    "array type": Fault(errors.NotNumericError, "{name} holds values of type {seen}: rows are real numbers"),
    "array shape": Fault(errors.ShapeError, "{name} has shape {seen}; a table has two dimensions, rows and columns"),
    "array rows": Fault(errors.NoRowsError, "{name} has no rows"),
    "array columns": Fault(errors.NoColumnsError, "{name} has no columns"),
    "array ends": Fault(errors.DamagedFileError, "cannot be read: the file ends before its {seen} values do", AGAIN),
    "pickled": Fault(
        errors.FileKindError,
        "cannot be read. It is not a NumPy file, or it holds pickled objects, which linsep never loads because loading "
        "them runs code",
        "Save plain numbers.",
    ),
    "not numpy": Fault(errors.DamagedFileError, "cannot be read: {seen}"),
    "npy as npz": Fault(errors.FileKindError, "an .npy file with the extension .npz: rename it"),
    "no arrays": Fault(errors.FileError, "linsep looks for the arrays X and y, or {parts} and y; some are missing"),
    "not csr": Fault(errors.FileError, "a sparse matrix of format {seen}: save it as CSR"),
    "bad matrix": Fault(errors.DamagedFileError, "the parts do not form a CSR matrix: {seen}"),
    "no y": Fault(errors.FileError, "holds no y, the labels"),
    "large archive": Fault(errors.FileError, "its arrays take {value:,} bytes, more than the memory has room for"),
    "y length": Fault(errors.LengthError, "X has {rows} rows and y has shape {seen}: one label for each row"),
    # files
    "no rows": Fault(errors.NoRowsError, "the file holds no rows"),
    "header alone": Fault(errors.NoRowsError, "there is a header but no row below it"),
    "columns alone": Fault(errors.NoRowsError, "there are columns but no rows"),
    "none left": Fault(
        errors.NoRowsError,
        "no row is left: all {left_out:,} were rejected",
        "Look at the reasons in the file of bad rows.",
    ),
    "empty": Fault(errors.EmptyFileError, "the file is empty{begins}", "Write the rows again."),
    "unpack": Fault(
        errors.DamagedFileError, "cannot be decompressed: {seen}", "The file is cut short or broken: fetch it again."
    ),
    "damaged": Fault(errors.DamagedFileError, "cannot be read as {kind}: {seen}", AGAIN),
    "row count": Fault(errors.DamagedFileError, "the file says that it has {said:,} rows, and has {seen:,}"),
    "group count": Fault(
        errors.DamagedFileError,
        "the file says that {said:,} rows come from row {first:,} on, and has {seen:,} there",
    ),
    "not csv": Fault(errors.FileError, "cannot be read as CSV: {seen}"),
    "changed": Fault(
        errors.ChangedFileError,
        "the file changed while it was read",
        "Wait until the file is complete, then start again.",
    ),
    "no file": Fault(errors.NoFileError, "there is no such file", "Check the path."),
    "no pattern": Fault(errors.NoFileError, "no file has a name of this pattern", "Check the pattern."),
    "no data": Fault(errors.NoFileError, "the folder holds no file that linsep reads", "linsep reads {kinds}."),
    "unreadable": Fault(errors.UnreadableFileError, "cannot be read: {seen}", "Check the rights on the file."),
    "not a file": Fault(
        errors.UnreadableFileError,
        "a pipe, a socket or a device, not a file",
        "Give - and send the rows to standard input.",
    ),
    "file kind": Fault(errors.FileKindError, "{seen}", "linsep reads {kinds}."),
    "format": Fault(errors.FileKindError, "{value!r} is not a format. The formats are {known}"),
    "another kind": Fault(errors.FileKindError, "{seen}", "{told}"),
    "other columns": Fault(
        errors.DifferentFilesError,
        "its columns {seen} are not those of {first}, {known}",
        "Files read together need the same columns: choose them with columns=, --columns.",
    ),
    "other layout": Fault(errors.DifferentFilesError, "{first} is {layout}, this file is not"),
    "text elsewhere": Fault(
        errors.DifferentFilesError,
        "column {column!r} holds numbers here and text in another file",
        "Write the column in the same way in all files.",
    ),
    "no room": Fault(
        errors.FileError,
        "there is no room for its rows in {folder}: {seen}",
        "Make room on the disk, or name a folder on another: cache=FOLDER (--cache FOLDER), TMPDIR.",
    ),
    "lost cache": Fault(
        errors.DamagedFileError,
        "its cache {cache} was damaged and cannot be written again",
        "Make room on the disk, or name a folder on another: cache=FOLDER (--cache FOLDER), TMPDIR.",
    ),
    "rejects": Fault(errors.FileError, "bad rows cannot be written there: {seen}", "Give reject= another path."),
    "rejects over data": Fault(
        errors.ArgumentError,
        "bad rows would be written over the data, or among them ({seen})",
        "Give reject another name.",
    ),
}


@dataclass(frozen=True, slots=True)
class Where:
    """Where a fault is: the row counted from 0 below the header, the line and its first byte as the file has them."""

    file: str
    row: int | None = None
    line: int | None = None
    column: int | str | None = None
    value: Any = None
    byte: int | None = None

    def __str__(self) -> str:
        row = [] if self.row is None else [f"row {self.row}" + (f" (line {self.line})" if self.line else "")]
        line = [f"line {self.line:,}"] if self.row is None and self.line else []
        return ", ".join([*row, *line, *([] if self.column is None else [f"column {self.column!r}"])])


def fault(name: str, file: str, /, *, fix: str | None = None, **known: Any) -> InputError:
    """The error of a fault: `known` are the fields of its place, and the words of its sentence."""
    where = Where(file, **{key: known[key] for key in Where.__slots__ if key in known})
    words = {key: word for key, word in known.items() if key not in Where.__slots__}
    plain = {key: word if isinstance(word, str | int | float) else str(word) for key, word in words.items()}
    return _rendered(name, where, fix, plain)


def moved(error: InputError, **where: Any) -> InputError:
    """The same fault at a place that is known better now; an error of another room stays as it is."""
    if not hasattr(error, "made_of"):
        return error
    name, place, fix, words = error.made_of
    return _rendered(name, replace(place, **where), fix, words)


def _rendered(name: str, where: Where, fix: str | None, words: dict[str, Any]) -> InputError:
    kind, what, usual = FAULTS[name]
    place = {key: getattr(where, key) for key in Where.__slots__}
    held = words.get("shown", where.value)
    holds = "" if held is None else f" holds {clipped(held)}"
    words_of_place = {**place, "_held": f"{where}{holds}", "_at": where, "_row": replace(where, column=None)}
    what = what.replace("@=", "{_held}").replace("@", "{_at}").format(**{**words_of_place, **words})
    fix = usual.format(**words) if fix is None else fix
    more = f" and {words['more']:,} more" if words.get("more") else ""
    name_of_file = "standard input" if where.file == "-" else where.file
    told = f"{name_of_file}{more}: {what}{'' if what.endswith(('.', '?')) else '.'}"
    value: Any = where.value[:200] if isinstance(where.value, str) else where.value
    fields: dict[str, Any] = {"file": where.file, "byte": where.byte, "fix": fix or None}
    told = f"{told} {fix}" if fix else told
    if kind is errors.NotFiniteError:
        error: InputError = errors.NotFiniteError(where.row or 0, where.column or 0, value, message=told, **fields)
    else:
        error = kind(told, row=where.row, column=where.column, value=value, **fields)
    error.made_of = (name, where, fix, words)  # type: ignore[attr-defined]
    return error


def clipped(value: Any) -> str:
    """A value as it is shown in a message: no longer than a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text):,} characters)"
