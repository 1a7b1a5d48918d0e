"""What the document of every classifier holds: its parameters, classes and features; and tables of rows."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from linsep._version import __version__
from linsep.errors import ModelError, shown
from linsep.estimators.score_classifier import Array, ScoreClassifier
from linsep.models import MODEL
from linsep.storage import strict
from linsep.storage.strict import LABELS, Document, Reader, optional, record, text, word

COMMON = ("linsep", "parameters", "classes", "features")
MOST_COLUMNS = 1 << 48  # the most columns that hashing can make
MOST_ENTRIES = 1 << 27  # of an array stored without its zeros: a short file could ask for a huge one
FLOATS = {"float64": np.float64, "float32": np.float32}
_DTYPES = {"b": "boolean", "i": "integer", "u": "integer", "f": "float", "U": "text", "O": "text"}
_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


def write_common(estimator: ScoreClassifier, readers: Mapping[str, Reader]) -> Document:
    """The parameters as the user gave them (refused if `readers` could not read them back), classes and features."""
    parameters = {name: _plain(name, value) for name, value in estimator.get_params(deep=False).items()}
    with MODEL.refusals():
        for name, value in parameters.items():
            readers[name](value, name)
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "linsep": __version__,
        "parameters": parameters,
        "classes": write_classes(estimator.classes_),
        "features": {"count": int(estimator.n_features_in_), "names": None if names is None else names.tolist()},
    }


def read_common(document: Document, blank: type[ScoreClassifier], readers: Mapping[str, Reader]) -> Any:
    """A classifier with these parameters, classes and features, and nothing else yet."""
    head = {"linsep": text, "parameters": record(**readers), "classes": read_classes, "features": _FEATURES}
    found = {name: read(document[name], name) for name, read in head.items()}
    estimator = blank(**found["parameters"])
    estimator.classes_, estimator.n_features_in_ = found["classes"], found["features"]["count"]
    names = found["features"]["names"]
    if names is not None:
        strict.listed(document["features"]["names"], "features.names", estimator.n_features_in_)
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def hyperplanes(estimator: ScoreClassifier) -> int:
    """How many hyperplanes there are: one for two classes, else one for each."""
    return len(estimator.classes_) if len(estimator.classes_) > 2 else 1


_FEATURES = record(count=strict.whole(1, MOST_COLUMNS), names=optional(strict.names))


def _plain(name: str, value: Any) -> Any:
    """A parameter as a JSON value. A seed becomes a string of digits, a mapping a list of pairs."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return [[_plain(name, part) for part in pair] for pair in value.items()]
    if callable(value):
        raise ModelError(f"{name} is a function, and a file cannot hold code: name a kernel of scikit-learn instead.")
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, int):
        return str(value) if name == "random_state" else value
    raise ModelError(
        f"{name} is {shown(value)}, which a file cannot hold. "
        f"set_params({name}=None) leaves it out: what was fitted stays as it is."
    )


def number(value: Any, where: str) -> int | float:
    """A number that stays an integer where it was written as one."""
    checked = strict.number(value, where)
    return int(value) if isinstance(value, int) else checked


def costs(value: Any, where: str) -> dict[Any, int | float]:
    """What a mistake about each class costs: pairs of a label and a number."""
    pairs = [strict.listed(pair, f"{where}[{k}]", 2) for k, pair in enumerate(strict.listed(value, where))]
    for k, (label, _) in enumerate(pairs):
        if not isinstance(label, (bool, int, float, str)):
            raise ModelError(f"{where}[{k}][0] is {shown(label)}: it must be a label.")
    return {label: number(cost, f"{where}[{k}][1]") for k, (label, cost) in enumerate(pairs)}


def positive(value: Any, where: str) -> int:
    """A count of at least 1."""
    if strict.count(value, where) < 1:
        raise ModelError(f"{where} is 0: it must be at least 1.")
    return int(value)


def write_classes(classes: Array) -> Document:
    """The labels in their order, with their type."""
    kind = _DTYPES.get(classes.dtype.kind)
    values = classes.tolist()
    if kind is None or (kind == "text" and not all(isinstance(value, str) for value in values)):
        raise ModelError(
            f"classes of the type {classes.dtype} cannot be saved: use text, integers, floats or booleans."
        )
    if kind == "float" and classes.dtype.name not in FLOATS:
        raise ModelError(f"classes of the type {classes.dtype} cannot be saved: use float64.")
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"type": kind, "dtype": dtype, "values": [str(v) for v in values] if kind == "integer" else values}


def read_classes(value: Any, where: str) -> Array:
    """Two labels or more, in order."""
    fields = record(type=word(*LABELS), dtype=text, values=strict.listed)(value, where)
    kind = fields["type"]
    allowed = {"boolean": {"bool"}, "integer": _INTEGERS, "float": FLOATS, "text": {"str", "object"}}[kind]
    dtype = word(*sorted(allowed))(fields["dtype"], f"{where}.dtype")
    read = strict.natural if dtype.startswith("uint") else LABELS[kind][1]
    values = list(strict.each(read)(fields["values"], f"{where}.values"))
    if len(values) < 2 or any(not a < b for a, b in pairwise(values)):
        raise ModelError("classes.values must be two labels or more, each larger than the one before.")
    try:
        classes = np.array(values, dtype=dtype)
    except OverflowError as error:
        raise ModelError(f"classes.values do not fit {dtype}.") from error
    if classes.tolist() != values:  # rounded, or a text whose last character is NUL
        raise ModelError(f"classes.values do not fit {dtype}.")
    return classes


def write_table(rows: Any) -> Document:
    """Rows as memory holds them: each with all its values, or the compressed rows of a CSR matrix."""
    is_sparse: bool = sp.issparse(rows)
    if is_sparse:
        parts = {name: getattr(rows, name).tolist() for name in ("data", "indices", "indptr")}
        return {"layout": "csr", "dtype": rows.dtype.name, **parts}
    return {"layout": "dense", "dtype": rows.dtype.name, "values": rows.tolist()}


def read_table(value: Any, where: str, n_rows: int | None, n_columns: int) -> Any:
    """Rows as `write_table` wrote them; `n_rows` is how many there must be, where that is known."""
    layout = word(*_LAYOUTS)(strict.mapping(value, where).get("layout"), f"{where}.layout")
    fields = strict.fields(value, where, ("layout", "dtype", *_LAYOUTS[layout]))
    dtype = word(*FLOATS)(fields["dtype"], f"{where}.dtype")
    if layout == "dense":
        found = len(strict.listed(fields["values"], f"{where}.values", n_rows))
        return in_type(strict.matrix(fields["values"], f"{where}.values", found, n_columns), dtype, where)
    data = in_type(strict.floats(fields["data"], f"{where}.data"), dtype, where)
    indices = strict.counts(fields["indices"], f"{where}.indices", n_columns - 1, len(data))
    indptr = strict.counts(fields["indptr"], f"{where}.indptr", len(data), None if n_rows is None else n_rows + 1)
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ModelError(f"{where}.indptr must grow from 0 to {len(data)}, the number of entries.")
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))


_LAYOUTS = {"dense": ("values",), "csr": ("data", "indices", "indptr")}


def in_type(values: Array, dtype: str, where: str) -> Array:
    """Values in the number type they were written from."""
    with np.errstate(over="ignore"):
        typed = values.astype(FLOATS[dtype])
    if not np.array_equal(typed, values):
        raise ModelError(f"{where} holds a number that does not fit {dtype} without rounding.")
    return typed


def write_mistakes(mistakes: Array) -> Document | None:
    """The counts that are not 0, and their places; None for more rows than the reader would make room for."""
    if mistakes.size > MOST_ENTRIES:
        return None
    at = np.flatnonzero(mistakes)
    return {"rows": int(mistakes.shape[-1]), "at": at.tolist(), "mistakes": mistakes.ravel()[at].tolist()}


def read_mistakes(estimator: Any, value: Any, problems: int) -> None:
    """Set `mistakes_per_row_` (with several problems, one line for each), unless the file leaves it out."""
    if value is None:
        return
    fields = strict.fields(value, "mistakes_per_row", ("rows", "at", "mistakes"))
    n_rows = strict.count(fields["rows"], "mistakes_per_row.rows", MOST_ENTRIES // problems)
    at = strict.counts(fields["at"], "mistakes_per_row.at", n_rows * problems - 1)
    if (np.diff(at) <= 0).any():
        raise ModelError("mistakes_per_row.at must increase.")
    flat = np.zeros(n_rows * problems, np.int64)
    flat[at] = strict.counts(fields["mistakes"], "mistakes_per_row.mistakes", strict.COUNT_LIMIT, len(at))
    estimator.mistakes_per_row_ = flat.reshape(problems, n_rows) if problems > 1 else flat
