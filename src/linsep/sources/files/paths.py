"""What a path may be: a file, a pattern, a folder, a list of those, or "-" for standard input; and what a name says."""

import glob
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path

from linsep.errors import FileKindError, NoFileError

KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npy": "npy",
    ".npz": "npz",
}
ENDINGS = {kind: ending.removeprefix(".") for ending, kind in reversed(KINDS.items())}
PACKINGS = {".gz": "gz", ".bz2": "bz2", ".zst": "zst"}
PACKED = ("csv", "tsv", "svmlight")  # the formats that may be packed
SHOWN = ".csv, .tsv, .parquet, .arrow, .feather, .svm, .npy or .npz (text also .gz, .bz2, .zst)"

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def expand(path: Paths) -> list[str]:
    """The files that a path stands for, in the order in which their rows are counted."""
    if not isinstance(path, str | PathLike):
        return [file for one in path for file in expand(one)]
    name = fspath(path)
    if is_pipe(name) or Path(name).is_file():
        return [name]
    if Path(name).is_dir():
        found = sorted(str(file) for file in Path(name).iterdir() if file.is_file() and _is_data(file.name))
        if not found:
            fix = f"linsep reads {SHOWN}."
            raise NoFileError(f"{name}: the folder holds no file that linsep reads. {fix}", file=name, fix=fix)
        return found
    if glob.has_magic(name):
        found = sorted(file for file in glob.glob(name, recursive=True) if Path(file).is_file())  # noqa: PTH207
        if not found:
            raise NoFileError(f"{name}: no file has a name of this pattern.", file=name, fix="Check the pattern.")
        return found
    return [name]


def is_pipe(name: str) -> bool:
    """Whether this can be read only once: standard input, or a named pipe."""
    return name == "-" or Path(name).is_fifo()


def kind_of(path: str, given: str | None) -> tuple[str, str | None]:
    """The format of a file by its ending, or as given, and how it is packed."""
    ending = Path(path).suffix.lower()
    packing = PACKINGS.get(ending)
    if packing:
        ending = Path(Path(path).stem).suffix.lower()
    kind = given or KINDS.get(ending)
    if kind is None or (packing and kind not in PACKED):
        shown = Path(path).suffix.lower()
        seen = f"the ending {shown!r} is unknown" if shown else "the name has no ending"
        fix = f"linsep reads {SHOWN}."
        raise FileKindError(f"{path}: {seen}: {fix}", file=path, fix=fix)
    if kind not in KINDS.values():
        raise FileKindError(f"{kind!r} is no format. There are {', '.join(sorted(set(KINDS.values())))}.")
    if not Path(path).exists():
        raise NoFileError(f"{path}: there is no such file.", file=path, fix="Check the path.")
    return kind, packing


def _is_data(name: str) -> bool:
    path = Path(name)
    ending = path.suffix.lower()
    if ending in PACKINGS:
        ending = Path(path.stem).suffix.lower()
    return not name.startswith(".") and ending in KINDS
