"""`linsep.load`: any model file back as what was saved."""

from pathlib import Path

from linsep.errors import ModelError
from linsep.estimators.base import ScoreClassifier
from linsep.estimators.saving import KINDS, estimator_of
from linsep.models import Model, strict
from linsep.models.files import read_file
from linsep.models.halfspaces import KIND, read_halfspace


def load(path: str | Path) -> ScoreClassifier | Model:
    """Read a model file: a classifier that was saved, or the halfspace of `linsep fit`.

    Nothing in the file is run, and nothing is guessed: what is damaged, foreign or of another version is refused
    with a ModelError that names the file and the field.
    """
    return read_file(path, from_json)


def from_json(text: str) -> ScoreClassifier | Model:
    """Read the text of a model of any kind."""
    document = strict.read(text)
    kind = strict.one_of(document.get("kind"), "kind", (KIND, *KINDS))
    if kind == KIND:
        return read_halfspace(document)
    try:
        return estimator_of(document)
    except MemoryError as error:
        raise ModelError("it asks for more memory than there is.") from error
