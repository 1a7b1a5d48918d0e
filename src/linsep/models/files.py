"""A model as text and as a file: there whole or not at all, read up to a cap, and every error begins with its name."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TypeVar

from linsep.errors import ArgumentError, ModelError, shown
from linsep.outputs import write_file
from linsep.storage import documents

MODEL = documents.Format("linsep-model", 1, "model", ModelError)
T = TypeVar("T")


def read_file(path: str | Path, read: Callable[[str], T]) -> T:
    """What `read` makes of the text of a model file."""
    if not isinstance(path, (str, PathLike)):
        raise ArgumentError(f"path is {shown(path)}: it must be the name of a file.")
    try:
        return read(MODEL.content_of(path).decode())
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=str(path), fix="Check the path.") from error
    except UnicodeDecodeError as error:
        seen = f"this is not a linsep model: byte {error.start} is not UTF-8 text"
        raise ModelError(seen, file=str(path), byte=error.start) from error
    except ModelError as error:
        error.at(file=str(path))
        raise


def write_model(path: str | Path, text: str) -> None:
    """Write a model's text, unless it is more than would be read back."""
    content, most = text.encode(), documents.MOST_BYTES
    if len(content) > most:
        raise ModelError(
            f"the model takes {len(content) / 2**20:.0f} MiB as text, but at most {most >> 20} MiB are read back",
            file=str(path),
            fix="Keep less of the run: keep='average' needs no rows, budget= bounds a kernel's support.",
        )
    write_file(path, content)
