"""The classifiers inside other people's libraries: what works, as a table. What is not installed says so.

python benchmarks/neighbours.py
"""

import importlib
import tempfile
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linsep.estimators
from linsep import OnlinePerceptron, PerceptronClassifier
from timing import table

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)


def model(**options):
    return PerceptronClassifier(random_state=0, max_passes=10, **options)


def rfe():
    chosen = RFE(model(), n_features_to_select=10).fit(X, y)
    return f"10 of 30 columns, accuracy {chosen.score(X, y):.3f}"


def select_from_model():
    return f"{SelectFromModel(model()).fit(X, y).transform(X).shape[1]} of 30 columns"


def vote():
    try:
        RFE(model(keep="vote")).fit(X, y)
    except (AttributeError, ValueError) as error:
        return f"refused: {str(error).splitlines()[0][:60]}…"
    raise AssertionError("a vote has no coef_")


def calibrated():
    shares = CalibratedClassifierCV(model(), cv=3).fit(X, y).predict_proba(X)
    return f"mean square of the error {np.mean((shares[:, 1] - y) ** 2):.3f}"


def ada_boost():
    boosted = AdaBoostClassifier(
        PerceptronClassifier(random_state=0, max_passes=1), n_estimators=10, random_state=0
    ).fit(X, y)
    return f"{len(boosted.estimators_)} learners by sample_weight, accuracy {boosted.score(X, y):.3f}"


def bagging():
    return f"accuracy {BaggingClassifier(model(), n_estimators=5, random_state=0).fit(X, y).score(X, y):.3f}"


def one_vs_rest():
    return f"accuracy {OneVsRestClassifier(model()).fit(X, y).score(X, y):.3f}"


def shap():
    import shap

    fitted = model().fit(X, y)
    explainer = shap.LinearExplainer(fitted, X)
    error = np.abs(explainer.shap_values(X).sum(axis=1) + explainer.expected_value - fitted.decision_function(X)).max()
    return f"values add up to the scores within {error:.1g}"


def skl2onnx():
    import onnxruntime
    import skl2onnx

    linsep.register_skl2onnx()
    pipeline = make_pipeline(StandardScaler(), model()).fit(X, y)
    written = skl2onnx.to_onnx(pipeline, X[:1], target_opset=17)
    label, _ = onnxruntime.InferenceSession(written.SerializeToString()).run(None, {"X": X})
    return f"a pipeline in double precision, {np.mean(label == pipeline.predict(X)):.0%} of the labels agree"


def skops():
    import skops.io

    few, labels = X[:100, :4], y[:100]
    every = [model(), model(keep="vote"), model(keep="last", rule="arow"), linsep.KernelPerceptronClassifier()]
    every += [linsep.MaxMarginClassifier(), linsep.FewestMistakesClassifier(time_limit=1), linsep.RegionsClassifier()]
    for each in every:
        fitted = each.fit(few, labels)
        loaded = skops.io.loads(skops.io.dumps(fitted), trusted=linsep.estimators.TRUSTED_TYPES)
        assert np.array_equal(loaded.predict(few), fitted.predict(few))
    return "every classifier written and read with linsep.estimators.TRUSTED_TYPES"


def mlflow():
    import mlflow.sklearn

    found = []
    trusted = {"skops_trusted_types": linsep.estimators.TRUSTED_TYPES}
    for kind, options in (("skops", trusted), ("cloudpickle", {})):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            mlflow.sklearn.save_model(model().fit(X, y), path, serialization_format=kind, **options)
            found.append(f"{kind} {mlflow.sklearn.load_model(str(path)).score(X, y):.3f}")
    return f"saved and loaded, accuracy {', '.join(found)}"


def imblearn():
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline as with_sampling

    return f"accuracy {with_sampling(RandomOverSampler(random_state=0), model()).fit(X, y).score(X, y):.3f}"


def dask_ml():
    import dask.array
    from dask_ml.wrappers import Incremental

    rows, labels = dask.array.from_array(X, chunks=(100, 30)), dask.array.from_array(y, chunks=100)
    fitted = Incremental(model()).fit(rows, labels, classes=[0, 1])
    return f"Incremental, accuracy {fitted.estimator_.score(X, y):.3f}"


def river():
    from river import datasets, evaluate, metrics

    found = evaluate.progressive_val_score(datasets.Phishing(), OnlinePerceptron(bits=12), metrics.Accuracy())
    return f"Phishing, one row at a time: {found}"


TRIED = {
    "scikit-learn": (rfe, select_from_model, vote, calibrated, ada_boost, bagging, one_vs_rest),
    "shap": (shap,),
    "skl2onnx": (skl2onnx,),
    "skops": (skops,),
    "mlflow-skinny": (mlflow,),
    "imbalanced-learn": (imblearn,),
    "dask-ml": (dask_ml,),
    "river": (river,),
}


def tried(library, work):
    try:
        version = metadata.version(library)
    except metadata.PackageNotFoundError:
        return [library, "", work.__name__, "not installed"]
    try:
        importlib.invalidate_caches()
        return [library, version, work.__name__, work()]
    except Exception as error:  # what a table of other people's libraries is for
        return [library, version, work.__name__, f"fails: {type(error).__name__}: {str(error).splitlines()[0][:100]}"]


def main():
    warnings.simplefilter("ignore")
    rows = [tried(library, work) for library, works in TRIED.items() for work in works]
    print(table(["library", "version", "tried", "result"], rows))


if __name__ == "__main__":
    main()
