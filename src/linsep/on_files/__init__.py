"""Whole jobs on files, for programs: what the commands do beyond `linsep.open` and the functions that take a source.

    Trainer         a run of the Perceptron that can be watched, stopped, saved and resumed (`linsep fit` and `trace`)
    OnePass         a stream of rows: each is predicted, then learned from (`linsep learn`)
    Predictions     a label for each row, and how many are wrong if the files have labels (`linsep predict`)
    convert         files of any format as one Parquet file
    cached          the caches of slow files, counted or deleted
    load_proof      a written proof; `open_for_proof` opens the files it is about, read as it says

Nothing here prints. Each name loads on first use.
"""

# ruff: noqa: F403, F405

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linsep.on_files.files_named import *
    from linsep.on_files.labelling import *
    from linsep.on_files.one_pass import *
    from linsep.on_files.proof_files import *
    from linsep.on_files.training import *
    from linsep.sources.files.convert import convert as convert

_NAMES = {
    "linsep.on_files.files_named": "about cached expand in_memory is_pipe local_cluster named open_for_formula "
    "previous reads watched",
    "linsep.on_files.labelling": "Predicted Predictions",
    "linsep.on_files.one_pass": "Look OnePass",
    "linsep.on_files.proof_files": "checker_reads is_label label_column load_proof open_for_proof",
    "linsep.on_files.training": "Checkpoint Fitted Progress Proved Trainer bound_of scaled_rows",
    "linsep.sources.files.convert": "convert",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [  # the jobs; only the command line needs the other names
    "Checkpoint", "Fitted", "OnePass", "Predictions", "Trainer", "cached", "convert", "in_memory", "load_proof",
    "open_for_proof", "watched",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"linsep.on_files has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
