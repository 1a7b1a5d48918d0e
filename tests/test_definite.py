"""The positive-definite proof: never accepted where it is not true, and found where it should be."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from scipy import sparse

import linsep
import wide_instances
from linsep import checker
from linsep.errors import CertificateError, NotFiniteError
from linsep.proofs import Obstruction, Overlapping, Touching, eigenvalues
from linsep.proofs.definite import ColumnDependence
from linsep.proofs.eigenvalues import bounds_of, least_eigenvalue
from linsep.solvers import working_set
from linsep.solvers.clock import Clock, OutOfTime
from linsep.solvers.wide import newton, short_weights
from linsep.solvers.working_set import Stuck
from linsep.sources.inputs import as_source
from tests import naive
from tests.campaigns.forge import resealed


def searched(X, y, bias=True):
    """What Newton's method finds, at any number of columns."""
    source = as_source(X, y)
    return source, newton.search(source, np.arange(source.n_columns), bias=bias, clock=Clock())


def small_table(rng):
    n, d = rng.integers(3, 15), rng.integers(1, 5)
    X = rng.integers(-3, 4, (n, d)) * rng.choice([1.0, 0.5, 1e-3, 1e6], d)
    if rng.random() < 0.3:
        X = np.column_stack([X, 3 * X[:, 0]])
    return X, np.append([-1, 1], rng.choice([-1, 1], n - 2))


def flipped(n=600, d=220, seed=0, part=0.2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).round(3)
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    return X, np.where(rng.random(n) < part, -y, y)


@pytest.fixture(scope="module")
def wide():
    X, y = flipped(n=900)
    return X, y, linsep.decide(X, y)


# Against the oracle


@pytest.mark.parametrize("seed", range(300))
def test_what_newton_finds_on_few_rows_is_what_the_oracle_says(seed):
    rng = np.random.default_rng(seed)
    X, y = small_table(rng)
    bias = bool(rng.random() < 0.7)
    source, found = searched(X, y, bias)
    kind = naive.decide(X.tolist(), y.tolist(), bias=bias)
    if isinstance(found, newton.Separated):
        assert kind == "separable"
    elif isinstance(found, short_weights.Blocked):
        assert kind != "separable"
        assert len(short_weights.outside(source, found, bias=bias)[0]) or kind == "overlapping"


def test_rows_that_seem_to_have_a_separator_are_handed_on(monkeypatch):
    monkeypatch.setattr(newton, "FEW_STEPS", 1)
    X, y = linsep.datasets.planted(4000, 250, margin=1e-4)
    source, found = searched(X, y)
    assert isinstance(found, Stuck) and len(found.hint) <= 251
    again = working_set.search(source, np.arange(250), bias=True, clock=Clock(), start=found)
    assert isinstance(again, newton.Separated)


def one_wrong_row(n=900, d=120):
    """Rows beside a hyperplane, and one in the middle of others that are of the other class."""
    rng = np.random.default_rng(0)
    X, ball = rng.standard_normal((n, d)), rng.standard_normal((d, d)) / 8
    y = np.where(X[:, 0] > 0, 1, -1)
    return np.vstack([X, ball, -ball, np.zeros((1, d))]), np.concatenate([y, np.ones(2 * d), [-1]])


def test_one_row_that_needs_all_the_weight_takes_few_steps(monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 25)
    assert isinstance(searched(*one_wrong_row())[1], short_weights.Blocked)
    monkeypatch.setattr(newton.Newton, "is_uneven", lambda self: False)
    assert not isinstance(searched(*one_wrong_row())[1], short_weights.Blocked)


def test_weights_of_rows_in_a_small_ball_are_brought_to_cancel():
    (one,) = wide_instances.small_overlap(np.random.default_rng([1, sum(b"small_overlap")]), 1000)
    assert isinstance(searched(one.X, one.y)[1], short_weights.Blocked)


@pytest.mark.parametrize("rows, columns", [(40, 260), (260, 260)])
def test_columns_that_depend_on_each_other_because_of_few_rows_do_not_stop_the_proof(rows, columns):
    X, y = flipped(n=900)
    rng = np.random.default_rng(1)
    rare = np.zeros((900, columns))
    rare[:rows] = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.05)
    verdict = linsep.decide(np.column_stack([X, rare]), y)
    assert not verdict.separable and len(verdict.obstruction.rows) < 600


@pytest.mark.parametrize("seed", range(150))
def test_a_proof_is_widened_to_what_the_oracle_says(seed):
    rng = np.random.default_rng(seed)
    X, y = small_table(rng)
    X[rng.random(X.shape) < 0.5] = 0.0
    source, found = searched(X, y)
    if not isinstance(found, short_weights.Blocked):
        return
    columns = np.arange(source.n_columns)
    spread, others = newton.widened(source, columns, found, bias=True, clock=Clock())
    if spread is not None:
        assert naive.decide(X.tolist(), y.tolist()) == ("overlapping" if others is None else "touching")


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_rows_that_a_dependence_of_the_others_separates_are_touching(as_rows, tmp_path):
    X, y = flipped()
    X[:, 1] = X[:, 0]
    sides = np.resize([1, 1, -1], 50)
    beside = X[:50].copy()
    beside[:, 0] += sides
    X, y = np.vstack([X, beside]), np.append(y, sides)
    verdict = linsep.decide(as_rows(X), y)
    assert verdict.kind == "touching" and verdict.obstruction.is_definite
    verdict.verify(X, y)
    assert status_of(verdict.to_json(), X, y, tmp_path) == 0


def test_a_positive_definite_obstruction_is_told_when_time_is_over(wide, monkeypatch, tmp_path):
    def over(*data, **options):
        raise OutOfTime

    X, y, _ = wide
    monkeypatch.setattr(newton, "widened", over)
    verdict = linsep.decide(X, y, time_limit=60)
    assert verdict.kind == "not-separable" and verdict.obstruction.is_definite
    text = verdict.to_json()
    again = linsep.verdict_from_json(text)
    again.verify(X, y)
    assert again == verdict and status_of(text, X, y, tmp_path) == 0
    with pytest.raises(CertificateError):
        replace(again, obstruction=replace(again.obstruction, weights=again.obstruction.weights[::-1])).verify(X, y)


def test_most_obstructions_of_few_rows_are_found():
    found = [searched(*small_table(np.random.default_rng(seed)))[1] for seed in range(100)]
    assert sum(isinstance(each, short_weights.Blocked) for each in found) > 30


@pytest.mark.parametrize("seed", range(200))
def test_random_weights_are_accepted_only_where_no_weak_separator_is_positive(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    X, y = rng.integers(-2, 3, (n, d)), np.append([-1, 1], rng.choice([-1, 1], n - 2))
    claim = Obstruction(range(n), rng.integers(1, 4, n).tolist(), dependences=())
    verdict = Overlapping(n_rows=n, n_columns=d, obstruction=claim, spread=claim)
    try:
        verdict.verify(X, y)
    except CertificateError:
        return
    assert naive.decide(X.tolist(), y.tolist()) == "overlapping"


# The eigenvalue


def is_positive(matrix):
    """Whether a symmetric matrix of Fractions is positive definite: every pivot of the elimination is."""
    rows = [list(row) for row in matrix]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


@pytest.mark.parametrize("multiplied", [0, 2500])
@pytest.mark.parametrize("power", range(0, 20))
def test_the_bound_is_below_the_exact_least_eigenvalue_however_small_it_is(power, multiplied, monkeypatch):
    monkeypatch.setattr(eigenvalues, "MULTIPLIED", multiplied)
    rng = np.random.default_rng(power)
    left, right = (np.linalg.qr(rng.standard_normal((9, 6)))[0] for _ in range(2))
    a = left @ np.diag(np.geomspace(1, 10.0 ** (-power / 2), 6)) @ right[:6, :6]
    bound = least_eigenvalue(a)
    gram = [[sum(Fraction(p) * Fraction(q) for p, q in zip(u, v, strict=True)) for v in a.T] for u in a.T]
    assert bound == -math.inf or is_positive(
        [[g - (j == k) * Fraction(bound) for k, g in enumerate(row)] for j, row in enumerate(gram)]
    )
    assert power > 11 or bound > 0


def ill_conditioned(seed):
    """Rows whose matrix has a least eigenvalue of 1e-10 to 1e-19 of the others, and a length about as large."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((12, 6)))[0] for _ in range(2))
    least = 10.0 ** -rng.uniform(10, 19)
    sizes = np.sqrt(np.append(rng.uniform(0.1, 1, 5), least))
    return left @ np.diag(sizes) @ np.linalg.qr(right[:6])[0], least * rng.choice([0.5, 0.9, 1.1, 2.0, 5.0])


def exceeds_exactly(a, length):
    gram = [[sum(Fraction(p) * Fraction(q) for p, q in zip(u, v, strict=True)) for v in a.T] for u in a.T]
    return is_positive([[g - (j == k) * Fraction(length) for k, g in enumerate(row)] for j, row in enumerate(gram)])


def claimed(seeds):
    """Of ill-conditioned matrices those whose least eigenvalue is said to exceed a length, and whether that is true."""
    cases = [ill_conditioned(seed) for seed in seeds]
    return [exceeds_exactly(a, length) for a, length in cases if least_eigenvalue(a, length) > length]


@pytest.mark.parametrize("multiplied", [0, 2500])
def test_no_ill_conditioned_matrix_is_said_to_exceed_what_it_does_not(multiplied, monkeypatch):
    monkeypatch.setattr(eigenvalues, "MULTIPLIED", multiplied)
    found = claimed(range(600))
    assert all(found) and len(found) > 20


@pytest.mark.slow
@pytest.mark.parametrize("multiplied", [0, 2500])
def test_without_the_rounding_term_some_would_be(multiplied, monkeypatch):
    monkeypatch.setattr(eigenvalues, "MULTIPLIED", multiplied)
    monkeypatch.setattr(eigenvalues, "TWICE_ROUNDOFF", 0.0)
    assert not all(claimed(range(600)))


def test_the_products_of_sparse_columns_are_the_same_a_few_at_a_time(monkeypatch):
    a = sparse.random_array((60, 50), density=0.2, rng=np.random.default_rng(0), format="csr")
    monkeypatch.setattr(eigenvalues, "MOST_PRODUCTS", 350)
    assert np.allclose(eigenvalues.gram_of(a), a.toarray().T @ a.toarray(), rtol=1e-14, atol=0)


@pytest.mark.parametrize("direct", [10, 1500])
def test_a_proof_has_few_rows_and_few_bits(direct, monkeypatch):
    monkeypatch.setattr(short_weights, "DIRECT", direct)
    X, y = flipped(n=2000)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    found = linsep.decide(sparse.csr_array(X), y).obstruction
    assert len(found.rows) <= 2 * 221 and max(found.weights) < 2**20


@pytest.mark.parametrize("power", range(8, 20))
def test_integers_decide_more_than_floats_and_never_too_much(power):
    rng = np.random.default_rng(power)
    left, right = (np.linalg.qr(rng.standard_normal((9, 6)))[0] for _ in range(2))
    a = left @ np.diag(np.geomspace(1, 10.0 ** (-power / 2), 6)) @ right[:6, :6]
    exact = np.linalg.svd(a)[1].min() ** 2
    assert eigenvalues.exceeds(a, 0.5 * exact) or power > 12
    assert not eigenvalues.exceeds(a, 2 * exact)


def test_a_singular_matrix_has_no_bound_above_zero():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a = rng.standard_normal((8, 4))
        a[:, 3] = a[:, :3] @ rng.integers(-2, 3, 3)
        assert least_eigenvalue(a) == -math.inf


@pytest.mark.parametrize("bits", [3, 20, 48, 60, 200, 2000])
def test_the_length_of_the_sum_is_never_underestimated(bits):
    rng = np.random.default_rng(bits)
    X = rng.standard_normal((30, 4)) * np.array([1.0, 1e-150, 1e200, 2.0**-1074])
    y, small = rng.choice([-1, 1], 30), rng.integers(1, 8, (30, 2)).tolist()
    weights = [a << bits - 3 | b for a, b in small]
    found = bounds_of(X, y, weights, bias=True)
    columns = (np.column_stack([X, np.ones(30)]) * y[:, None]).T
    square = Fraction(0)
    for column in columns:
        parts = [u * Fraction(v) for u, v in zip(weights, column, strict=True)]
        exponent = max(map(abs, parts)) and math.floor(log2(max(map(abs, parts)))) + 1
        square += (sum(parts) / Fraction(2) ** exponent) ** 2
    assert Fraction(found.length) ** 2 >= square


def log2(value):
    size = value.numerator.bit_length() - value.denominator.bit_length() - 1
    return size + 1 if value >= Fraction(2) ** (size + 1) else size


def test_columns_of_any_scale_make_the_same_proof(wide):
    X, y, verdict = wide
    scales = 2.0 ** np.random.default_rng(0).integers(-300, 300, X.shape[1])
    verdict.verify(X * scales, y)


# What is refused


def changed(verdict, **parts):
    claim = replace(verdict.obstruction, classes=None, points=None, **parts)
    return replace(verdict, obstruction=claim, spread=claim)


def test_decide_gives_a_short_proof_that_its_reader_and_the_checker_accept(wide, tmp_path):
    X, y, verdict = wide
    assert verdict.kind == "overlapping" and verdict.obstruction.is_definite
    text = verdict.to_json()
    assert json.loads(text)["version"] == "3" and len(text) < 12 * len(y)
    linsep.verdict_from_json(text).verify(sparse.csr_array(X), y)
    assert status_of(text, X, y, tmp_path) == 0


def test_the_same_proof_with_lists_of_rows_and_weights_is_read_as_version_2(wide, tmp_path):
    X, y, verdict = wide
    text = as_version_2(verdict.to_json())
    again = linsep.verdict_from_json(text)
    again.verify(X, y)
    assert again.obstruction.rows == verdict.obstruction.rows and status_of(text, X, y, tmp_path) == 0


def as_version_2(text):
    document = json.loads(text)
    steps, weights = (document["definite"].pop(name).split() for name in ("steps", "weights"))
    document["definite"] |= {"rows": [*map(str, accumulate(map(int, steps)))], "weights": weights}
    return resealed({**document, "version": "2"})


@pytest.mark.parametrize(
    "field, change",
    [
        ("steps", lambda words: [words[0], "0", *words[2:]]),
        ("steps", lambda words: [words[0], f"0{words[1]}", *words[2:]]),
        ("steps", lambda words: [words[0], f"-{words[1]}", *words[2:]]),
        ("steps", lambda words: words[:-1]),
        ("steps", lambda words: [*words, "1"]),
        ("steps", lambda words: [words[0], "", *words[1:]]),
        ("steps", lambda words: [*words[:-1], "9" * 18]),
        ("steps", lambda words: ["1" * 19, *words[1:]]),
        ("steps", lambda words: []),
        ("weights", lambda words: ["0", *words[1:]]),
        ("weights", lambda words: ["-" + words[0], *words[1:]]),
        ("weights", lambda words: [words[0] + ".0", *words[1:]]),
        ("weights", lambda words: ["\u0661", *words[1:]]),
        ("weights", lambda words: [words[0] + "\n", *words[1:]]),
    ],
)
def test_other_texts_of_rows_and_weights_are_refused_by_both(field, change, wide, tmp_path):
    X, y, verdict = wide
    document = json.loads(verdict.to_json())
    document["definite"][field] = " ".join(change(document["definite"][field].split()))
    text = resealed(document)
    with pytest.raises(CertificateError):
        linsep.verdict_from_json(text).verify(X, y)
    assert status_of(text, X, y, tmp_path) in (1, 2)


def status_of(text, X, y, folder):
    (folder / "proof.json").write_text(text)
    lines = (",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True))
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    return checker.main([str(folder / "proof.json"), str(folder / "data.csv")])


def test_the_verdict_does_not_depend_on_which_class_is_positive(wide):
    X, y, verdict = wide
    assert linsep.decide(X, -y).obstruction.rows == verdict.obstruction.rows


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1000, 0])
def test_other_weights_are_refused_by_both(wide, tmp_path, factor):
    X, y, verdict = wide
    weights = list(verdict.obstruction.weights)
    weights[::2] = [factor * u + 1 for u in weights[::2]]
    false = changed(verdict, weights=weights)
    with pytest.raises(CertificateError, match="does not hold"):
        false.verify(X, y)
    assert status_of(false.to_json(), X, y, tmp_path) == 1


def test_fewer_rows_than_columns_are_refused(wide):
    X, y, verdict = wide
    few = changed(verdict, rows=verdict.obstruction.rows[:200], weights=verdict.obstruction.weights[:200])
    with pytest.raises(CertificateError, match="does not hold"):
        few.verify(X, y)


def test_labels_of_separable_rows_are_refused(wide):
    X, _, verdict = wide
    with pytest.raises(CertificateError):
        verdict.verify(X, np.where(X[:, 0] > 0, 1, -1))


def test_a_row_outside_the_columns_of_the_proof_is_named(wide, tmp_path):
    X, y, verdict = wide
    X, outside = np.column_stack([X, np.zeros(900)]), min({*range(900)} - {*verdict.obstruction.rows})
    X[outside, -1] = 1.0
    false = replace(verdict, n_columns=221, sample=None)
    with pytest.raises(CertificateError, match=f"Row {outside} is not a linear combination"):
        false.verify(X, y)
    assert status_of(false.to_json(), X, y, tmp_path) == 1


PLUS = ColumnDependence((1, 0), (1, -2))  # the second column is twice the first


def doubled(X=((1.0, 2.0), (-1.0, -2.0), (3.0, 6.0), (-3.0, -6.0)), y=(1, 1, 1, 1), found=(PLUS,)):
    claim = Obstruction((0, 1), (1, 1), dependences=found)
    verdict = Overlapping(n_rows=len(X), n_columns=2, bias=False, obstruction=claim, spread=claim)
    return verdict, np.array(X), np.array(y)


def test_proportional_columns_are_merged_by_a_dependence(tmp_path):
    verdict, X, y = doubled()
    verdict.verify(X, y)
    assert status_of(verdict.to_json(), X, y, tmp_path) == 0


@pytest.mark.parametrize(
    "found",
    [
        (),
        (ColumnDependence((1, 0), (1, -3)),),
        (ColumnDependence((1,), (1,)),),
        (PLUS, ColumnDependence((2, 0), (1, 1))),
        (ColumnDependence((0, 1), (2, -1)), ColumnDependence((1, 2), (1, 1))),
    ],
)
def test_other_dependences_are_refused_by_both(found, tmp_path):
    verdict, X, y = doubled(found=found)
    with pytest.raises(CertificateError):
        verdict.verify(X, y)
    assert status_of(verdict.to_json(), X, y, tmp_path) != 0


def test_a_dependence_that_another_row_breaks_is_no_spread(tmp_path):
    verdict, X, y = doubled(X=((1.0, 2.0), (-1.0, -2.0), (3.0, math.nextafter(6.0, 7.0)), (-3.0, -6.0)))
    with pytest.raises(CertificateError, match="Row 2"):
        verdict.verify(X, y)
    assert status_of(verdict.to_json(), X, y, tmp_path) == 1


def test_two_dependences_do_not_share_their_own_column():
    with pytest.raises(CertificateError, match="own column"):
        Obstruction((0, 1), (1, 1), dependences=(PLUS, PLUS))


@pytest.mark.parametrize("columns, weights", [((), ()), ((0, 0), (1, 1)), ((0,), (0,)), ((-1,), (1,)), ((0, 1), (1,))])
def test_a_malformed_dependence_is_refused(columns, weights):
    with pytest.raises(CertificateError):
        ColumnDependence(columns, weights)


def test_an_entry_that_stands_twice_in_a_sparse_row_is_refused():
    twice = sparse.csr_array((np.array([1.0, 1.0, -2.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), (2, 1))
    with pytest.raises(CertificateError, match="twice"):
        bounds_of(twice, np.array([1, 1]), [1, 1], bias=False)


def test_rows_of_zeros_are_not_a_positive_definite_proof():
    claim = Obstruction((0,), (1,), dependences=())
    with pytest.raises(CertificateError, match="0 in every column"):
        Overlapping(n_rows=1, n_columns=1, bias=False, obstruction=claim, spread=claim).verify([[0.0]], [1])


def test_a_positive_definite_obstruction_is_its_own_spread_and_not_about_decimals():
    claim, other = Obstruction((0, 1), (1, 1), dependences=()), Obstruction((0, 1), (1, 1))
    with pytest.raises(CertificateError, match="own spread"):
        Overlapping(n_rows=2, n_columns=1, obstruction=claim, spread=other)
    with pytest.raises(CertificateError, match="decimals"):
        Overlapping(n_rows=2, n_columns=1, obstruction=claim, spread=claim, numbers="decimal")


def test_integers_beyond_doubles_are_not_rounded(tmp_path):
    big = 2**62
    X, y = np.array([[big + 1], [big], [big + 1]]), np.array([1, -1, -1])
    claim = Obstruction((0, 1), (1, 1), dependences=())
    verdict = Overlapping(n_rows=3, n_columns=1, obstruction=claim, spread=claim, numbers="exact-integers")
    with pytest.raises(CertificateError):
        verdict.verify(X, y)


def test_integers_beyond_doubles_are_proved_with_their_dependence(tmp_path):
    big = 2**62 + 1
    X, y = np.array([[big], [big]]), np.array([1, -1])
    claim = Obstruction((0, 1), (1, 1), dependences=(ColumnDependence((0, 1), (1, -big)),))
    verdict = Overlapping(n_rows=2, n_columns=1, obstruction=claim, spread=claim, numbers="exact-integers")
    verdict.verify(X, y)
    assert status_of(verdict.to_json(), X, y, tmp_path) == 0
    with pytest.raises(CertificateError):
        verdict.verify(np.add(X, [[0], [1]]), y)


# Touching, words, limits


def with_rare_column(*entries):
    """Flipped rows, and a column that is 0 but in the last rows, which are well on their sides in the others."""
    X, y = flipped(n=900)
    far = np.array([[*(50.0 * np.eye(220)[k]), entry] for k, entry in enumerate(entries)])
    return np.vstack([np.column_stack([X, np.zeros(900)]), far]), np.append(y, [1] * len(entries))


def test_rare_columns_join_the_proof_of_overlap():
    X, y = with_rare_column(1.0, -1.0, 2.0, -2.0)
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping" and verdict.obstruction.is_definite
    assert len(set(verdict.obstruction.rows) & {900, 901, 902, 903}) >= 2


@pytest.mark.slow
def test_rare_columns_that_separate_their_rows_make_it_touching(tmp_path):
    X, y = with_rare_column(1.0, -1.0)
    X = np.column_stack([X, np.zeros(902)])
    X[900:, -1] = -1.0, 2.0
    verdict = linsep.decide(X, y)
    assert verdict.kind == "touching" and verdict.obstruction.is_definite
    maximal = replace(verdict, separated_rows=(900, 901), spread=verdict.obstruction)
    maximal.verify(X, y)
    assert status_of(maximal.to_json(), X, y, tmp_path) == 0


def test_touching_rows_have_one_proof_for_obstruction_and_spread(tmp_path):
    X, y = flipped(n=900)
    X = np.column_stack([X, np.zeros(900)])
    X = np.vstack([X, np.eye(1, 221, 220)])
    y = np.append(y, 1)
    verdict = linsep.decide(X, y)
    assert isinstance(verdict, Touching) and verdict.obstruction.is_definite
    linsep.verdict_from_json(verdict.to_json()).verify(X, y)
    maximal = replace(verdict, separated_rows=(900,), spread=verdict.obstruction)
    maximal.verify(X, y)
    assert status_of(maximal.to_json(), X, y, tmp_path) == 0
    with pytest.raises(CertificateError):
        replace(maximal, separated_rows=(899, 900)).verify(X, y)


def test_conjugate_gradients_find_the_same_kind_of_proof(monkeypatch):
    monkeypatch.setattr(short_weights, "DIRECT", 10)
    X, y = flipped(n=900)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    verdict = linsep.decide(sparse.csr_array(X), y)
    assert verdict.kind == "overlapping" and verdict.obstruction.is_definite
    verdict.verify(X, y)


def test_one_hot_groups_beside_a_bias_are_proved_by_their_dependences():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.eye(4)[rng.integers(0, 4, 900)], np.eye(3)[rng.integers(0, 3, 900)], flipped(n=900)[0]])
    y = rng.choice([-1, 1], 900)
    verdict = linsep.decide(X, y)
    assert verdict.kind == "overlapping" and len(verdict.obstruction.dependences) == 2
    assert max(abs(w) for found in verdict.obstruction.dependences for w in found.weights) == 1


def test_one_hot_groups_of_many_sparse_columns_are_proved_by_their_dependences_too(monkeypatch):
    """Ten groups of 200 had no proof after 100 seconds: from 1,500 sparse columns on, none was looked for."""
    monkeypatch.setattr("linsep.solvers.wide.short_weights.DIRECT", 100)
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.hstack([np.eye(30)[rng.integers(0, 30, 3000)] for _ in range(8)]))
    y = rng.choice([-1, 1], 3000)
    verdict = linsep.decide(X, y, time_limit=60)
    assert verdict.kind == "overlapping" and len(verdict.obstruction.dependences) == 8
    verdict.verify(X, y)


def test_equal_columns_are_merged():
    X, y = flipped(n=900)
    verdict = linsep.decide(np.column_stack([X, X[:, 3], -0.5 * X[:, 3]]), y)
    assert verdict.kind == "overlapping" and len(verdict.obstruction.dependences) == 2


def test_the_words_say_what_is_proved(wide):
    X, y, verdict = wide
    said = verdict.explain(X, y)
    assert "each has one of them on its wrong side or all on it" in said
    assert "common mean" not in said and "share" in said
    assert "rule out every hyperplane" in verdict._repr_html_()
    assert verdict.facts()["obstruction"]["rows"][0] == str(verdict.obstruction.rows[0])
    assert "rule out every hyperplane" in linsep.verdict_from_json(verdict.to_json()).explain()


def test_a_proof_of_version_1_may_not_hold_a_definite_obstruction(wide):
    from linsep.storage.checksum import seal

    document = {name: value for name, value in json.loads(wide[2].to_json()).items() if name != "sha256"}
    for version in ("1", "2", "4", "5", 3):
        with pytest.raises(CertificateError):
            linsep.verdict_from_json(seal(json.dumps({**document, "version": version})))


def test_the_search_stops_at_the_limit():
    source = as_source(*flipped())
    with pytest.raises(OutOfTime):
        newton.search(source, np.arange(220), bias=True, clock=Clock(0.0))


def test_rows_of_zeros_end_the_search():
    X = np.vstack([np.zeros((3, 2)), np.eye(2)])
    assert searched(X[:3], [-1, 1, 1], bias=False)[1] is None
    assert searched(X, [-1, 1, 1, -1, 1], bias=False)[1] is None


def test_numbers_that_are_not_finite_are_refused_by_their_place():
    X, y = flipped(n=5000)
    X[4321, 17] = np.nan
    with pytest.raises(NotFiniteError, match="4321"):
        linsep.decide(X, y)


def test_the_proof_is_found_and_checked_where_numpy_raises(wide):
    X, y, verdict = wide
    with np.errstate(all="raise"):
        linsep.decide(X * 1e-200, y).verify(X * 1e-200, y)
        verdict.verify(X, y)


def test_the_line_search_finds_the_lowest_point():
    rng = np.random.default_rng(0)
    for _ in range(100):
        scores, slopes = rng.standard_normal((2, 20))
        slopes *= np.sign(slopes @ np.maximum(0, 1 - scores)) or 1.0
        best = newton.line_search(scores, slopes)
        value = [np.square(np.maximum(0, 1 - scores - t * slopes)).sum() for t in (best, 0.99 * best, 1.01 * best)]
        assert value[0] <= min(value[1:]) + 1e-12


def test_an_obstruction_below_many_columns_stays_exact():
    X, y = flipped(n=100, d=20)
    verdict = linsep.decide(X, y)
    assert verdict.obstruction.dependences is None and json.loads(verdict.to_json())["version"] == "1"


def test_the_sum_of_rows_is_exact_where_floats_would_cancel():
    X, y = np.array([[1.0], [2.0**-60], [-1.0]]), np.ones(3, int)
    assert bounds_of(X, y, [1, 1, 1], bias=False).length == pytest.approx(2.0**-61, rel=1e-6)
    assert eigenvalues.bounds_of(X, y, [2**60 + 1, 1, 1], bias=False).length > 0.4
