"""`linsep.load`: a model file of any kind becomes the model that was saved."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from linsep.errors import ModelError
from linsep.models import KIND as HALFSPACE
from linsep.models import MODEL, Model, read_file, read_halfspace
from linsep.storage.strict import Document, word

if TYPE_CHECKING:
    from linsep.estimators.score_classifier import ScoreClassifier
    from linsep.learners.online_perceptron import OnlinePerceptron

Loaded: TypeAlias = Union["ScoreClassifier", "OnlinePerceptron", Model]
ONLINE = "online-perceptron"
CLASSIFIERS = ("perceptron", "kernel-perceptron", "max-margin", "fewest-mistakes", "regions")


def load(path: str | Path) -> Loaded:
    """Read a model file: a classifier or an online model that was saved, or the halfspace of `linsep fit`.

    Nothing in the file is run, and nothing is guessed.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    classifier, OnlinePerceptron or Model
        What was saved.

    Raises
    ------
    ModelError
        The file is damaged, of another kind or another version; the message names the file and the field.

    Examples
    --------
    >>> import linsep, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.json")
    >>> X, y = linsep.datasets.cornwell()
    >>> linsep.PerceptronClassifier("last", random_state=0).fit(X, y).save(path)
    >>> linsep.load(path).predict(X).tolist() == y.tolist()
    True
    """
    return read_file(path, from_json)


def from_json(text: str) -> Loaded:
    """Read the text of a model of any kind. Only what that kind needs is imported."""
    return MODEL.read(text, _model_of)


def _model_of(document: Document) -> Loaded:
    kind = word(HALFSPACE, ONLINE, *CLASSIFIERS)(document.get("kind"), "kind")
    if kind == HALFSPACE:
        return read_halfspace(document)
    try:
        if kind == ONLINE:
            from linsep.learners.online_document import model_of

            return model_of(document)
        from linsep.estimators.saving import estimator_of

        return estimator_of(document)
    except MemoryError as error:
        raise ModelError("it needs more memory than there is.") from error
