"""Linsep: can a hyperplane separate the two classes? The answer, with a proof.

Everything public is named here and loads on first use, so that `import linsep` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linsep._version import __version__ as __version__

_NAMES = {
    "errors": "CertificateError InputError LinsepError NotSeparableError NotSeparableWarning",
    "estimators": "FewestMistakesClassifier KernelPerceptronClassifier MaxMarginClassifier PerceptronClassifier "
    "RegionsClassifier",
    "explorer.notebook": "explore",
    "halfspace": "Halfspace homogenise",
    "learners.online_perceptron": "OnlinePerceptron",
    "learners.perceptron": "perceptron perceptron_steps",
    "learners.perceptron_run": "PerceptronRun Step",
    "overview.describe": "Description describe",
    "proofs": "NotSeparable Obstruction Overlapping Separable Touching Undecided",
    "proofs.class_verdicts": "ClassVerdicts",
    "proofs.fewest_mistakes": "FewestMistakes",
    "proofs.proof_json": "verdict_from_json",
    "proofs.region_proof": "Regions",
    "questions.classes": "decide_classes max_margin_classes",
    "questions.clean": "Cleaning clean",
    "questions.decide": "decide",
    "questions.logistic.mle": "mle_exists",
    "questions.logistic.mle_report": "MleReport",
    "questions.margin": "Novikoff max_margin novikoff",
    "questions.mistakes": "fewest_mistakes",
    "questions.regions": "separate_regions",
    "saved_models.load": "load",
    "saved_models.onnx_export": "register_skl2onnx to_onnx",
    "sources.device.gpu": "on_device",
    "sources.files": "open",
}
_HOME = {name: f"linsep.{home}" for home, names in _NAMES.items() for name in names.split()}
_MODULES = ("datasets", "errors", "losses", "on_files", "plots", "theory")

__all__ = sorted([*_HOME, *_MODULES])

if TYPE_CHECKING:
    from linsep import datasets as datasets
    from linsep import errors as errors
    from linsep import losses as losses
    from linsep import on_files as on_files
    from linsep import plots as plots
    from linsep import theory as theory
    from linsep.errors import CertificateError as CertificateError
    from linsep.errors import InputError as InputError
    from linsep.errors import LinsepError as LinsepError
    from linsep.errors import NotSeparableError as NotSeparableError
    from linsep.errors import NotSeparableWarning as NotSeparableWarning
    from linsep.estimators import FewestMistakesClassifier as FewestMistakesClassifier
    from linsep.estimators import KernelPerceptronClassifier as KernelPerceptronClassifier
    from linsep.estimators import MaxMarginClassifier as MaxMarginClassifier
    from linsep.estimators import PerceptronClassifier as PerceptronClassifier
    from linsep.estimators import RegionsClassifier as RegionsClassifier
    from linsep.explorer.notebook import explore as explore
    from linsep.halfspace import Halfspace as Halfspace
    from linsep.halfspace import homogenise as homogenise
    from linsep.learners.online_perceptron import OnlinePerceptron as OnlinePerceptron
    from linsep.learners.perceptron import perceptron as perceptron
    from linsep.learners.perceptron import perceptron_steps as perceptron_steps
    from linsep.learners.perceptron_run import PerceptronRun as PerceptronRun
    from linsep.learners.perceptron_run import Step as Step
    from linsep.overview.describe import Description as Description
    from linsep.overview.describe import describe as describe
    from linsep.proofs import NotSeparable as NotSeparable
    from linsep.proofs import Obstruction as Obstruction
    from linsep.proofs import Overlapping as Overlapping
    from linsep.proofs import Separable as Separable
    from linsep.proofs import Touching as Touching
    from linsep.proofs import Undecided as Undecided
    from linsep.proofs.class_verdicts import ClassVerdicts as ClassVerdicts
    from linsep.proofs.fewest_mistakes import FewestMistakes as FewestMistakes
    from linsep.proofs.proof_json import verdict_from_json as verdict_from_json
    from linsep.proofs.region_proof import Regions as Regions
    from linsep.questions.classes import decide_classes as decide_classes
    from linsep.questions.classes import max_margin_classes as max_margin_classes
    from linsep.questions.clean import Cleaning as Cleaning
    from linsep.questions.clean import clean as clean
    from linsep.questions.decide import decide as decide
    from linsep.questions.logistic.mle import mle_exists as mle_exists
    from linsep.questions.logistic.mle_report import MleReport as MleReport
    from linsep.questions.margin import Novikoff as Novikoff
    from linsep.questions.margin import max_margin as max_margin
    from linsep.questions.margin import novikoff as novikoff
    from linsep.questions.mistakes import fewest_mistakes as fewest_mistakes
    from linsep.questions.regions import separate_regions as separate_regions
    from linsep.saved_models.load import load as load
    from linsep.saved_models.onnx_export import register_skl2onnx as register_skl2onnx
    from linsep.saved_models.onnx_export import to_onnx as to_onnx
    from linsep.sources.device.gpu import on_device as on_device
    from linsep.sources.files import open as open


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"linsep.{name}")
    if name not in _HOME:
        raise AttributeError(f"linsep has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
