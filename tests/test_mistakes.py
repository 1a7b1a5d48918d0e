"""The fewest mistakes: against brute force, with proofs that hold, and proofs that must not."""

import json
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import checker
from linsep.cli import main
from linsep.proofs import Obstruction
from linsep.proofs.packings import UNITS, Leaf
from linsep.questions import mistakes as mistakes_module
from linsep.solvers.fewest.hitting_set import HittingSet
from linsep.solvers.fewest.vertex_walk import VertexWalk
from tests import naive
from tests.campaigns import forge, forge_mistakes


def instance(seed):
    """Few rows in few columns: half of them on a small grid, with ties, copies and contradictions."""
    random = np.random.default_rng(seed)
    n, d = int(random.integers(3, 8)), int(random.integers(1, 4))
    X = random.integers(-2, 3, (n, d)).astype(float) if random.random() < 0.6 else random.standard_normal((n, d))
    y = np.where(np.arange(n) < 2, [1, -1] * (n // 2) + [1] * (n % 2), random.choice([-1, 1], n))
    cost = random.integers(0, 5, n).tolist() if random.random() < 0.4 else None
    return X, y, cost, bool(random.random() < 0.7)


@pytest.mark.parametrize("seed", range(120))
def test_both_ends_are_those_of_brute_force(seed):
    X, y, cost, bias = instance(seed)
    found = linsep.fewest_mistakes(X, y, cost=cost, bias=bias)
    least = naive.fewest_mistakes(X.tolist(), y.tolist(), cost or [1] * len(y), bias)
    assert (found.best, found.lower, found.optimal) == (least, least, True)
    found.verify(X, y)


@pytest.mark.parametrize("seed", range(30))
def test_costs_of_sixteen_digits_leave_no_gap_that_can_be_seen(seed):
    X, y, _, bias = instance(seed)
    cost = np.random.default_rng(seed).random(len(y)).tolist()
    found = linsep.fewest_mistakes(X, y, cost=cost, bias=bias)
    least = naive.fewest_mistakes(X.tolist(), y.tolist(), [Fraction(repr(one)) for one in cost], bias)
    assert found.spent * found.unit == least and found.spent - found.least <= 1e-15 * found.spent


def test_costs_may_be_far_apart():
    X, y, _, bias = instance(39)
    cost = [10.0 ** (3 * k - 9) for k in range(len(y))]
    found = linsep.fewest_mistakes(X, y, cost=cost, bias=bias)
    least = naive.fewest_mistakes(X.tolist(), y.tolist(), [Fraction(repr(one)) for one in cost], bias)
    assert found.spent * found.unit == least and found.lower == pytest.approx(float(least), rel=1e-8)


FAR_APART = {  # rows that floats cannot tell apart, beside rows a million times as long
    "a basis that names a row twice": (
        [3e9, -1e9, 0, -3e9, 1, 3e9, 2e9, -3e9, -2, 3e9],
        [1, 1e9, 2, 2e9, -2, 0, -3e9, -3e9, 1, -2e9],
        [1, 1, 0, 0, 0, 0, 0, 0, 1, 0],
        2,
    ),
    "an obstruction that floats find too late": (
        [1, 3e6, 1, -2, 1e6, 1, 2e6, -3e6, 1, 0, 2e6, -1e6],
        [0, 3, 2e6, -2e6, 3e6, 1, 1, 1e6, 2, -1e6, 0, -3],
        [0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0],
        4,
    ),
}


@pytest.mark.parametrize("name", FAR_APART)
def test_rows_of_sizes_far_apart_are_settled(name):
    first, second, y, least = FAR_APART[name]
    X = np.column_stack([first, second])
    found = linsep.fewest_mistakes(X, y)
    assert (found.best, found.lower, found.reason) == (least, least, "")
    found.verify(X, y)
    assert linsep.fewest_mistakes(X, y, cost=[1 + k % 3 for k in range(len(y))]).optimal


@pytest.mark.parametrize("seed", range(12))
def test_random_rows_of_sizes_far_apart_are_settled(seed):
    random, far = np.random.default_rng(seed), (1e6, 1e9, 1e10, 1e200)[seed % 4]
    n, d = int(random.integers(10, 18)), 2 + seed % 2
    X = random.integers(-3, 4, (n, d)) * np.where(random.random((n, d)) < 0.5, 1.0, far)
    y = np.append([0, 1], random.integers(0, 2, n - 2))
    found = linsep.fewest_mistakes(X, y, cost=random.integers(1, 20, n).tolist() if seed % 3 == 0 else None)
    assert found.optimal
    found.verify(X, y)


def test_integers_that_round_to_one_double_are_different():
    X = np.array([2**53, 2**53, 2**53 + 1, 2**53 + 1, 2**53 + 1])[:, None]
    found = linsep.fewest_mistakes(X, [0, 1, 1, 0, 0])
    assert (found.best, found.lower, len(found.copies)) == (2, 2, 1)
    found.verify(X, [0, 1, 1, 0, 0])


def test_an_early_end_says_why():
    X, y = linsep.datasets.planted(2000, 20, flipped=300)
    found = linsep.fewest_mistakes(X, y, time_limit=1.5)
    assert not found.optimal and found.reason == "time ran out"
    assert "The search ended before the two met: time ran out." in found.explain()


@pytest.fixture(scope="module")
def noisy():
    """Rows of two classes, a tenth of them with the wrong label: several cases are needed."""
    X, y = linsep.datasets.planted(60, 3, margin=0.05, seed=3)
    y = y.copy()
    y[::7] *= -1
    return X, y


@pytest.fixture(scope="module")
def found(noisy):
    return linsep.fewest_mistakes(*noisy)


def test_what_is_claimed_holds(noisy, found):
    X, y = noisy
    assert found.lower <= found.best == len(found.mistaken_rows) and found.optimal
    halfspace = found.halfspace
    assert np.flatnonzero(y * (X @ halfspace.w + halfspace.b) <= 0).tolist() == list(found.mistaken_rows)
    kept = np.delete(np.arange(len(y)), found.mistaken_rows)
    assert linsep.decide(X[kept], y[kept]).separable


FORGERIES = {
    "a higher bound": lambda found: replace(found, least=found.least + 1),
    "a mistake left out": lambda found: replace(found, mistaken_rows=found.mistaken_rows[1:]),
    "another hyperplane": lambda found: replace(found, weights=tuple(-w for w in found.weights)),
    "a case left out": lambda found: replace(found, leaves=found.leaves[1:] or (Leaf(((0, True),)),)),
    "a packing left out": lambda found: replace(found, leaves=(Leaf(found.leaves[0].path), *found.leaves[1:])),
    "more of each obstruction": lambda found: replace(found, leaves=tuple(map(doubled, found.leaves))),
    "an obstruction that is none": lambda found: replace(found, obstructions=tuple(map(turned, found.obstructions))),
    "another unit": lambda found: resealed(found, unit="1000/1"),
    "no unit": lambda found: resealed(found, unit="1/0"),
    "a unit that is not in lowest terms": lambda found: resealed(found, unit="2/2"),
    "a bound below 0": lambda found: resealed(found, least="-1"),
    "a copy of itself": lambda found: resealed(found, copies=[["0"]]),
    "copies that are none": lambda found: replace(found, copies=((0, 1, 2),)),
}


def resealed(found, **fields):
    """The text of a proof with other fields, its checksum made anew."""
    return forge.resealed(json.loads(found.to_json()) | fields)


def doubled(leaf):
    return Leaf(leaf.path, tuple((k, 2 * units) for k, units in leaf.multipliers))


def turned(obstruction):
    return Obstruction(obstruction.rows, (*obstruction.weights[:-1], obstruction.weights[-1] + 1))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_proof_is_refused(noisy, found, name):
    with pytest.raises(linsep.CertificateError):
        forged = FORGERIES[name](found)
        (linsep.verdict_from_json(forged) if isinstance(forged, str) else forged).verify(*noisy)


@pytest.fixture(scope="module")
def written(noisy, tmp_path_factory):
    """The rows as a CSV file, and where a proof of them goes."""
    folder, (X, y) = tmp_path_factory.mktemp("written"), noisy
    lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (folder / "rows.csv").write_text("a,b,c,y\n" + "\n".join(lines))
    return folder / "proof.json", folder / "rows.csv"


def checked(found, written):
    """The exit code of the checker that stands alone."""
    written[0].write_text(found if isinstance(found, str) else found.to_json())
    return checker.main([*map(str, written)])


def test_a_written_proof_is_read_back_and_verified_by_the_checker(noisy, found, written, capsys):
    again = linsep.verdict_from_json(found.to_json())
    again.verify(*noisy)
    assert again == found and checked(found, written) == 0
    assert capsys.readouterr().out.startswith(f"VERIFIED mistakes (at most {found.best}, at least {found.lower})")


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_proof_is_refused_by_the_checker(found, written, name):
    assert checked(FORGERIES[name](found), written) in (1, 2)


UNFIT = {"a unit that is not in lowest terms": {"unit": "3/3"}, "decimals": {"numbers": "decimal"}}


@pytest.mark.parametrize("name", UNFIT)
def test_both_checkers_refuse_fields_that_do_not_fit_a_bound(noisy, written, name, capsys):
    X, y = noisy
    document = json.loads(linsep.fewest_mistakes(X, y, cost={-1: 1, 1: 2}).to_json())
    changed = UNFIT[name]
    document = {k: v | changed if k == "data" and "numbers" in changed else v for k, v in document.items()}
    text = forge.resealed(document | ({"unit": "3/3"} if "unit" in changed else {}))
    assert checked(text, written) == 2 and main(["verify", *map(str, written)]) != 0
    with pytest.raises(linsep.CertificateError, match=r"lowest terms|decimals"):
        linsep.verdict_from_json(text)


def test_a_case_that_counts_a_mistaken_row_twice_is_refused(noisy, found):
    row = found.obstructions[0].rows[0]
    cases = Leaf(((row, True),), ((0, UNITS),)), Leaf(((row, False),), ((0, UNITS),))
    with pytest.raises(linsep.CertificateError, match="mistaken there"):
        replace(found, leaves=cases, least=1).verify(*noisy)


def test_equal_rows_are_one_row_with_the_sum_of_their_costs():
    X, y = [[0.0]] * 3 + [[1.0]] * 2 + [[2.0]] * 4, [1] * 3 + [-1] * 2 + [1] * 4
    found = linsep.fewest_mistakes(X, y)
    assert found.best == found.lower == 2 and found.copies == ((0, 1, 2), (3, 4), (5, 6, 7, 8))


def test_rows_of_both_labels_cost_the_cheaper_one():
    found = linsep.fewest_mistakes([[0.0], [0.0], [0.0], [5.0]], [1, -1, -1, 1])
    assert (found.best, found.lower, found.mistaken_rows) == (1, 1, (0,))


def test_separable_rows_have_no_mistakes():
    found = linsep.fewest_mistakes(*linsep.datasets.cornwell())
    assert (found.best, found.lower, found.separable, found.mistaken_rows) == (0, 0, True, ())


def test_a_cost_for_each_label_is_one_for_each_row():
    X, y = [[0.0], [1.0], [2.0]], ["ill", "well", "ill"]
    by_label = linsep.fewest_mistakes(X, y, cost={"ill": 5, "well": 1})
    assert by_label == replace(linsep.fewest_mistakes(X, y, cost=[5, 1, 5]), seconds=by_label.seconds)
    assert by_label.mistaken_rows == (1,)


def test_long_costs_are_not_rounded():
    found = linsep.fewest_mistakes([[0.0], [0.0]], [0, 1], cost=[2**53 + 1, 2**53])
    assert (found.best, found.mistaken_rows) == (2**53, (1,))


def test_many_columns_do_not_outlast_the_limit():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((900, 1200)), np.arange(900) % 2
    X[1] = X[0]
    start, own = time.perf_counter(), time.process_time()
    found = linsep.fewest_mistakes(X, y, time_limit=2)
    assert min(time.perf_counter() - start, time.process_time() - own) < 6
    assert (found.best, found.lower) == (1, 1)


def test_an_interrupt_before_anything_is_done_leaves_a_hyperplane(monkeypatch):
    def stop(*data, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mistakes_module.MistakeSearch, "run", stop)
    found = linsep.fewest_mistakes([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert (found.best, found.lower, found.mistaken_rows) == (1, 0, (0,))


def test_what_is_known_is_verified_on_the_command_line(tmp_path, capsys):
    file, proof = tmp_path / "rows.csv", tmp_path / "proof.json"
    file.write_text("a,y\n0,1.50\n1,2\n2,1.50\n")
    assert main(["mistakes", str(file), "--label", "y", "--time-limit", "0", "--proof", str(proof)]) == 3
    assert main(["verify", str(proof), str(file)]) == 0
    assert "VERIFIED: at most 1 mistake, at least 0" in capsys.readouterr().out
    assert (
        main(["mistakes", str(file), "--label", "y", "--cost", "1.50=5", "--cost", "2=1", "--proof", str(proof)]) == 0
    )
    assert main(["verify", str(proof), str(file)]) == 0
    assert "a cost of 1, the least, with the costs in the proof" in capsys.readouterr().out


def test_a_tenth_is_a_tenth():
    found = linsep.fewest_mistakes([[0.0], [1.0], [2.0]], [1, 0, 1], cost=[0.1, 0.3, 0.2])
    assert (found.best, found.lower, found.unit, found.mistaken_rows) == (0.1, 0.1, Fraction(1, 10), (0,))


@pytest.mark.parametrize("unit", [Fraction(10**400 + 1, 2), Fraction(10**5000), Fraction(1, 10**5000)])
def test_a_forged_unit_of_any_size_is_told(tmp_path, capsys, unit):
    file, proof = tmp_path / "rows.csv", tmp_path / "proof.json"
    file.write_text("x,y\n0,1\n1,0\n2,1\n")
    found = linsep.fewest_mistakes(linsep.open(file, label="y"), cost=[1, 3, 2])
    proof.write_text(replace(found, unit=unit).to_json())
    assert [main(["verify", str(proof), str(file), *json_]) for json_ in ([], ["--json"])] == [0, 0]
    assert "VERIFIED: a cost of" in capsys.readouterr().out
    assert repr(linsep.verdict_from_json(proof.read_text())).startswith("<FewestMistakes: 3 rows, 1 column, best")


@pytest.mark.parametrize("cost", [10**400, Fraction(1, 10**400)])
def test_a_search_with_costs_beyond_the_doubles_can_be_watched(cost):
    seen = []
    X, y = linsep.datasets.xor()
    found = linsep.fewest_mistakes(X, y, cost=[cost] * 4, watch=lambda search: seen.append((search.best, search.lower)))
    assert seen and all(lower <= best for best, lower in seen) and found.spent * found.unit == cost


@pytest.mark.parametrize(("unit", "told"), [(Fraction(1, 3), "1/3"), (Fraction(1, 10), "0.1"), (Fraction(2), "2")])
def test_a_proved_cost_is_told_exactly(unit, told):
    found = linsep.fewest_mistakes([[0.0], [1.0], [2.0]], [1, 0, 1], cost=[1, 3, 2])
    assert replace(found, unit=unit).title == f"a cost of {told}, the least, with the costs in the proof"
    assert f"{told}, and no hyperplane costs less (proved)" in str(replace(found, unit=unit).report())


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        ([1, 2], "cost has 2 numbers; there are 4 rows"),
        ([1, 1, -1, 1], "cost is -1"),
        ([1, 1, Fraction(-1, 3), 1], "cost is -1/3: it must be a finite number, 0 or more"),
        ({0: 1}, "a number for each of the two labels"),
        ([1, 1, float("nan"), 1], "cost is NaN"),
        (5, "cost is 5: it must be a number for each row"),
        ("abcd", "cost is 'abcd': it must be a number for each row"),
        ([1e-300, 1, 1e10, 1], "differ too much in size"),
    ],
)
def test_costs_that_make_no_sense_are_refused(cost, told):
    with pytest.raises(linsep.errors.ArgumentError, match=told):
        linsep.fewest_mistakes(*linsep.datasets.xor(), cost=cost)


def test_sparse_rows_and_files_give_the_same_answer(noisy, found, tmp_path):
    X, y = noisy
    lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("a,b,c,y\n" + "\n".join(lines))
    for source in (sp.csr_matrix(X), linsep.open(tmp_path / "rows.csv", label="y")):
        other = linsep.fewest_mistakes(source, None if source is not X and not sp.issparse(source) else y)
        assert (other.best, other.lower) == (found.best, found.lower)


@pytest.mark.slow
def test_the_time_limit_is_kept_and_both_ends_are_proved():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((1500, 12)), random.choice([-1, 1], 1500)
    linsep.fewest_mistakes(X[:300], y[:300], time_limit=3)  # compiles
    start, own = time.perf_counter(), time.process_time()
    found = linsep.fewest_mistakes(X, y, time_limit=3)
    assert min(time.perf_counter() - start, time.process_time() - own) < 4  # on a machine that may be busy
    assert 0 < found.lower < found.best < 750
    found.verify(X, y)


def test_an_interrupt_returns_what_is_known(noisy):
    def stop(search):
        raise KeyboardInterrupt

    random = np.random.default_rng(2)
    X, y = random.standard_normal((200, 8)), random.choice([-1, 1], 200)
    found = linsep.fewest_mistakes(X, y, watch=stop)
    assert 0 < found.lower <= found.best < 100
    found.verify(X, y)


@pytest.mark.parametrize("call", [1, 3])
def test_an_interrupt_of_the_first_descents_leaves_what_they_met(monkeypatch, call):
    descended, calls = VertexWalk._descended, iter(range(10_000))

    def stop(*data):
        if next(calls) == call:
            raise KeyboardInterrupt
        return descended(*data)

    random = np.random.default_rng(5)
    X = random.standard_normal((400, 3))
    y = np.where(X[:, 0] + 0.3 * random.standard_normal(400) > 0, 1, -1)
    monkeypatch.setattr(VertexWalk, "_descended", stop)
    seen = []
    found = linsep.fewest_mistakes(X, y, watch=lambda search: seen.append(search.best))
    assert next(calls) == call + 1 and found.reason == "it was interrupted"
    assert found.best == seen[-1] < 80 and len(seen) == call
    found.verify(X, y)


@pytest.mark.parametrize("call", [1, 2, 3, 5, 8])
def test_an_interrupt_while_a_case_is_looked_at_loses_no_case(monkeypatch, call):
    random, calls = np.random.default_rng(4), iter(range(1, 10_000))
    X, y = random.standard_normal((50, 4)), random.choice([-1, 1], 50)
    settle, solve = mistakes_module.MistakeSearch.settled, HittingSet._solve

    def interrupted(work):
        def stop(*data):
            if next(calls) == call:
                raise KeyboardInterrupt
            return work(*data)

        return stop

    monkeypatch.setattr(mistakes_module.MistakeSearch, "settled", interrupted(settle))
    monkeypatch.setattr(HittingSet, "_solve", interrupted(solve))
    found = linsep.fewest_mistakes(X, y)
    found.verify(X, y)
    assert next(calls) == call + 1 and 0 < found.lower <= found.best


def test_it_says_what_it_knows(noisy, found):
    said = found.explain(*noisy)
    assert f"{found.best}, and no hyperplane makes fewer (proved)" in said
    assert repr(found) == f"<FewestMistakes: 60 rows, 3 columns, best {found.best}, optimal>"


@pytest.mark.campaign
def test_forged_bounds_are_refused_and_true_ones_agree_with_brute_force():
    assert forge_mistakes.main(20, 400, 3) == 0
