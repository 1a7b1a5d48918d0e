"""A fitted classifier as an ONNX graph in double precision, which any ONNX runtime runs without Python.

Only plain operators are used. The scores of the voters of a run are running sums of its updates, so `CumSum` gives them
all, as the compiled loops of linsep do. No product of matrices is multiplied or divided by a single number:
onnxruntime fuses the two and rounds that number to float32.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from linsep._version import __version__
from linsep.errors import ArgumentError, InexactError, MissingPackageError, shown
from linsep.estimators import (
    FewestMistakesClassifier,
    KernelPerceptronClassifier,
    MaxMarginClassifier,
    PerceptronClassifier,
)
from linsep.estimators.score_classifier import Array, ScoreClassifier
from linsep.estimators.verdict_classifier import VerdictClassifier
from linsep.halfspace import Halfspace
from linsep.learners.kept_weights import Ballot
from linsep.learners.online_perceptron import OnlinePerceptron
from linsep.loops.update_log import LABEL, RIVAL, ROW, STEP
from linsep.models import Model
from linsep.tables import as_double

OPSET, IR_VERSION = 17, 8  # of 2022: the runtimes in use can read it
MOST_BYTES = 1 << 31  # the largest protocol buffer
KERNELS = ("linear", "poly", "polynomial", "rbf", "sigmoid", "cosine")


def to_onnx(model: ScoreClassifier | OnlinePerceptron | Model | Halfspace) -> Any:
    """Make an ONNX model: input `X` (rows of doubles), outputs `label` and `scores`. Needs the extra `onnx`.

    `scores` are those of `decision_function` and `label` is what `predict` gives, up to rounding: the graph computes in
    doubles, and a row extremely close to the hyperplane may get the other label.

    Parameters
    ----------
    model : a fitted classifier, an `OnlinePerceptron` of numbers, a `Halfspace` or a `Model`
        The last is what `linsep.load` reads from a file of `linsep fit`.

    Returns
    -------
    onnx.ModelProto
        The model.

    Raises
    ------
    InputError
        ONNX cannot hold this model; the message says why.

    Examples
    --------
    >>> import linsep
    >>> X, y = linsep.datasets.cornwell()
    >>> model = linsep.to_onnx(linsep.PerceptronClassifier("last", random_state=0).fit(X, y))
    >>> [output.name for output in model.graph.output]
    ['label', 'scores']
    """
    estimator = _known(model)
    graph = _Graph()
    match estimator:
        case KernelPerceptronClassifier():
            scores = _kernel_scores(graph, estimator)
        case PerceptronClassifier() if estimator._learners[0].ballot is not None:
            columns = [_votes(graph, learner.ballot) for learner in estimator._learners if learner.ballot]
            scores = graph("Concat", *columns, axis=1)
        case _:
            scores = graph("Add", graph("MatMul", "X", estimator.coef_.T), estimator.intercept_)
    if len(estimator.classes_) == 2:
        scores = graph("Squeeze", scores, [1])
        winners = graph("Cast", graph("Greater", scores, 0.0), to=graph.onnx.TensorProto.INT64)
    else:
        winners = graph("ArgMax", scores, axis=1, keepdims=0)
    return graph.model(_classes(estimator.classes_), winners, scores, estimator.n_features_in_)


def register_skl2onnx() -> None:
    """Register the classifiers of linsep with skl2onnx, so that it converts pipelines that end in one.

    The model that `skl2onnx.to_onnx(pipeline, X)` makes then has the outputs `label` and `scores`, computed in doubles
    from the output of the steps before. Needs skl2onnx.

    Raises
    ------
    ArgumentError
        skl2onnx is not installed.
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ArgumentError(
            "Converting pipelines needs skl2onnx, which is not installed: pip install skl2onnx"
        ) from error
    for classifier in (
        PerceptronClassifier,
        KernelPerceptronClassifier,
        MaxMarginClassifier,
        FewestMistakesClassifier,
    ):
        name = f"Linsep{classifier.__name__}"
        update_registered_converter(classifier, name, _no_shapes, _converted, parser=_outputs, overwrite=True)


def _outputs(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """The outputs of a classifier in a pipeline of skl2onnx: a label and the scores."""
    from skl2onnx.common.data_types import BooleanTensorType, DoubleTensorType, Int64TensorType, StringTensorType

    operator = scope.declare_local_operator(f"Linsep{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    labels = _classes(model.classes_)
    kinds = {"O": StringTensorType, "f": DoubleTensorType, "b": BooleanTensorType}
    kind = kinds.get(labels.dtype.kind, Int64TensorType)
    operator.outputs.append(scope.declare_local_variable("label", kind([None])))
    shape = [None] if len(labels) == 2 else [None, len(labels)]
    operator.outputs.append(scope.declare_local_variable("scores", DoubleTensorType(shape)))
    return operator.outputs


def _no_shapes(operator: Any) -> None:
    """Nothing to infer: the shapes are known from the start."""


def _converted(scope: Any, operator: Any, container: Any) -> None:
    """The graph of `to_onnx` as nodes of a larger one."""
    if len(operator.inputs) != 1:
        raise ArgumentError(
            "A classifier of linsep takes one table of numbers: give skl2onnx one input for all columns."
        )
    model = to_onnx(operator.raw_operator)
    names = {"X": scope.get_unique_variable_name("doubles"), "": ""}
    double = model.graph.input[0].type.tensor_type.elem_type
    container.add_node("Cast", [operator.inputs[0].full_name], [names["X"]], name=names["X"], to=double)
    for constant in model.graph.initializer:
        names[constant.name] = constant.name = scope.get_unique_variable_name(constant.name)
        container.initializers.append(constant)
    names |= {output.raw_name: output.full_name for output in operator.outputs}
    for node in model.graph.node:
        for output in node.output:
            names.setdefault(output, scope.get_unique_variable_name(output))
        node.input[:] = [names[name] for name in node.input]
        node.output[:] = [names[name] for name in node.output]
        node.name = scope.get_unique_operator_name(node.op_type)
        container.nodes.append(node)


def _known(model: Any) -> Any:
    """The model as one of the classifiers, or as a linear one; an error that names what cannot be exported."""
    match model:
        case KernelPerceptronClassifier() | PerceptronClassifier() | VerdictClassifier():
            check_is_fitted(model)
            return model
        case Model():
            return _known(model.halfspace)
        case Halfspace():
            return _linear(_doubles(model.w.tolist())[None], _doubles([model.b]), model.labels)
        case OnlinePerceptron(bits=None):
            if model.learner is None or len(model.classes) < 2:
                raise ArgumentError("This OnlinePerceptron has not seen two classes yet: there is nothing to export.")
            kept = model.learner.kept
            return _linear(kept.W, kept.b, model.classes)
        case OnlinePerceptron():
            raise ArgumentError(
                "This OnlinePerceptron hashes text or named values, which ONNX cannot do. Only models of numbers can "
                "be exported."
            )
    raise ArgumentError(
        f"A {type(model).__name__} cannot be exported. to_onnx takes linsep's classifiers, an OnlinePerceptron of "
        "numbers, a Halfspace, or a model read by linsep.load."
    )


def _doubles(values: Sequence[int | float]) -> Array:
    """Weights as doubles, the only numbers the graph uses."""
    doubles = [as_double(value) for value in values]
    if None in doubles:
        wrong = values[doubles.index(None)]
        raise InexactError(f"The weight {shown(wrong)} is not a double, and the graph would round it.")
    return np.array(doubles, np.float64)


def _linear(coef: Array, intercept: Array, labels: Sequence[Any]) -> SimpleNamespace:
    """A linear model under scikit-learn's names; its labels in their common type, or as objects if they have none."""
    together = np.array(labels)
    classes = together if together.tolist() == list(labels) else np.fromiter(labels, object, len(labels))
    return SimpleNamespace(coef_=coef, intercept_=intercept, classes_=classes, n_features_in_=coef.shape[1])


class _Graph:
    """Nodes as calls: `graph("Add", a, b)` is the name of a + b; arrays and numbers become constants."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingPackageError("onnx", "onnx", "ONNX exports") from error
        self.onnx, self.bytes = onnx, 0
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, operator: str, *inputs: Any, **options: Any) -> str:
        name = f"{operator}_{len(self.nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self.nodes.append(self.onnx.helper.make_node(operator, names, [name], **options))
        return name

    def number(self, name: str) -> str:
        """True as 1.0, false as 0.0."""
        return self("Cast", name, to=self.onnx.TensorProto.DOUBLE)

    def _constant(self, value: Any) -> str:
        array = _dense(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        self.bytes += array.nbytes
        if self.bytes >= MOST_BYTES:
            raise ArgumentError(
                "The model is larger than the 2 GiB that ONNX allows. keep='average' needs no rows, and budget= bounds "
                "a kernel's support."
            )
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def model(self, classes: Array, winners: str, scores: str, n_columns: int) -> Any:
        """The finished model: the label of each winner, and the scores."""
        helper = self.onnx.helper
        self.nodes += [
            helper.make_node("Identity", [self("Gather", classes, winners)], ["label"]),
            helper.make_node("Identity", [scores], ["scores"]),
        ]
        double, kind = self.onnx.TensorProto.DOUBLE, helper.np_dtype_to_tensor_dtype(classes.dtype)
        shape = ["rows"] if len(classes) == 2 else ["rows", len(classes)]
        graph = helper.make_graph(
            self.nodes,
            "linsep",
            [helper.make_tensor_value_info("X", double, ["rows", n_columns])],
            [
                helper.make_tensor_value_info("label", kind, ["rows"]),
                helper.make_tensor_value_info("scores", double, shape),
            ],
            initializer=self.constants,
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="linsep", producer_version=__version__
        )
        self.onnx.checker.check_model(model)
        return model


def _classes(classes: Array) -> Array:
    """The labels in a type that ONNX has."""
    match classes.dtype.kind:
        case "O" if not all(isinstance(label, str) for label in classes.tolist()):
            labels = ", ".join(map(shown, classes.tolist()))
            raise ArgumentError(f"ONNX has no type for the labels {labels}: use text, or integers of 64 bits.")
        case "U" | "O":
            return classes.astype(object)
        case "i" | "u" if classes.dtype != np.uint64:
            return classes.astype(np.int64)
        case "f":
            return classes.astype(np.float64)
    return classes


def _votes(graph: _Graph, ballot: Ballot) -> str:
    """Each class's share of the votes of one run's vectors; for two classes the share for minus the share against."""
    _require_room(ballot.rows)
    products = graph("Add", graph("MatMul", "X", ballot.rows.T), float(ballot.bias))
    rows, steps = ballot.log[:, ROW].astype(np.int64), ballot.log[:, STEP]
    moves = graph("Gather", products, rows, axis=1)  # what each update adds to a score
    first = graph("Add", graph("MatMul", "X", ballot.first.W.T), ballot.first.b)
    label, rival = ballot.log[:, LABEL], ballot.log[:, RIVAL]
    if len(ballot.first.b) == 1:
        moves = graph("Mul", moves, (2.0 * label - 1.0) * steps)
        return _majority(graph, graph("Concat", first, moves, axis=1), ballot.survived)
    classes = np.arange(len(ballot.first.b))[:, None]
    signs = steps * ((classes == label) * 1.0 - (classes == rival))
    moves = graph("Mul", graph("Unsqueeze", moves, [1]), signs)
    scores = graph("CumSum", graph("Concat", graph("Unsqueeze", first, [2]), moves, axis=2), np.array(2))
    is_best = graph.number(graph("Equal", scores, graph("ReduceMax", scores, axes=[1], keepdims=1)))
    is_alone = graph.number(graph("Equal", graph("ReduceSum", is_best, [1], keepdims=1), 1.0))
    voices = graph("Mul", graph("Mul", is_best, is_alone), ballot.survived)
    return graph("Div", graph("ReduceSum", voices, [2], keepdims=0), ballot.survived.sum())


def _majority(graph: _Graph, steps: str, voices: Array) -> str:
    """The balance of the votes of hypotheses, each of which is the sum of the steps so far."""
    signs = graph("Sign", graph("CumSum", steps, np.array(1)))
    balance = graph("ReduceSum", graph("Mul", signs, voices.astype(np.float64)), [1], keepdims=1)
    return graph("Div", balance, float(voices.sum()))


def _kernel_scores(graph: _Graph, estimator: KernelPerceptronClassifier) -> str:
    values = _kernel_values(graph, estimator)
    if estimator._votes is None:
        return graph("MatMul", values, estimator.dual_coef_.T)
    columns = [
        _majority(graph, graph("Mul", graph("Gather", values, places, axis=1), deltas), counts)
        for places, deltas, counts in estimator._votes
    ]
    return graph("Concat", *columns, axis=1)


def _kernel_values(graph: _Graph, estimator: KernelPerceptronClassifier) -> str:
    """K of each row of X with each support row, as scikit-learn defines it."""
    kernel, gamma, V = estimator.kernel, estimator.gamma_, estimator.support_vectors_
    if not isinstance(kernel, str) or kernel not in KERNELS:
        named = f"the kernel {kernel!r}" if isinstance(kernel, str) else "a kernel that is a function"
        raise ArgumentError(f"ONNX export does not support {named}. It supports {', '.join(KERNELS)}.")
    _require_room(V)
    V = _dense(V).astype(np.float64)
    if kernel == "cosine":
        length = graph("ReduceL2", "X", axes=[1], keepdims=1)
        safe = graph("Where", graph("Equal", length, 0.0), 1.0, length)
        return graph("MatMul", graph("Div", "X", safe), normalize(V).T)
    products = graph("MatMul", "X", V.T)
    match kernel:
        case "linear":
            return products
        case "rbf":
            lengths = graph("Add", graph("ReduceSumSquare", "X", axes=[1], keepdims=1), (V * V).sum(axis=1))
            distances = graph("Max", graph("Sub", lengths, graph("Add", products, products)), 0.0)
            return graph("Exp", graph("Mul", distances, -gamma))
    shifted = graph("Add", graph("Mul", products, np.full(len(V), gamma)), float(estimator.coef0))
    return graph("Tanh", shifted) if kernel == "sigmoid" else graph("Pow", shifted, float(estimator.degree))


def _require_room(rows: Any) -> None:
    """Refuse sparse rows that would not fit once written out in full, before that is done."""
    if 8 * rows.shape[0] * rows.shape[1] >= MOST_BYTES:
        raise ArgumentError(
            f"ONNX has only dense rows: {rows.shape[0]} × {rows.shape[1]} of them are more than its 2 GiB. "
            "keep='average' of PerceptronClassifier needs no rows."
        )


def _dense(values: Any) -> Array:
    is_sparse: bool = sp.issparse(values)
    array: Array = values.toarray() if is_sparse else np.asarray(values)
    return array
