"""The real data sets of the benchmarks: where they lie, how they are read, and what is expected of them.

The files are not part of the project. Their folder is given as an argument or by the environment variable
LINSEP_DATA; without either it is `shared/data` beside the repository.

    >>> table = {known.name: known for known in TWO_CLASS}
    >>> table["ijcnn1"].verdict, table["ijcnn1"].rank
    ('overlapping', 22)
"""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Rows = NDArray[Any] | csr_matrix
Labels = NDArray[np.int64]

VARIABLE = "LINSEP_DATA"
BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@dataclass(frozen=True)
class Known:
    """A set of two classes: its shape, and the verdict of a prototype, for a benchmark to prove anew."""

    name: str
    n: int
    d: int
    verdict: str
    rank: int | None = None  # of the rows with the bias column, where it is known to be less than d + 1


@dataclass(frozen=True)
class Logistic:
    """A regression with a published answer: one entry of `columns` for each column of X, in order.

    `infinite` says which coefficients have no finite estimate, "+inf" or "-inf" where the sign is published
    and "inf" where it is not; "intercept" stands for the bias. `finite` holds published estimates.
    `published` is False where only coefficients are published and the verdict is that of tests/naive.py.
    """

    name: str
    columns: tuple[str, ...] | None
    verdict: str
    infinite: dict[str, str] = field(default_factory=dict)
    finite: dict[str, float] = field(default_factory=dict)
    all_finite: bool = False
    published: bool = True


@dataclass(frozen=True)
class ManyClasses:
    """A set of more than two classes; pairs of classes make two-class problems."""

    name: str
    n: int
    d: int
    classes: int


TWO_CLASS = (
    Known("covtype", 581_012, 54, "touching"),
    Known("skin", 245_057, 3, "overlapping"),
    Known("w8a", 49_749, 300, "touching"),
    Known("a9a", 32_561, 123, "touching"),
    Known("phishing", 11_055, 68, "touching"),
    Known("ijcnn1", 49_990, 22, "overlapping", rank=22),
    Known("electricity", 45_312, 6, "overlapping"),
    Known("mushrooms", 8_124, 112, "separable"),
    Known("reuters_lasvm", 7_770, 8_315, "touching"),
    Known("higgs_sample", 7_000, 28, "overlapping"),
    Known("sms_spam", 5_574, 8_713, "separable"),
    Known("spambase", 4_601, 57, "overlapping"),
    Known("splice", 3_175, 60, "overlapping"),
    Known("pcmac", 1_943, 3_289, "separable"),
    Known("rcv1_vw_small", 1_000, 50_000, "separable"),
    Known("australian", 690, 14, "overlapping"),
    Known("breast_cancer_wisconsin", 683, 9, "overlapping"),
    Known("heart_scale", 270, 13, "overlapping"),
    Known("ionosphere", 351, 34, "touching"),
    Known("sonar", 208, 60, "separable"),
    Known("leukemia", 72, 7_070, "separable"),
    Known("colon", 62, 2_000, "separable"),
)

MANY_CLASSES = (ManyClasses("mnist", 60_000, 784, 10), ManyClasses("news20", 18_846, 173_762, 20))

LOGISTIC = (
    Logistic(
        "sep_endometrial",
        ("NV", "PI", "EH"),
        "touching",
        infinite={"NV": "+inf"},
        finite={"intercept": 4.3045, "PI": -0.0422, "EH": -2.9026},
    ),
    Logistic("sep_lizards", None, "overlapping", all_finite=True),
    Logistic(
        "sep_murder_rates",
        ("time", "income", "noncauc", "lfp", "southern"),
        "touching",
        infinite={"southern": "inf"},
        published=False,
    ),
    Logistic(
        "sep_politics_and_need",
        ("gop_governor", *(f"predictor {j}" for j in range(2, 9))),
        "touching",
        infinite={"gop_governor": "+inf", "intercept": "-inf"},
        published=False,
    ),
    Logistic("sep_agresti_complete", ("x",), "separable"),
    Logistic("sep_agresti_quasi", ("x",), "touching"),
    Logistic("sep_ucla_complete", ("X1", "X2"), "separable"),
    Logistic("sep_ucla_quasi", ("X1", "X2"), "touching", infinite={"X1": "inf"}),
    Logistic("sep_titanic3", ("Pclass", "male"), "separable"),
    Logistic("sep_birthwt", None, "overlapping"),
)


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder given, else the one of the environment variable, else the one beside the repository."""
    chosen = Path(folder or os.environ.get(VARIABLE) or BESIDE_THE_REPOSITORY)
    if not chosen.is_dir():
        raise FileNotFoundError(f"No folder {chosen}. Name the folder of the data sets, or set {VARIABLE}.")
    return chosen


def load(name: str, folder: str | Path | None = None, part: str = "") -> tuple[Rows, Labels]:
    """The rows, dense or CSR as they are stored, and the labels; `part="_test"` for the test set of mnist."""
    with np.load(data_folder(folder) / f"{name}.npz", allow_pickle=False) as parts:
        y = parts[f"y{part}"].astype(np.int64)
        if "indptr" in parts:
            entries = (parts["data"], parts["indices"], parts["indptr"])
            return csr_matrix(entries, shape=tuple(parts["shape"].tolist())), y
        return parts[f"X{part}"], y


def load_pair(name: str, positive: int, negative: int, folder: str | Path | None = None) -> tuple[Rows, Labels]:
    """Two classes of a set of many, as +1 and -1, in the order of the file."""
    X, y = load(name, folder)
    return only_pair(X, y, positive, negative)


def only_pair(X: Rows, y: Labels, positive: int, negative: int) -> tuple[Rows, Labels]:
    """The rows of two classes; apart from `load_pair`, so that 45 pairs need one reading."""
    chosen = np.flatnonzero((y == positive) | (y == negative))
    return X[chosen], np.where(y[chosen] == positive, 1, -1)


def two_class_sets(folder: str | Path | None = None) -> Iterator[tuple[Known, Rows, Labels]]:
    """Every set of two classes, one in memory at a time, the smallest file first."""
    place = data_folder(folder)
    for known in sorted(TWO_CLASS, key=lambda known: (place / f"{known.name}.npz").stat().st_size):
        yield known, *load(known.name, place)


def logistic_sets(folder: str | Path | None = None) -> Iterator[tuple[Logistic, Rows, Labels]]:
    """Every regression with a published answer."""
    for published in LOGISTIC:
        yield published, *load(published.name, folder)


@dataclass(frozen=True)
class RModel:
    """A model matrix, its outcomes, and what R's detectseparation says about them."""

    name: str
    names: tuple[str, ...]
    X: NDArray[np.float64]
    y: Labels
    verdict: str
    coefficients: dict[str, str]


IN_R = {"0": "finite", "Inf": "+inf", "-Inf": "-inf", "NA": "aliased"}


def separation_models(folder: str | Path | None = None) -> Iterator[RModel]:
    """R's 34 models, in alphabetical order."""
    for file in sorted((data_folder(folder) / "separation").glob("*.csv")):
        head, values = _csv(file)
        separated, complete = file.with_suffix(".out").read_text().split()
        verdict = "none" if separated == "FALSE" else "complete" if complete == "TRUE" else "quasi-complete"
        with file.with_suffix(".coef").open(newline="") as lines:
            said = {row["name"]: IN_R[row["coef"]] for row in csv.DictReader(lines)}
        yield RModel(file.stem, tuple(head[:-1]), values[:, :-1], values[:, -1].astype(np.int64), verdict, said)


@dataclass(frozen=True)
class PoissonSet:
    """A set of ppmlhdfe: predictors with a dummy for each level of its fixed effects but the first."""

    name: str
    names: tuple[str, ...]
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    separated: set[int]


def poisson_sets(folder: str | Path | None = None) -> Iterator[PoissonSet]:
    """The 18 sets of ppmlhdfe."""
    for file in sorted((data_folder(folder) / "poisson_separation").glob("*.csv")):
        head, values = _csv(file)
        columns, names = [], []
        for name, column in zip(head, values.T, strict=True):
            if name.startswith("x"):
                columns.append(column)
                names.append(name)
            elif name.startswith("id"):
                levels = np.unique(column)[1:]
                columns += [(column == level).astype(float) for level in levels]
                names += [f"{name}[{level:g}]" for level in levels]
        separated = set(np.flatnonzero(values[:, head.index("separated")]).tolist())
        yield PoissonSet(file.stem, tuple(names), np.column_stack(columns), values[:, head.index("y")], separated)


def _csv(file: Path) -> tuple[list[str], NDArray[np.float64]]:
    with file.open(newline="") as lines:
        head, *rows = csv.reader(lines)
    return head, np.array(rows, np.float64)
