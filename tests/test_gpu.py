"""Rows on a device. The same code runs here on PyTorch's CPU tensors; the Triton kernel needs CUDA."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
import linsep.questions.decide
from linsep.errors import (
    ArgumentError,
    CertificateError,
    InputError,
    NotFiniteError,
    OutOfMemoryError,
    OverflowedError,
    ShapeError,
)
from linsep.proofs import Obstruction, Overlapping, definite, device_bounds
from linsep.solvers.wide import device_newton
from linsep.sources.device import gpu
from linsep.sources.device.device_tables import CsrTable, DenseTable, device_labels
from linsep.sources.device.gpu import DeviceSource, on_device
from linsep.sources.inputs import as_source
from test_definite import exceeds_exactly, ill_conditioned

torch = pytest.importorskip("torch")  # too large for the environments of `make bounds`

X, Y = linsep.datasets.planted(3000, 4, margin=0.02, seed=5)
FLIPPED = np.where(np.arange(3000) % 997 == 5, -Y, Y)
PURE = np.column_stack([X, np.where(np.arange(3000) % 9 == 0, FLIPPED, 0)])
CASES = {"separable": (X, Y), "overlapping": (X, FLIPPED), "touching": (PURE, FLIPPED)}


@pytest.fixture(autouse=True)
def stay_there(monkeypatch):
    """Small tables are decided there too."""
    monkeypatch.setattr(linsep.questions.decide, "SMALL", 0)


def test_small_tables_are_brought_here(monkeypatch):
    source = here(X, Y)
    monkeypatch.setattr(DeviceSource, "scan", lambda *_, **__: pytest.fail("asked the device"))
    with pytest.raises(pytest.fail.Exception):
        linsep.decide(source)
    monkeypatch.setattr(linsep.questions.decide, "SMALL", 1 << 20)
    assert claim(linsep.decide(source)) == claim(linsep.decide(X, Y))


def here(X, y):
    """The rows as a source of a device: that of the CPU."""
    return on_device(X, y, device="cpu")


def claim(verdict):
    """What a verdict claims, without the time that it took."""
    found = [getattr(verdict, name, None) for name in ("weights", "bias_weight", "separated_rows")]
    for name in ("obstruction", "spread"):
        rows = getattr(verdict, name, None)
        found += [None] if rows is None else [rows.rows, rows.weights]
    return verdict.kind, found


@pytest.mark.parametrize("kind", CASES)
def test_the_verdict_and_its_proof_are_those_of_rows_in_memory(kind):
    source = here(*CASES[kind])
    verdict = linsep.decide(source)
    assert verdict.kind == kind
    verdict.verify(source)
    verdict.verify(*CASES[kind])
    assert claim(verdict) == claim(linsep.decide(*CASES[kind]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int8, torch.int64, torch.uint8])
def test_numbers_of_every_type_are_taken_as_they_are(dtype):
    values = torch.from_numpy(np.round(3 * X + 4)).to(dtype)
    y = np.where(values.double().numpy() @ [1, 2, -1, 0] > 3, 1, 0)
    table = DenseTable(torch, values)
    source = DeviceSource(table, torch.from_numpy(np.where(y, 1, -1).astype(np.int8)), gpu.Facts(3000, 4, (0, 1)))
    verdict, known = linsep.decide(source), linsep.decide(values.double().numpy(), y)
    assert verdict.kind == known.kind
    verdict.verify(values.double().numpy(), y)


@pytest.mark.parametrize("seed", range(12))
def test_a_scan_counts_as_one_in_memory_does(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(1, 5000)), int(random.integers(1, 9))
    rows = random.integers(-2, 3, (n, d)).astype(float) if seed % 2 else random.standard_normal((n, d))
    y = np.append(np.where(random.random(n) < 0.5, -1, 1), [-1, 1])
    rows = np.vstack([rows, np.zeros((2, d))])
    w, b = random.integers(-2, 3, d).astype(float), float(random.integers(-1, 2))
    there, known = here(rows, y).scan(w, b, worst=37), as_source(rows, y).scan(w, b, worst=37)
    exact = as_source(rows, y).take(np.arange(n + 2)).exact_signs(w, b)
    assert (there.rows, there.mistakes) == (known.rows, known.mistakes)
    assert there.certain == np.count_nonzero(exact <= 0) and not len(there.doubtful)
    assert there.lowest == pytest.approx(known.lowest, rel=1e-12, abs=1e-12)
    assert there.longest2 == pytest.approx(known.longest2, rel=1e-12)
    assert there.worst_scores == pytest.approx(known.worst_scores, rel=1e-12, abs=1e-12)
    if seed % 2:  # sums of small integers are exact in any order
        assert there.worst.row_numbers.tolist() == known.worst.row_numbers.tolist()


def test_weights_of_zero_separate_nothing():
    scan = here(X, Y).scan(np.zeros(4), 0.0)
    assert scan.certain == scan.mistakes == 3000 and not scan.is_clean


def test_huge_rows_are_not_taken_for_separated_ones():
    rows = np.array([[1e200, 1.0], [1e200, -1.0], [-1e200, 1.0], [-1e200, -1.0]])
    for w in ([1.0, 1.0], [0.0, 1.0], [1e-200, 1.0]):
        there = here(rows, [1, 1, 0, 0]).scan(np.array(w), 0.0)
        signs = as_source(rows, [1, 1, 0, 0]).take(range(4)).exact_signs(np.array(w), 0.0)
        assert there.certain == np.count_nonzero(signs <= 0)


def test_the_numbers_of_the_user_stay_as_they_are():
    tensor, copy = torch.from_numpy(X.copy()), X.copy()
    source = DeviceSource(DenseTable(torch, tensor), torch.from_numpy(Y.astype(np.int8)), gpu.Facts(3000, 4))
    linsep.decide(source)
    linsep.max_margin(source)
    assert (tensor.numpy() == copy).all()


def sparse_case(flipped=0):
    return linsep.datasets.planted_sparse(800, 300, per_row=10, margin=0.05, flipped=flipped, seed=3)


@pytest.mark.parametrize("flipped", [0, 90])
def test_sparse_rows_are_decided(flipped):
    rows, y = sparse_case(flipped)
    source = here(rows, y)
    verdict = linsep.decide(source)
    assert verdict.kind == linsep.decide(rows, y).kind
    verdict.verify(rows, y)


def test_sparse_rows_come_back_as_they_were():
    rows, y = sparse_case()
    source = here(rows, y)
    chosen = np.array([7, 3, 3, 799, 0])
    assert (source.take(chosen).values.toarray() == rows.toarray()[chosen]).all()
    assert (sp.vstack([block.values for block in source.blocks()]).toarray() == rows.toarray()).all()
    empty = sp.csr_array((4, 3))
    assert isinstance(here(empty, [0, 1, 0, 1]).table, CsrTable)
    assert here(empty, [0, 1, 0, 1]).scan(np.ones(3), 0.0).mistakes == 4


def test_pieces_do_not_matter(monkeypatch):
    whole = linsep.decide(here(X, FLIPPED))
    monkeypatch.setattr(gpu, "PIECE", 1000)
    monkeypatch.setattr(gpu, "LOOKED_AT", 100)
    monkeypatch.setattr(gpu, "AT_HAND", 4000)
    source = here(X, FLIPPED)
    verdict = linsep.decide(source)
    assert verdict.kind == whole.kind
    verdict.verify(source)
    verdict.verify(X, FLIPPED)


def test_classifiers_learn_from_a_device():
    model, known = (linsep.PerceptronClassifier(max_passes=3, order="cyclic") for _ in range(2))
    assert (model.fit(here(X, Y)).coef_ == known.fit(X, Y).coef_).all()


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.filterwarnings("ignore::linsep.NotSeparableWarning")
def test_the_largest_margin_is_learned_from_a_device(kind):
    source = here(*CASES[kind])
    model, known = (linsep.MaxMarginClassifier(gap=1e-3).fit(*data) for data in ((source,), CASES[kind]))
    assert model.verdict_.kind == known.verdict_.kind == kind
    assert model.coef_ == pytest.approx(known.coef_, abs=0.05)
    assert model.score(source) == pytest.approx(known.score(*CASES[kind]), abs=0.002)
    model.verdict_.verify(*CASES[kind])


def test_the_fewest_mistakes_are_learned_from_a_device():
    source = here(X[:200], FLIPPED[:200])
    model = linsep.FewestMistakesClassifier().fit(source)
    assert model.best_.tolist() == [1.0] and model.score(source) == 1 - 1 / 200
    model.verdict_.verify(X[:200], FLIPPED[:200])


@pytest.mark.parametrize("name", ["MaxMarginClassifier", "FewestMistakesClassifier"])
def test_each_class_of_three_is_separated_from_the_rest_on_a_device(name):
    centres = np.array([[9, 0, 0, 0], [-9, 0, 0, 0], [0, 9, 0, 0]])
    rows, classes = X[:90] + np.repeat(centres, 30, axis=0), np.repeat(["a", "b", "c"], 30)
    model = getattr(linsep, name)().fit(here(rows, classes))
    assert model.classes_.tolist() == ["a", "b", "c"] and len(model.verdicts_) == 3
    assert model.score(rows, classes) == 1.0


def test_three_classes_are_refused_by_decide_and_learned_by_classifiers():
    classes = np.arange(3000) % 3
    with pytest.raises(InputError, match="more than two labels"):
        linsep.decide(here(X, classes))
    assert linsep.PerceptronClassifier(max_passes=1).fit(here(X, classes)).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named(value):
    bad = X.copy()
    bad[2050, 1] = value
    with pytest.raises(NotFiniteError, match="Row 2050, column 1"):
        here(bad, Y)


def test_scores_beyond_the_largest_double_are_told_of():
    with pytest.raises(OverflowedError, match="Row 1"):
        here([[1.0], [1e300]], [0, 1]).scan(np.array([1e300]), 0.0)


def test_labels_on_the_device_are_read_there():
    place = torch.device("cpu")
    for y, known in (
        ([3.5, 1.5], (1.5, 3.5)),
        ([2, 7, 2], (2, 7)),
        ([True, False], (False, True)),
        ([4, 9, 5], (4, 5, 9)),
    ):
        codes, labels = device_labels(torch, torch.tensor(y), len(y), place)
        read = [labels[int(c)] if len(labels) > 2 else labels[int(c > 0)] for c in codes]
        assert labels == known and read == y
    with pytest.raises(InputError, match="Row 1: the label is NaN"):
        device_labels(torch, torch.tensor([1.0, float("nan")]), 2, place)
    with pytest.raises(InputError, match="3 rows, but y has 2"):
        device_labels(torch, torch.tensor([1, 2]), 3, place)
    with pytest.raises(InputError, match="only one class"):
        _ = here(X[:3], [1, 1, 1]).facts.pair


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("banana", "does not know this device"),
        (7.5, "does not know this device"),
        ("cuda:99", 'finds no GPU .* device="cpu"'),
        ("mps", 'finds no GPU .* device="cpu"'),
        ("xpu", "finds no GPU"),
    ],
)
def test_a_device_that_is_not_there_is_named(device, words):
    if torch.cuda.is_available() and device != "banana":
        pytest.skip("there is a GPU")
    with pytest.raises(ArgumentError, match=words):
        on_device(X, Y, device=device)


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_rows_for_which_a_device_has_no_room_are_refused_with_their_size(kind, monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.Tensor, "to", full)
    monkeypatch.setattr("linsep.sources.device.gpu._place", lambda *_: "cuda")
    rows = np.zeros((5_000_000, 3))
    with pytest.raises(OutOfMemoryError, match=r"The rows take 0\.1 GB, and 'cuda' has no room for them"):
        on_device(kind(rows), np.arange(5_000_000) % 2, device="cuda")


def test_files_stay_where_they_are(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    with pytest.raises(ArgumentError, match="rows in memory"):
        on_device(linsep.open(tmp_path / "a.csv", label="y"), device="cpu")


def test_a_machine_without_pytorch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ArgumentError, match=r"linsep\[gpu\]"):
        on_device(X, Y)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("d", [1, 3, 4, 32, 100, 200, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int8])
def test_the_kernel_counts_as_pytorch_does(d, dtype):
    random = torch.Generator("cuda").manual_seed(d)
    rows = (torch.randn((4321, d), generator=random, device="cuda") * 20).to(dtype)
    y = torch.where(torch.rand(4321, generator=random, device="cuda") < 0.5, -1, 1).to(torch.int8)
    there = on_device(rows, y)
    known = as_source(rows.double().cpu().numpy(), y.cpu().numpy())
    w = np.random.default_rng(1).standard_normal(d)
    mine, theirs = there.scan(w, 0.1, worst=20), known.scan(w, 0.1, worst=20)
    assert (mine.mistakes, mine.certain) == (theirs.mistakes, theirs.certain)
    assert mine.lowest == pytest.approx(theirs.lowest) and mine.longest2 == pytest.approx(theirs.longest2)
    assert mine.worst_scores == pytest.approx(theirs.worst_scores)


# Many columns


def wide(n, d, seed, kind=np.float32):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n, d)) if kind == np.float32 else random.integers(-5, 6, (n, d))
    return rows.astype(kind), random.choice([-1, 1], n)


@pytest.mark.parametrize(("n", "kind"), [(900, np.float32), (1000, np.int8), (450, np.float32), (2500, np.float32)])
def test_many_columns_are_settled_there(n, kind, monkeypatch):
    rows, y = wide(n, 250, n, kind)
    source = here(rows, y)
    monkeypatch.setattr(DeviceSource, "blocks", lambda self, random=None: iter([self.take(np.arange(64))]))
    verdict = linsep.decide(source)
    monkeypatch.undo()
    assert verdict.kind == linsep.decide(rows, y).kind == ("separable" if n < 500 else "overlapping")
    verdict.verify(source)
    verdict.verify(rows, y)


def test_a_proof_of_the_device_is_read_by_the_checker(tmp_path):
    rows, y = wide(800, 210, 1)
    verdict = linsep.decide(here(rows, y))
    np.savetxt(tmp_path / "rows.csv", np.column_stack([rows, y]), delimiter=",", fmt="%.9g", comments="",
               header=",".join([*(f"x{k}" for k in range(210)), "y"]))  # fmt: skip
    (tmp_path / "proof.json").write_text(verdict.to_json())
    source = linsep.open(tmp_path / "rows.csv", label="y")
    linsep.verdict_from_json((tmp_path / "proof.json").read_text()).verify(source)


def test_weights_that_prove_nothing_are_refused_there_too(monkeypatch):
    monkeypatch.setattr(definite, "MANY_ENTRIES", 0)
    rows, y = wide(700, 210, 3)
    verdict = linsep.decide(here(rows, y))
    forged = Obstruction(verdict.obstruction.rows, (1,) * len(verdict.obstruction.rows), dependences=())
    claim = Overlapping(n_rows=700, n_columns=210, labels=(-1, 1), obstruction=forged, spread=forged)
    for data in ((here(rows, y),), (rows, y)):
        with pytest.raises(CertificateError, match="does not hold"):
            claim.verify(*data)


def test_rows_that_a_sample_does_not_show_are_found(monkeypatch):
    rows, y = linsep.datasets.planted(6000, 210, margin=0.02, seed=1, dtype=np.float32)
    monkeypatch.setattr(device_newton, "FIRST_ROWS", 2)
    verdict = linsep.decide(here(rows, y))
    assert verdict.kind == "separable"
    verdict.verify(rows, y)


def test_columns_of_zeros_are_left_to_this_machine():
    rows, y = wide(900, 260, 5)
    rows[:, 7] = 0.0
    verdict = linsep.decide(here(rows, y))
    assert verdict.kind == "overlapping"
    verdict.verify(rows, y)


def tensors(a):
    return torch.from_numpy(np.ascontiguousarray(a))


def test_no_ill_conditioned_matrix_is_said_to_exceed_what_it_does_not():
    cases = [ill_conditioned(seed) for seed in range(400)]
    claimed = [(a, length) for a, length in cases if device_bounds._least_eigenvalue(tensors(a), length, 1.0) > length]
    assert len(claimed) > 10 and all(exceeds_exactly(a, length) for a, length in claimed)


@pytest.mark.parametrize(
    ("rows", "weight"),
    [
        (np.ones((3, 2), np.int64), 1),
        (np.ones((3, 2)), 2**60),
        (np.array([[1e-200, 1], [1e200, 1]]), 1),
        (np.array([[1.0, 0], [1, 0]]), 1),
    ],
    ids=["long integers", "long weights", "far apart", "a column of zeros"],
)
def test_what_doubles_of_a_device_cannot_hold_is_left_to_this_machine(rows, weight):
    y = np.ones(len(rows), np.int8)
    assert device_bounds.bounds_on_device(tensors(rows), tensors(y), [weight] * len(rows), bias=False) is None


def test_nothing_is_claimed_of_a_sum_that_is_longer_than_the_rows():
    assert device_bounds._least_eigenvalue(tensors(np.eye(2)), 5.0, 1.0) == -math.inf


@pytest.mark.parametrize("bits", [3, 20, 48, 53])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8])
def test_the_two_numbers_are_those_of_this_machine(bits, kind):
    random = np.random.default_rng(bits)
    rows = (random.standard_normal((40, 5)) * [1, 3, 0.1, 50, 9]).astype(kind)
    rows[0] = 1
    y = random.choice([-1, 1], 40).astype(np.int8)
    weights = random.integers(1, 2**bits, 40).tolist()
    there = device_bounds.bounds_on_device(tensors(rows), tensors(y), weights, bias=True)
    z = [[Fraction(int(s) * v) for v in [*row, 1]] for row, s in zip(rows.astype(float).tolist(), y, strict=True)]
    tops = np.frexp(np.append(np.abs(rows.astype(float)).max(axis=0), 1.0))[1]
    size = Fraction(2) ** max(weights).bit_length()
    sums = [
        sum(u * row[k] for u, row in zip(weights, z, strict=True)) / size / Fraction(2) ** int(top)
        for k, top in enumerate(tops)
    ]
    square = sum(total**2 for total in sums)
    assert square <= Fraction(there.length) ** 2 <= square * (1 + Fraction(1, 10**6)) + Fraction(1, 10**12)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_integers_are_read(dtype):
    values = torch.from_numpy(np.round(3 * X + 40).astype(np.int64)).to(dtype)
    assert linsep.decide(on_device(values, Y, device="cpu")).kind in ("separable", "overlapping", "touching")


def test_tensors_of_this_machine_are_moved_as_they_are():
    half = torch.from_numpy(X).to(torch.bfloat16)
    assert on_device(half, Y, device="cpu").table.values.dtype == torch.bfloat16
    rows, y = sparse_case()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls its sparse tensors a trial
        tensor = torch.from_numpy(rows.toarray()).to_sparse_csr()
    assert linsep.decide(on_device(tensor, y, device="cpu")).kind == "separable"
    linsep.decide(on_device(torch.from_numpy(X).requires_grad_(), Y, device="cpu"))


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        (torch.zeros(4, 2, dtype=torch.complex64), [0, 1, 0, 1], "complex"),
        (torch.zeros(4, 2), torch.zeros(2, 2), "y has shape"),
        (torch.full((4, 2), -1, dtype=torch.int64).view(torch.uint64), [0, 1, 0, 1], "beyond 2\\^63"),
        (torch.zeros(4), [0, 1, 0, 1], "shape"),
        (torch.zeros(4, 2), torch.ones(4, 1).to_sparse(), "y is laid out as torch.sparse_coo"),
    ],
)
def test_tensors_that_are_no_tables_are_refused(rows, labels, words):
    with pytest.raises(InputError, match=words):
        on_device(rows, labels, device="cpu")


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_a_quantized_tensor_is_refused():
    rows = torch.quantize_per_tensor(torch.ones(4, 2), 0.1, 0, torch.qint8)
    with pytest.raises(InputError, match=r"qint8.*dequantize\(\)"):
        on_device(rows, [0, 1, 0, 1], device="cpu")


@pytest.mark.parametrize(
    ("starts", "columns"), [([0, 2, 3], [0, -1, 1]), ([0, 2, 3], [0, 2, 1]), ([0, 3, 1], [0, 1, 1])]
)
def test_a_malformed_csr_tensor_is_refused(starts, columns):
    parts = torch.tensor(starts), torch.tensor(columns), torch.ones(3)
    tensor = torch.sparse_csr_tensor(*parts, size=(2, 2), check_invariants=False)
    with pytest.raises(ShapeError, match="malformed"):
        on_device(tensor, [0, 1], device="cpu")


def test_a_tensor_that_negates_when_it_is_read_is_read_so():
    known = linsep.decide(-X, Y)
    assert claim(linsep.decide(on_device(torch._neg_view(torch.from_numpy(X)), Y, device="cpu"))) == claim(known)


def test_a_device_without_numbers_is_refused():
    with pytest.raises(ArgumentError, match="holds no numbers"):
        on_device(X, Y, device="meta")
    with pytest.raises(ArgumentError, match="X is on the device 'meta', which holds no numbers"):
        linsep.decide(torch.empty(5, 2, device="meta"), [0, 1, 0, 1, 0])
    with pytest.raises(ArgumentError, match="y is on the device 'meta'"):
        on_device(torch.from_numpy(X), torch.empty(3000, device="meta"), device="cpu")


# Tensors of this machine

SIDES = Y[:60]
ROUNDED = torch.from_numpy(np.round(8 * X[:60]) + 20 * SIDES[:, None]).float()  # numbers that bfloat16 holds
KINDS = {
    "bfloat16": torch.Tensor.bfloat16,
    "CSR": torch.Tensor.to_sparse_csr,
    "CSR of bfloat16": lambda tensor: tensor.bfloat16().to_sparse_csr(),
    "with a gradient": lambda tensor: tensor.clone().requires_grad_(),
    "CSR with a gradient": lambda tensor: tensor.to_sparse_csr().requires_grad_(),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def tensor_of(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls its sparse tensors a trial
        return KINDS[kind](ROUNDED)


@every_kind
@pytest.mark.parametrize("missing", [None, "drop"])
def test_a_tensor_of_this_machine_is_decided_as_its_numbers_are(kind, missing):
    verdict = linsep.decide(tensor_of(kind), SIDES, missing=missing)
    assert claim(verdict) == claim(linsep.decide(ROUNDED.numpy(), SIDES))
    verdict.verify(tensor_of(kind), SIDES)
    verdict.verify(ROUNDED.numpy(), SIDES)


@pytest.mark.parametrize("kind", ["bfloat16", "with a gradient"])
def test_labels_and_single_rows_may_be_such_tensors(kind):
    y = KINDS[kind](torch.from_numpy(SIDES).float())
    known = claim(linsep.decide(ROUNDED.numpy(), SIDES.astype(float)))
    assert claim(linsep.decide(ROUNDED, y)) == claim(linsep.decide(list(tensor_of(kind)), y)) == known


@every_kind
@pytest.mark.parametrize("name", [name for name in linsep.__all__ if name.endswith("Classifier")])
def test_classifiers_learn_from_such_tensors(kind, name):
    rows, y = tensor_of(kind), torch.from_numpy(SIDES).bfloat16()
    model = getattr(linsep, name)().fit(rows, y)
    assert model.score(rows, y) == model.score(ROUNDED.numpy(), SIDES) == 1.0
    assert model.predict(rows).tolist() == SIDES.tolist()


def test_weights_of_rows_may_be_such_tensors():
    weights = torch.ones(60, dtype=torch.bfloat16, requires_grad=True)
    model = linsep.PerceptronClassifier().fit(ROUNDED, SIDES, sample_weight=weights)
    assert model.score(ROUNDED, SIDES, sample_weight=weights) == 1.0


def broken(tensor):
    return torch.sparse_csr_tensor([0, 1, 9], [0, 1], [1.0, 2.0], (2, 2), check_invariants=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (torch.Tensor.to_sparse, r"sparse_coo. Convert it with to_sparse_csr\(\)"),
        (lambda tensor: torch.stack([tensor, tensor]).to_sparse_csr(), r"shape \(2, 60, 4\)"),
        (lambda tensor: tensor.to(torch.float8_e4m3fn), "cannot read"),
        (broken, "cannot read"),
    ],
    ids=["COO", "three dimensions", "float8", "malformed"],
)
@pytest.mark.filterwarnings("ignore:Sparse")
def test_other_tensors_are_refused_in_our_words(change, words):
    for ask in (linsep.decide, linsep.MaxMarginClassifier().fit):
        with pytest.raises(ShapeError, match=words):
            ask(change(ROUNDED), SIDES)
