"""What can be wrong with data and files, as one table: every sentence is written here, and one function fills it in.

A sentence says what happened; the place ("row 3 (line 5), column 'x' holds 'NA'") is put before it, and what to do
after it. A {word} is filled in; a field of the place that the sentence names itself is not repeated. The words are the
same whether a fault is raised or its row is rejected, and whether it is in an array, a stream or a file.
"""

from collections.abc import Callable, Iterable
from string import Formatter
from typing import Any, NamedTuple

from linsep import errors
from linsep.errors import Fault, InputError, Where

DROP_OR_FILL = "Drop the row or fill in the value."
EVERY_ROW = "Every row needs a label, a finite number or text."
TEXT_FIX = (
    "Convert it to numbers, leave the column out, or encode text as columns of 0 and 1: "
    'categories="reference" or "all" (--categories all). Names of rows go in ids= (--id).'
)
CORRECT = "Correct it, or leave out the row."
NO_CODE = "Convert it to numbers, or leave the column out."
NAME_IT = (
    "Correct it; if the column holds categories, name it: categories={{{column!r}: 'reference'}} "
    "(--categories {column}=reference)."
)
ALL_TEXT = "Correct it; if the column holds categories, make all of it text."
NAME_TOO = "Name it in categories too, convert it to numbers, or leave the column out."
CODE_FIRST = (
    "Convert it to numbers first, for instance with scikit-learn's OneHotEncoder, or leave the column out. In "
    "tables in memory and in files, each question and linsep.open encode it with categories=."
)
SHIFT = "Subtract a constant from the column, or scale it."
AGAIN = "Download or write the file again."
PAIRS = "Write a label, then index:value pairs with rising indices."
FEWER_DIGITS = "Round the column to fewer digits, or read the nearest doubles (numbers=binary64, --numbers binary64)."
BINARY64 = 'Read the nearest doubles: numbers="binary64" (--numbers binary64).'
ROOM = "Make room on the disk, or name a folder on another: cache=FOLDER (--cache FOLDER), TMPDIR."
RESHAPE = "A single column is X.reshape(-1, 1)."
GIVE_REJECT = "Give reject= (--reject) another path."
BESIDE = "Fill it in, or leave out such rows: missing='drop' (--missing drop)."
POWER = "Divide large columns by a power of two: that changes no verdict."


TYPES = (  # the beginnings of their names in Arrow and in narwhals, and what they hold
    ("timestamp", "dates with times"),
    ("datetime", "dates with times"),
    ("date", "dates"),
    ("duration", "durations"),
    ("time", "times"),
    ("list", "lists"),
    ("large_list", "lists"),
    ("fixed_size_list", "lists"),
    ("array", "lists"),
    ("struct", "structs"),
    ("binary", "bytes"),
    ("large_binary", "bytes"),
    ("fixed_size_binary", "bytes"),
    ("null", "nothing but missing values"),
)


class Entry(NamedTuple):
    """A kind of fault: the error that it is, what happened, and what to do."""

    kind: type[InputError]
    what: str
    fix: str = ""


FAULTS = {
    # cells
    "missing": Entry(errors.MissingValueError, "the value is missing", DROP_OR_FILL),
    "not finite": Entry(errors.NotFiniteError, "not a finite number", DROP_OR_FILL),
    "beyond doubles": Entry(errors.NotFiniteError, "beyond the largest double, so not a finite number", DROP_OR_FILL),
    "not a number": Entry(errors.NotNumericError, "not a number", TEXT_FIX),
    "text among numbers": Entry(errors.NotNumericError, "not a number, unlike other values of its column", NAME_IT),
    "not a boolean": Entry(
        errors.NotNumericError, "neither true nor false", "Write true or false in the whole column, or 1 and 0."
    ),
    "unknown category": Entry(errors.NotNumericError, "an unknown category. The model knows {known}"),
    "not a feature": Entry(errors.NotNumericError, "neither a number nor text"),
    "inexact": Entry(errors.InexactError, "it cannot be stored exactly, and linsep never rounds silently", SHIFT),
    "long integers": Entry(
        errors.InexactError,
        "the integers of X have up to {bits} bits, so a score fits neither 64 bits nor a double",
        "Subtract a constant from the large columns, or scale them.",
    ),
    "vanishes": Entry(
        errors.InexactError,
        "nearer to 0 than any double, so it would become 0",
        "Multiply the column by a power of ten, or write 0.",
    ),
    "inexact sum": Entry(
        errors.InexactError,
        "the values of a repeated feature are added up, and their sum is not a double",
        "Write the feature once, with the value that you mean.",
    ),
    "float beside long": Entry(
        errors.InexactError,
        "a float beside integers beyond 2^53, which float64 would round",
        "Subtract a constant from the column of large integers, or scale it.",
    ),
    "long beside floats": Entry(
        errors.InexactError,
        "an integer beyond 2^53 beside floats, which float64 would round",
        "Subtract a constant from the column of large integers, or scale it.",
    ),
    "float beside decimals": Entry(
        errors.InexactError, "a float beside exact decimals, which cannot be held together", BINARY64
    ),
    "digits": Entry(
        errors.TooManyDigitsError,
        "more than {most} digits after the decimal point, the most that are read exactly",
        FEWER_DIGITS,
    ),
    "too long": Entry(
        errors.TooManyDigitsError,
        "too long to be stored exactly: times 10^{places}, which makes its column integers, it is beyond 64 bits",
        FEWER_DIGITS,
    ),
    "overflow": Entry(errors.OverflowedError, "the score is beyond the largest double", POWER),
    "weights overflow": Entry(errors.OverflowedError, "the weights are beyond the largest {kind}", POWER),
    # labels
    "no label": Entry(errors.MissingLabelError, "the label is missing", EVERY_ROW),
    "label not finite": Entry(errors.MissingLabelError, "the label is {value}", EVERY_ROW),
    "label rounded": Entry(
        errors.InexactError, "the label is {value}, which cannot be stored exactly", "Round the labels, or use text."
    ),
    "strange label": Entry(
        errors.ColumnTypeError, "the label is {value}, of type {kind}", "Labels are numbers, booleans or text."
    ),
    "label type": Entry(
        errors.ColumnTypeError, "the labels are of type {seen}", "Labels are numbers, booleans or text."
    ),
    "label column type": Entry(
        errors.ColumnTypeError, "the label column {column!r} holds {seen}", "Labels are numbers, booleans or text."
    ),
    "labels not text": Entry(errors.EncodingError, "some labels are not UTF-8 text: {seen}"),
    "many labels": Entry(errors.ManyClassesError, "the label column has more than {most:,} different values: {seen}"),
    "many classes": Entry(
        errors.ManyClassesError,
        "there are more than two labels ({seen})",
        "Choose one as the positive class, for instance {example}; or ask about all of them: decide_classes (linsep "
        "decide --classes joint), separate_regions, a classifier, or family='multinomial' or 'ordinal' (--family) of a "
        "regression.",
    ),
    "not a sign": Entry(errors.ArgumentError, "the label is {value}", "Labels of a part are -1 and +1."),
    "unknown label": Entry(errors.ArgumentError, "the label is {value}, but the classes are {known}"),
    "mixed labels": Entry(
        errors.NotNumericError,
        "some labels are numbers and some are text, such as {seen}",
        "Make all of them numbers, or all text.",
    ),
    "one class": Entry(
        errors.OneClassError, "there is only one class: every label is {value}", "Two classes are needed."
    ),
    "no class": Entry(errors.OneClassError, "there is no class", "Two classes are needed."),
    "no such class": Entry(errors.ArgumentError, "no label is {value}. The labels are {seen}"),
    "length": Entry(
        errors.LengthError, "X has {rows:,} rows, but y has {labels:,} labels", "Give one label for each row."
    ),
    "other index": Entry(
        errors.LengthError,
        "{first} calls the row {named}, and {name} calls it {other}: their indices differ",
        "Put them in one order with {name}.loc[{first}.index], or, if they already are, "
        "leave the index out with {name}.to_numpy().",
    ),
    # values beside the rows: weights, offsets, strata, times, trials
    "beside missing": Entry(errors.MissingValueError, "the value of {name} is missing", BESIDE),
    "beside NaN": Entry(errors.NotFiniteError, "the value of {name} is {value}", BESIDE),
    "beside not finite": Entry(errors.NotFiniteError, "the value of {name} is {value}", "Give a finite number."),
    "beside strange": Entry(
        errors.NotNumericError, "the value of {name} is {value}", "Give numbers, booleans or text, one for each row."
    ),
    "beside length": Entry(
        errors.LengthError, "X has {rows:,} rows, but {name} has {values:,} values", "Give one value for each row."
    ),
    # rows of text
    "not text": Entry(errors.EncodingError, "{what}, at byte {byte:,}"),
    "line not text": Entry(errors.EncodingError, "{what}"),
    "no label on line": Entry(
        errors.MissingLabelError,
        "the label is missing",
        "Each line is a label, a tab and the text; without --text the input is a table.",
    ),
    "lone quote": Entry(
        errors.QuoteError,
        "text follows the closing quotation mark of a value",
        "Double a quotation mark inside quotes.",
    ),
    "ragged": Entry(
        errors.RaggedRowError,
        "{seen} values, but the header names {names} columns",
        "Put quotes around text that contains a {separator}.",
    ),
    "short row": Entry(
        errors.RaggedRowError,
        "{seen} values, but the header names {names} columns",
        "Write the values that are missing, and quotes around text that contains a line end.",
    ),
    "open quote": Entry(
        errors.QuoteError,
        "a quotation mark at byte {byte:,} ({value}) is never closed",
        "Close it, or double it inside quotes.",
    ),
    "long quote": Entry(
        errors.QuoteError,
        "a quotation mark at byte {byte:,} ({value}) is not closed within {most}",
        "Close it, or double it inside quotes; if the value is really that long, shorten it.",
    ),
    "endless": Entry(
        errors.RaggedRowError,
        "the line that begins at byte {byte:,} is longer than {most}",
        "Check that the file is a table with line ends.",
    ),
    "endless text": Entry(
        errors.FileError, "the line is longer than {most}", "Check that the file is text with line ends."
    ),
    "svmlight": Entry(errors.SvmlightError, "{what}", PAIRS),
    "vowpal": Entry(errors.FileError, "{what}", "Write a label, then | and features, such as: 1 |words cat:2 dog."),
    "svmlight wide": Entry(errors.WideFileError, "this makes more columns than fit in memory ({most:,})"),
    "svmlight endless": Entry(
        errors.SvmlightError,
        "the line that begins at byte {byte:,} is longer than {most}",
        "Check that the file has line ends.",
    ),
    "not svmlight": Entry(errors.SvmlightError, "cannot be read as svmlight: {seen}"),
    # headers and columns
    "no header": Entry(
        errors.HeaderError,
        "the first line holds values ({seen}), so it may be a row and not the column names",
        "If it does name the columns, say header=True (--header) or give the label column by name; "
        "otherwise write a line of names above it.",
    ),
    "long header": Entry(errors.HeaderError, "the line of column names is longer than {most}"),
    "name twice": Entry(errors.HeaderError, "two columns are called {column!r}", "Rename one of them."),
    "category twice": Entry(
        errors.HeaderError, "two columns would be called {column!r}, one of them for a category", "Rename one."
    ),
    "text column": Entry(errors.NotNumericError, "column {column!r} holds text{example}", TEXT_FIX),
    "column type": Entry(errors.ColumnTypeError, "column {column!r} holds {seen}", NO_CODE),
    "category column": Entry(errors.ColumnTypeError, "column {column!r} holds categories{example}", TEXT_FIX),
    "not categories": Entry(
        errors.ColumnTypeError,
        "column {column!r} holds {seen}, which are not categories",
        "Name columns of text, categories, booleans or whole numbers.",
    ),
    "ids as categories": Entry(
        errors.ColumnTypeError,
        "column {column!r} has {levels:,} different values in {rows:,} rows, as an id has",
        "Leave the column out, or name the rows by it: ids={column!r} (--id {column}); for categories, name it: "
        "categories={{{column!r}: 'reference'}} (--categories {column}=reference).",
    ),
    "one level": Entry(
        errors.NoColumnsError,
        "column {column!r} has one value in all rows, which gives no column: there is nothing to separate by",
    ),
    "many categories": Entry(
        errors.ColumnTypeError, "column {column!r} has more than {most:,} categories", "Leave the column out."
    ),
    "no column": Entry(errors.MissingColumnError, "there is no column {column!r}. {advice}"),
    "no position": Entry(
        errors.MissingColumnError,
        "there is no column {column!r}. An {kind} file has no names: give a position from 0 to {last}{or_back}",
    ),
    "no such label": Entry(
        errors.MissingColumnError, "the label column is {column!r}, but that of the proof is {stated!r}"
    ),
    "say the label": Entry(
        errors.ArgumentError,
        "say which column holds the labels with --label{advice}",
        "Give label=NAME, or --label NAME on the command line.",
    ),
    "label in y": Entry(errors.ArgumentError, "an .npz file holds its labels in y", "Leave --label {label} out."),
    "label in front": Entry(
        errors.ArgumentError, "each line begins with its label, and all columns are read: leave --{option} out"
    ),
    "only the label": Entry(errors.NoColumnsError, "there is no column but the label: there is nothing to separate by"),
    "label as column": Entry(errors.ArgumentError, "column {column!r} is the label and cannot be a column too"),
    "id as column": Entry(errors.ArgumentError, "column {column!r} holds the ids and cannot be a column too"),
    "no ids": Entry(errors.ArgumentError, "a file of this format has no column of ids", "Leave id out."),
    "column twice": Entry(errors.ArgumentError, "a column is chosen twice"),
    "needs column": Entry(
        errors.MissingColumnError, "the model needs the column {column!r}, which is missing. {advice}"
    ),
    "needs own column": Entry(errors.MissingColumnError, "the model needs a column {column!r} of its own"),
    "width": Entry(errors.ShapeError, "{seen} columns, but the model has {known} weights"),
    "wide": Entry(errors.WideFileError, "{columns:,} columns do not fit in memory"),
    "not decimal": Entry(
        errors.ArgumentError,
        "only CSV, TSV and columns of a decimal type can be read as exact decimals",
        BINARY64,
    ),
    "only verdicts": Entry(errors.ArgumentError, "only decide, verify and mle_exists take exact decimals", BINARY64),
    # arrays
    "array type": Entry(errors.NotNumericError, "{name} holds {seen}, not real numbers", "Convert it to numbers."),
    "array shape": Entry(
        errors.ShapeError, "{name} has shape {seen}; a table has two dimensions, rows and columns", RESHAPE
    ),
    "array rows": Entry(errors.NoRowsError, "{name} has no rows"),
    "array columns": Entry(errors.NoColumnsError, "{name} has no columns"),
    "all missing": Entry(errors.NoRowsError, "no row is left: each of the {rows:,} rows has a missing value{why}"),
    "not a row": Entry(
        errors.ShapeError, "not a row of numbers; a table has two dimensions, rows and columns", RESHAPE
    ),
    "mixed rows": Entry(errors.NotNumericError, "if one row is {kind}, all must be"),
    "boolean twice": Entry(
        errors.InexactError, "the sparse matrix of booleans has this entry twice", "Add them up: matrix.astype(int)."
    ),
    "not a cell": Entry(errors.ShapeError, "not a number; a table has two dimensions, rows and columns"),
    "uneven": Entry(
        errors.ShapeError, "row {row} has {seen} values, but row 0 has {first}", "Give all rows the same length."
    ),
    "array ends": Entry(errors.DamagedFileError, "the file ends before its {seen} values do", AGAIN),
    "pickled": Entry(
        errors.FileKindError,
        "cannot be read. It is not a NumPy file, or it holds pickled objects, which linsep never loads because loading "
        "them runs code",
        "Save plain numbers.",
    ),
    "not numpy": Entry(errors.DamagedFileError, "cannot be read: {seen}"),
    "npy as npz": Entry(errors.FileKindError, "an .npy file with the extension .npz", "Rename it."),
    "no arrays": Entry(errors.FileError, "linsep looks for the arrays X and y, or {parts} and y; some are missing"),
    "not csr": Entry(errors.FileError, "a sparse matrix of format {seen}", "Save it as CSR."),
    "bad matrix": Entry(errors.DamagedFileError, "the arrays do not form a CSR matrix: {seen}"),
    "no y": Entry(errors.FileError, "there is no array y, the labels"),
    "large archive": Entry(errors.FileError, "the arrays take {size:,} bytes, which do not fit in memory"),
    "y length": Entry(errors.LengthError, "X has {rows} rows, but y has shape {seen}", "Give one label for each row."),
    # partitions
    "partition types": Entry(
        errors.DifferentFilesError,
        "{what} of type {seen}, but {known} in {first}",
        "Give all partitions the same types, for instance with astype.",
    ),
    "partition columns": Entry(
        errors.DifferentFilesError,
        "the columns are {seen}, but {known} in {first}",
        "Give all partitions the same columns, in the same order.",
    ),
    "partition layout": Entry(
        errors.DifferentFilesError, "the rows are {seen}, but {known} in {first}", "Make them all alike."
    ),
    "partition changed": Entry(
        errors.ChangedFileError,
        "the first read found {said} here, a later one {seen}",
        "A partition must be the same each time it is computed: persist the data, or write them to files first.",
    ),
    "no partition has rows": Entry(errors.NoRowsError, "none of the {partitions:,} partitions has a row"),
    # files
    "no rows": Entry(errors.NoRowsError, "the file has no rows"),
    "header alone": Entry(errors.NoRowsError, "there is a header but no row below it"),
    "columns alone": Entry(errors.NoRowsError, "there are columns but no rows"),
    "none left": Entry(
        errors.NoRowsError,
        "no row is left: all {left_out:,} were rejected",
        "See the reasons in the file of rejected rows.",
    ),
    "nothing to learn": Entry(errors.NoRowsError, "no row was read: there is nothing to learn from"),
    "empty": Entry(errors.EmptyFileError, "the file is empty{begins}", "Write the rows again."),
    "unpack": Entry(errors.DamagedFileError, "cannot be decompressed: {seen}", AGAIN),
    "damaged": Entry(errors.DamagedFileError, "cannot be read as {kind}: {seen}", AGAIN),
    "row count": Entry(errors.DamagedFileError, "the file says that it has {said:,} rows, but it has {seen:,}", AGAIN),
    "group count": Entry(
        errors.DamagedFileError,
        "the file says that {said:,} rows follow, starting with row {first:,}, but there are {seen:,}",
        AGAIN,
    ),
    "not csv": Entry(errors.FileError, "cannot be read as CSV: {seen}"),
    "changed": Entry(
        errors.ChangedFileError, "the file changed while it was read", "Wait until it is complete, then start again."
    ),
    "no file": Entry(errors.NoFileError, "there is no such file", "Check the path."),
    "no pattern": Entry(errors.NoFileError, "no file matches this pattern", "Check the pattern."),
    "no data": Entry(errors.NoFileError, "the folder holds no file that linsep reads", "linsep reads {kinds}."),
    "unreadable": Entry(errors.UnreadableFileError, "cannot be read: {seen}", "Check the file permissions."),
    "unwritable": Entry(errors.FileError, "cannot be written: {seen}"),
    "not a file": Entry(
        errors.UnreadableFileError,
        "a pipe, a socket or a device, not a file",
        "Give - and send the rows to standard input.",
    ),
    "no stdin": Entry(errors.NoFileError, "standard input is closed", "Send the rows to it, or name a file."),
    "file kind": Entry(errors.FileKindError, "{seen}", "linsep reads {kinds}."),
    "format": Entry(
        errors.FileKindError,
        "{value} is not a format. The formats are {known}",
        "Whether a file is compressed is seen from its extension and, in a pipe, from its first bytes.",
    ),
    "compressed text": Entry(
        errors.FileKindError, "the text is compressed", "Decompress it on the way: zcat FILE | linsep ... --text -."
    ),
    "another kind": Entry(errors.FileKindError, "{seen}", "{told}"),
    "other columns": Entry(
        errors.DifferentFilesError,
        "the columns {seen} are not those of {first}, {known}",
        "Files read together need the same columns: choose them with columns= (--columns).",
    ),
    "other layout": Entry(errors.DifferentFilesError, "{first} is {layout}, this file is not"),
    "text elsewhere": Entry(
        errors.DifferentFilesError,
        "column {column!r} holds numbers here and text in another file",
        "Write the column in the same way in all files.",
    ),
    "no room": Entry(errors.FileError, "there is no room for its rows in {folder}: {seen}", ROOM),
    "lost cache": Entry(errors.DamagedFileError, "its cache {cache} was damaged and cannot be written again", ROOM),
    "rejects over data": Entry(
        errors.ArgumentError, "rejected rows would overwrite the data, or be read as data ({seen})", GIVE_REJECT
    ),
    "rejects over file": Entry(
        errors.ArgumentError, "the file exists, and holds something other than rejected rows", GIVE_REJECT
    ),
}


def fault(name: str, file: str | None = None, /, *, fix: str | None = None, **known: Any) -> InputError:
    """The error of a fault: `known` holds the fields of its place and the words that its sentence needs.

    >>> print(fault("missing", "a.csv", row=3, line=5, column="x", value="NA"))
    a.csv: row 3 (line 5), column 'x' holds 'NA': the value is missing. Drop the row or fill in the value.
    """
    kind, what, usual = FAULTS[name]
    where = Where(file, **{key: known.pop(key) for key in Where.__slots__ if key in known})
    place = {key: getattr(where, key) for key in Where.__slots__}
    words = place | {"value": errors.shown(where.value)} | known
    filled = {key: word if isinstance(word, str | int) else str(word) for key, word in words.items()}
    told = tuple(key for _, key, _, _ in Formatter().parse(what) if key in errors.PLACE)
    advice = usual.format(**filled) if fix is None else fix
    return kind(Fault(kind.code, what.format(**filled), where, advice, told, is_sentence=True))


def type_words(kind: object) -> str:
    """What values of a type are, in the same words for the types of every library.

    >>> type_words("timestamp[us]"), type_words("Datetime(time_unit='us', time_zone=None)"), type_words("int128")
    ('dates with times', 'dates with times', 'int128')
    """
    name = str(kind)
    return next((words for start, words in TYPES if name.lower().startswith(start)), name)


def few(values: Iterable[Any], most: int = 5, show: Callable[[Any], str] = errors.shown) -> str:
    """The first few of some values, for a sentence."""
    listed = list(values)
    return ", ".join(map(show, listed[:most])) + (", ..." if len(listed) > most else "")
