"""Whole jobs on files, for programs: what the commands do beyond `linsep.open` and the functions that take a source.

    Trainer         a run of the Perceptron that can be watched, stopped, saved and resumed (`linsep fit` and `trace`)
    OnePass         rows as they come: each is predicted, then learned from (`linsep learn`)
    Predictions     a label for each row, and how many are wrong where files have labels (`linsep predict`)
    convert         files of any format as one Parquet file
    cached          the caches of slow files, counted or deleted
    load_proof      a written proof, and `open_for_proof` the files it is about, read as it says

Nothing here prints. Each name loads on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Checkpoint": "training",
    "Fitted": "training",
    "Look": "one_pass",
    "OnePass": "one_pass",
    "Predicted": "labelling",
    "Predictions": "labelling",
    "Progress": "training",
    "Trainer": "training",
    "about": "files_named",
    "cached": "files_named",
    "checker_reads": "proof_files",
    "convert": "files_named",
    "expand": "files_named",
    "has_lines": "proof_files",
    "in_memory": "files_named",
    "is_label": "proof_files",
    "is_pipe": "files_named",
    "label_column": "proof_files",
    "load_proof": "proof_files",
    "named": "files_named",
    "open_for_proof": "proof_files",
    "previous": "files_named",
    "reads": "files_named",
    "watched": "files_named",
}

__all__ = [  # the jobs; the other names are what the command line needs beside them
    "Checkpoint", "Fitted", "OnePass", "Predictions", "Trainer", "cached", "convert", "in_memory", "load_proof",
    "open_for_proof", "watched",
]  # fmt: skip

if TYPE_CHECKING:
    from linsep.on_files.files_named import about as about
    from linsep.on_files.files_named import cached as cached
    from linsep.on_files.files_named import convert as convert
    from linsep.on_files.files_named import expand as expand
    from linsep.on_files.files_named import in_memory as in_memory
    from linsep.on_files.files_named import is_pipe as is_pipe
    from linsep.on_files.files_named import named as named
    from linsep.on_files.files_named import previous as previous
    from linsep.on_files.files_named import reads as reads
    from linsep.on_files.files_named import watched as watched
    from linsep.on_files.labelling import Predicted as Predicted
    from linsep.on_files.labelling import Predictions as Predictions
    from linsep.on_files.one_pass import Look as Look
    from linsep.on_files.one_pass import OnePass as OnePass
    from linsep.on_files.proof_files import checker_reads as checker_reads
    from linsep.on_files.proof_files import has_lines as has_lines
    from linsep.on_files.proof_files import is_label as is_label
    from linsep.on_files.proof_files import label_column as label_column
    from linsep.on_files.proof_files import load_proof as load_proof
    from linsep.on_files.proof_files import open_for_proof as open_for_proof
    from linsep.on_files.training import Checkpoint as Checkpoint
    from linsep.on_files.training import Fitted as Fitted
    from linsep.on_files.training import Progress as Progress
    from linsep.on_files.training import Trainer as Trainer


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"linsep.on_files has no attribute {name!r}")
    return getattr(import_module(f"linsep.on_files.{_HOME[name]}"), name)
