"""Linsep: can a hyperplane separate the two classes? The answer, with a proof.

Everything public is named here and loads on first use, so that `import linsep` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linsep._version import __version__ as __version__

_NAMES = {
    "_classes": "decide_classes max_margin_classes",
    "_clean": "Cleaning clean",
    "_decide": "decide",
    "_describe": "Description describe",
    "_load": "load",
    "_margin": "Novikoff max_margin novikoff",
    "_mistakes": "fewest_mistakes",
    "_mle": "mle_exists",
    "_onnx": "register_skl2onnx to_onnx",
    "_regions": "separate_regions",
    "errors": "CertificateError InputError LinsepError NotSeparableError NotSeparableWarning",
    "estimators": "FewestMistakesClassifier KernelPerceptronClassifier MaxMarginClassifier PerceptronClassifier "
    "RegionsClassifier",
    "explorer.widget": "explore",
    "halfspace": "Halfspace homogenise",
    "mle_report": "MleReport",
    "online.online_perceptron": "OnlinePerceptron",
    "proofs": "NotSeparable Obstruction Overlapping Separable Touching Undecided",
    "proofs.class_verdicts": "ClassVerdicts",
    "proofs.mistakes": "FewestMistakes",
    "proofs.proof_json": "verdict_from_json",
    "proofs.regions": "Regions",
    "solvers.perceptron": "perceptron perceptron_steps",
    "solvers.perceptron_run": "PerceptronRun Step",
    "sources.files": "open",
    "sources.gpu": "on_device",
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
    from linsep._classes import decide_classes as decide_classes
    from linsep._classes import max_margin_classes as max_margin_classes
    from linsep._clean import Cleaning as Cleaning
    from linsep._clean import clean as clean
    from linsep._decide import decide as decide
    from linsep._describe import Description as Description
    from linsep._describe import describe as describe
    from linsep._load import load as load
    from linsep._margin import Novikoff as Novikoff
    from linsep._margin import max_margin as max_margin
    from linsep._margin import novikoff as novikoff
    from linsep._mistakes import fewest_mistakes as fewest_mistakes
    from linsep._mle import mle_exists as mle_exists
    from linsep._onnx import register_skl2onnx as register_skl2onnx
    from linsep._onnx import to_onnx as to_onnx
    from linsep._regions import separate_regions as separate_regions
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
    from linsep.explorer.widget import explore as explore
    from linsep.halfspace import Halfspace as Halfspace
    from linsep.halfspace import homogenise as homogenise
    from linsep.mle_report import MleReport as MleReport
    from linsep.online.online_perceptron import OnlinePerceptron as OnlinePerceptron
    from linsep.proofs import NotSeparable as NotSeparable
    from linsep.proofs import Obstruction as Obstruction
    from linsep.proofs import Overlapping as Overlapping
    from linsep.proofs import Separable as Separable
    from linsep.proofs import Touching as Touching
    from linsep.proofs import Undecided as Undecided
    from linsep.proofs.class_verdicts import ClassVerdicts as ClassVerdicts
    from linsep.proofs.mistakes import FewestMistakes as FewestMistakes
    from linsep.proofs.proof_json import verdict_from_json as verdict_from_json
    from linsep.proofs.regions import Regions as Regions
    from linsep.solvers.perceptron import perceptron as perceptron
    from linsep.solvers.perceptron import perceptron_steps as perceptron_steps
    from linsep.solvers.perceptron_run import PerceptronRun as PerceptronRun
    from linsep.solvers.perceptron_run import Step as Step
    from linsep.sources.files import open as open
    from linsep.sources.gpu import on_device as on_device


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
