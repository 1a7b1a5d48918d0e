"""The theorems: counted by brute force, inverted exactly, and held against distributions whose errors are known."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep import theory
from linsep.datasets import cornwell, planted, planted_sparse, tao, wang
from linsep.errors import ArgumentError
from linsep.theory import table_promises, theorems

TRIALS = 300


def homogenised(X, bias):
    return np.hstack([X, np.ones((len(X), 1), X.dtype)]) if bias else X


def count_separable(X, bias):
    """Each labelling as signs of homogenised rows; one row is turned over with its label, so that there are two."""
    Z, y = homogenised(X, bias), np.array([-1, *[1] * (len(X) - 1)])
    signs = product((-1, 1), repeat=len(X))
    return sum(linsep.decide(Z * (y * s)[:, None], y, bias=False).separable for s in map(np.array, signs))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (5, 1), (3, 2), (6, 2), (7, 2), (6, 3), (7, 4)])
def test_the_separable_labelings_of_random_points_are_as_many_as_cover_counts(n, d, bias):
    X = np.random.default_rng(n * d).integers(-1000, 1000, (n, d))
    assert count_separable(X, bias) == theory.labelings(n, d, bias=bias)


def test_points_on_a_line_have_fewer_labelings():
    X = np.array([[0, 0], [1, 1], [2, 2], [3, 3]])
    assert count_separable(X, True) == theory.labelings(4, 1) < theory.labelings(4, 2)


@pytest.mark.parametrize(("n", "d"), [(3, 2), (6, 2), (40, 7), (3000, 30)])
def test_the_probability_is_the_exact_fraction(n, d):
    assert theory.cover(n, d).value == float(Fraction(theory.labelings(n, d), 2**n))


def test_at_the_capacity_half_of_all_labelings_are_separable():
    for d in (1, 10, 300):
        assert theory.cover(2 * (d + 1), d).value == 0.5
        assert theory.cover(2 * d, d, bias=False, limit=0.5).needs == 2 * d + 1


def test_wide_tables_are_counted_as_narrow_ones_are(monkeypatch):
    exact = theory.cover(500, 200)
    monkeypatch.setattr(theorems, "EXACT_WIDTH", 100)
    assert theory.cover(500, 200).value == pytest.approx(exact.value, rel=1e-9)
    assert theory.cover(500, 200).needs == exact.needs


# How many rows -------------------------------------------------------------------------------------------

BOUNDS = {
    "cover": lambda n: theory.cover(n, 5, limit=0.1),
    "vc": lambda n: theory.vc(n, 5, error=0.1),
    "vc through the origin": lambda n: theory.vc(n, 5, bias=False, error=0.2),
    "occam": lambda n: theory.occam(n, 5, 8, error=0.1),
    "margin": lambda n: theory.margin(n, 55.0, error=0.1),
    "compression": lambda n: theory.compression(n, 6, error=0.1),
    "leave one out": lambda n: theory.leave_one_out(n, 6, error=0.1),
    "online": lambda n: theory.online(n, 0, error=0.1),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_so_many_rows_are_enough_and_one_less_is_not(name):
    needs = BOUNDS[name](10).needs
    assert BOUNDS[name](needs).says_something and not BOUNDS[name](needs - 1).says_something
    assert BOUNDS[name](needs).needs == needs


@pytest.mark.parametrize("ask", [lambda n, m: theory.vc(n, 3, mistakes=m), lambda n, m: theory.online(n, m)])
def test_the_rate_of_mistakes_is_kept_as_rows_are_added(ask):
    needs = ask(100, 40).needs
    assert ask(needs, math.ceil(0.4 * needs)).says_something
    assert not ask(needs - 1, math.ceil(0.4 * (needs - 1))).says_something


def test_no_number_of_rows_brings_the_error_below_the_rate_of_mistakes():
    vote = theory.leave_one_out(100, 50, grows=True)
    for promise in (theory.vc(100, 3, mistakes=50), theory.online(100, 50), vote):
        assert promise.needs is None and promise.here == "vacuous for any number of rows at this rate of mistakes"


def test_a_vacuous_promise_says_what_it_needs():
    promise = theory.margin(200, 224)
    assert promise.here == f"vacuous here: n is 200, it needs {promise.needs:,}" and promise.needs > 4000


def test_a_promise_better_than_a_coin_but_not_good_enough_is_not_called_vacuous():
    assert str(theory.vc(200, 10, error=0.1)).splitlines()[1] == "This is not below 10 % here: n is 200, it needs 911."


@pytest.mark.parametrize("d", [1, 10, 100])
@pytest.mark.parametrize("error", [0.1, 0.01])
def test_vc_asks_for_less_than_a_sixth_of_the_rows_of_the_textbook(d, error):
    textbook = max(4 / error * math.log2(2 / 0.05), 8 * (d + 1) / error * math.log2(13 / error))
    assert textbook / 10 < theory.vc(10, d, error=error).needs < textbook / 6


# The numbers, from their definitions in exact arithmetic -------------------------------------------------


def chance_of_few(n, m, k):
    """At most m of m + k mistakes fall into the first half of 2n rows."""
    ways = sum(math.comb(m + k, i) * math.comb(2 * n - m - k, n - i) for i in range(m + 1))
    return Fraction(ways, math.comb(2 * n, n))


@pytest.mark.parametrize(("n", "d", "m"), [(50, 1, 0), (150, 4, 0), (569, 30, 0), (150, 4, 5), (400, 3, 40)])
def test_vc_is_the_smallest_k_that_its_proof_allows(n, d, m):
    def is_enough(k):
        return 2 * theory.labelings(2 * n, d) * chance_of_few(n, m, k) <= Fraction(0.05) / ((m + 1) * (m + 2))

    k = round(theory.vc(n, d, mistakes=m).value * n)
    assert is_enough(k) and not is_enough(k - 1 - (m > 0))  # the tail is summed from above where there is one


@pytest.mark.parametrize(("m", "width"), [(5, 8), (12, 3), (300, 40)])
def test_the_growth_is_covers_with_a_bias_and_sauers_without(m, width):
    sauer = sum(math.comb(m, k) for k in range(width + 1))
    assert theorems._log_labelings(m, width, False) == pytest.approx(math.log(sauer))
    assert theorems._log_labelings(m, width, True) == pytest.approx(math.log(theory.labelings(m, width - 1)))


@pytest.mark.parametrize("n", [10**6, 10**12, 10**15, 10**18, 10**30])
def test_rows_without_number_leave_the_promises_as_exact(n):
    k = round(theory.vc(n, 3).value * n)
    enough = [2 * theory.labelings(2 * n, 3) * Fraction(math.perm(n, j), math.perm(2 * n, j)) for j in (k, k - 2)]
    assert enough[0] <= Fraction(0.05) / 2 < enough[1]
    kept = math.log(math.comb(n, 3) * 20) - math.log(0.05)
    assert theory.compression(n, 3).value == pytest.approx(-math.expm1(-kept / (n - 3)), rel=1e-9)
    assert theory.online(n, 0).value == pytest.approx(-math.expm1(-math.log(2 / 0.05) / n), rel=1e-9)


@pytest.mark.parametrize("error", [1e-12, 1e-16, 1e-24, 1e-300])
def test_an_error_as_small_as_any_has_its_number_of_rows_or_none(error):
    assert (theory.vc(100, 10, error=error).needs is None) == (error < 1e-27)
    assert (theory.compression(100, 3, error=error).needs is None) == (error < 1e-27)


def test_compression_and_occam_spend_delta_to_the_last():
    kept = 1 - theory.compression(100, 3, delta=0.1).value
    assert math.comb(100, 3) * kept**97 == pytest.approx(0.1 / 20)
    kept = 1 - theory.occam(100, 2, 4, delta=0.1).value
    assert 31**3 * kept**100 == pytest.approx(0.1 / 30)


def test_online_is_the_inverse_of_the_relative_entropy():
    for m in (0, 1, 30, 99, 100):
        p, q = theory.online(100, m, delta=0.1).value, m / 100
        entropy = (q * math.log(q / p) if q else 0) + ((1 - q) * math.log((1 - q) / (1 - p)) if q < 1 else 0)
        assert entropy == pytest.approx(math.log((m + 1) * (m + 2) / 0.1) / 100) if q < 1 else p == 1


def test_the_margin_bound_has_the_constants_of_its_proof():
    assert theory.margin(10_000, 3.2, delta=0.1).value == pytest.approx(0.04 + math.sqrt(math.log(300) / 20_000))


def test_the_parts_of_delta_add_up_to_delta():
    assert sum(theorems._share(k, 0.05) for k in range(10**5)) == pytest.approx(0.05, rel=1e-4)


# Distributions with known errors -------------------------------------------------------------------------


def plane_and_rows(rng, n, flips=0.0):
    """Normal rows in the plane, labelled by the first coordinate: the error of w is its angle to that axis over pi."""
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, 0] > 0, 1, -1) * np.where(rng.random(n) < flips, -1, 1)
    return X, y


def error_of(w, flips=0.0):
    angle = np.arctan2(np.abs(w[..., 1]), w[..., 0]) / np.pi
    return np.where(np.any(w != 0, axis=-1), flips + (1 - 2 * flips) * angle, 1.0)


def one_pass(X, y):
    """The weights before each row of a pass, and how many rows were mistakes."""
    w, before, mistakes = np.zeros(2), [], 0
    for x, side in zip(X, y, strict=True):
        before.append(w)
        if side * (w @ x) <= 0:
            w, mistakes = w + side * x, mistakes + 1
    return np.array(before), mistakes


@pytest.mark.slow
@pytest.mark.parametrize("flips", [0.0, 0.1])
def test_online_to_batch_holds_where_the_mere_rate_of_mistakes_does_not(flips):
    rng, delta, above, naive = np.random.default_rng(1), 0.2, 0, 0
    for _ in range(TRIALS):
        X, y = plane_and_rows(rng, 80, flips)
        before, mistakes = one_pass(X, y)
        error = error_of(before, flips).mean()
        above += error > theory.online(80, mistakes, delta=delta).value
        naive += error > mistakes / 80
    assert above <= delta * TRIALS < naive


def test_the_vote_errs_as_seldom_on_average_as_leave_one_out_says():
    rng, n, promised, errors = np.random.default_rng(2), 40, [], []
    for _ in range(TRIALS):
        X, y = plane_and_rows(rng, n)
        before, mistakes = one_pass(X, y)
        promised.append(theory.leave_one_out(n, 2 * mistakes).value)
        new, sides = plane_and_rows(rng, 200)
        errors.append((np.sign(new @ before.T).sum(axis=1) * sides <= 0).mean())
    assert np.mean(promised) / 20 < np.mean(errors) < np.mean(promised)


def test_compression_and_leave_one_out_hold_for_the_perceptron():
    rng, n, above, promised, errors = np.random.default_rng(3), 40, 0, [], []
    for _ in range(TRIALS):
        X, y = plane_and_rows(rng, n)
        run = linsep.perceptron(X, y, bias=False)
        support, error = np.count_nonzero(run.mistakes_per_row), float(error_of(run.halfspace.w))
        above += error > theory.compression(n, support).value
        promised.append(theory.leave_one_out(n, support).value)
        errors.append(error)
    assert above <= 0.05 * TRIALS
    assert np.mean(promised) / 20 < np.mean(errors) < np.mean(promised)


def test_leave_one_out_and_compression_hold_for_the_widest_threshold_on_a_line():
    rng, n = np.random.default_rng(4), 30
    rows = np.sort(rng.random((2000, n)), axis=1)
    left = np.where(rows < 0.5, rows, 0).max(axis=1)
    right = np.where(rows >= 0.5, rows, 1).min(axis=1)
    error = np.abs((left + right) / 2 - 0.5)
    assert theory.leave_one_out(n, 2).value / 8 < error.mean() < theory.leave_one_out(n, 2).value
    assert np.mean(error > theory.compression(n, 2, delta=0.5).value) <= 0.5


def test_vc_holds_for_the_worst_of_all_hyperplanes_without_mistakes():
    rng, n, delta = np.random.default_rng(5), 60, 0.5
    rows = rng.random((2000, n))
    worst = np.maximum(0.5 - np.where(rows < 0.5, rows, 0).max(1), np.where(rows >= 0.5, rows, 1).min(1) - 0.5)
    promised = theory.vc(n, 1, delta=delta).value
    assert np.mean(worst > promised) <= delta
    assert np.quantile(worst, 1 - delta) > promised / 20


def test_the_margin_bound_holds_for_rows_of_one_word_each():
    """Unit rows e_j of which k differ have (R/gamma)² = k; whatever is learned errs on words that were not seen."""
    rng, n, words = np.random.default_rng(6), 400, np.arange(1, 1001)
    share, above = words**-2.0 / (words**-2.0).sum(), 0
    for _ in range(TRIALS):
        seen = np.unique(rng.choice(len(words), n, p=share))
        error, promised = 1 - share[seen].sum(), theory.margin(n, len(seen)).value
        above += error > promised
        assert 0.01 < error < 0.5 < promised < 1
    assert above <= 0.05 * TRIALS


def test_unit_rows_have_as_many_updates_as_there_are_of_them():
    y = np.array([1, -1, 1, 1, -1])
    assert linsep.novikoff(np.eye(5), y, bias=False).most_updates == 5


# What the theorems rest on -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_corrected_rows_alone_lead_the_perceptron_to_the_same_weights(seed):
    X, y = planted(60, 3, margin=0.05, seed=seed)
    run = linsep.perceptron(X, y)
    rows = np.flatnonzero(run.mistakes_per_row)
    again = linsep.perceptron(X[rows], y[rows])
    assert again.halfspace == run.halfspace and again.updates == run.updates and len(rows) < 60


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_rows_alone_have_the_same_widest_hyperplane(seed):
    X, y = planted(60, 3, margin=0.05, seed=seed)
    verdict = linsep.max_margin(X, y)
    rows = list(verdict.nearest.rows)
    again = linsep.max_margin(X[rows], y[rows])
    assert again.gamma_squared == verdict.gamma_squared and again.weights == verdict.weights


@pytest.mark.parametrize("seed", range(10))
def test_no_weight_of_a_run_in_integers_has_more_bits_than_promised(seed):
    X, y = planted(30, 3, margin=0.5, seed=seed)
    run = linsep.perceptron(np.rint(100 * X).astype(int), y)
    assert run.bits <= theory.bits(int(np.abs(np.rint(100 * X)).max()).bit_length(), run.updates).value


def test_a_weight_may_have_every_bit_that_is_promised():
    run = linsep.perceptron([[7], [-7]], [1, -1], bias=False)
    assert (run.updates, run.bits) == (1, theory.bits(3, 1).value) == (1, 3)


# A whole table -------------------------------------------------------------------------------------------


def named(found):
    return {(promise.name, promise.about): promise for promise in found}


def test_every_theorem_speaks_about_separable_integers():
    found = theory.promises(*wang())
    names = {name for name, _ in named(found)}
    assert names == {
        "Cover", "VC dimension", "online to batch", "leave one out", "Novikoff", "margin", "bits", "Occam's razor",
        "compression",
    }  # fmt: skip
    assert found.not_here == ()


def test_the_numbers_are_those_of_the_table():
    X, y = planted(300, 3, margin=0.02, seed=1)
    found, verdict, run = named(theory.promises(X, y)), linsep.max_margin(X, y), linsep.perceptron(X, y)
    widest, last = len(verdict.nearest.rows), np.count_nonzero(run.mistakes_per_row)
    assert found["compression", theorems.WIDEST].value == theory.compression(300, widest).value
    assert found["leave one out", theorems.LAST].value == last / 300 and last < run.updates
    assert found["Novikoff", "the Perceptron"].value == linsep.novikoff(X, y).most_updates
    assert found["VC dimension", theorems.ANY].value == theory.vc(300, 3).value


def test_the_vote_has_twice_the_mistakes_of_one_pass():
    X, y = planted(300, 3, margin=0.02, seed=1)
    made = linsep.perceptron(X, y, order="shuffled", max_passes=1, random_state=0).updates
    found = named(theory.promises(X, y))
    assert found["leave one out", theorems.VOTE].value == 2 * made / 300
    assert found["online to batch", "a vector drawn from one pass"].value == theory.online(300, made).value


def test_leave_one_out_needs_the_exact_widest_hyperplane_and_compression_does_not():
    X, y = planted(60, 3, margin=0.05, seed=1)
    found = named(theory.promises(X, y, known=[replace(linsep.max_margin(X, y), gamma_squared=None)]))
    assert ("compression", theorems.WIDEST) in found and ("leave one out", theorems.WIDEST) not in found


def test_rows_that_do_not_determine_a_hyperplane_compress_nothing(monkeypatch):
    X, y = planted(60, 3, margin=0.05, seed=1)
    far = linsep.Obstruction((int(np.argmax(X @ [1, 0, 0] * (y > 0))), int(np.flatnonzero(y < 0)[0])), (1, 1))
    verdict = replace(linsep.max_margin(X, y), gamma_squared=None, nearest=far)
    monkeypatch.setattr(table_promises.TableNumbers, "complete", lambda numbers: None)
    monkeypatch.setattr(table_promises.TableNumbers, "require_true", lambda numbers, result: None)
    assert ("compression", theorems.WIDEST) not in named(theory.promises(X, y, known=[verdict]))


def test_large_tables_are_judged_by_averaged_weights(monkeypatch):
    X, y = planted(200, 3, flipped=10, seed=2)
    monkeypatch.setattr(table_promises, "FEW_ENTRIES", 0)
    (promise,) = [promise for promise in theory.promises(X, y) if promise.name == "VC dimension"]
    mistakes = int(promise.about.split()[-2])
    assert 9 <= mistakes < 40 and promise.value == theory.vc(200, 3, mistakes=mistakes).value


def test_the_most_useful_promise_comes_first_and_the_vacuous_last():
    found = theory.promises(*planted(300, 3, margin=0.1, seed=1))
    saying = [promise.says_something for promise in found]
    errors = [promise.value for promise in found if promise.kind == "error" and promise.says_something]
    assert saying == sorted(saying, reverse=True) and not all(saying)
    assert errors == sorted(errors) and found.best.value < 0.2


def test_rows_that_no_hyperplane_separates_have_fewer_promises():
    X, y = planted(200, 3, flipped=10, seed=2)
    fewest = linsep.fewest_mistakes(X, y, time_limit=5)
    found = theory.promises(X, y, known=[linsep.decide(X, y), fewest])
    assert {promise.name for promise in found} == {"VC dimension", "online to batch", "leave one out"}
    assert f"any hyperplane with {fewest.best} mistakes" in str(found) and "Novikoff" in found.not_here[0]


def test_covers_count_says_nothing_about_labels_that_are_not_separable():
    found = theory.promises(*linsep.datasets.xor())
    assert "Cover" not in {promise.name for promise in found}


def test_text_and_gaps_are_treated_as_in_other_questions():
    X, y = planted(60, 2, margin=0.2, seed=1)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(site=["here", "there", "here"] * 20, ill=y)
    options = {"categories": "reference"}
    expected = theory.promises(frame.drop(index=[3, 7]), "ill", **options)
    frame.loc[[3, 7], "a"] = np.nan
    assert theory.promises(frame, "ill", missing="drop", **options) == expected
    with pytest.raises(ArgumentError, match="Drop the rows first"):
        verdict = linsep.decide(frame, "ill", missing="drop", **options)
        theory.promises(frame, "ill", missing="drop", known=[verdict], **options)


def test_what_is_known_is_not_computed_again(monkeypatch):
    X, y = cornwell()
    known = [linsep.max_margin(X, y), linsep.novikoff(X, y), linsep.perceptron(X, y)]
    expected = theory.promises(X, y)
    for name in ("max_margin", "decide", "novikoff", "fewest_mistakes"):
        monkeypatch.delattr(table_promises, name)
    assert theory.promises(X, y, known=known) == expected


OTHERS = {
    "rows": lambda: linsep.decide(*wang()),
    "run": lambda: linsep.perceptron(*wang()),
    "bias": lambda: linsep.decide(*cornwell(), bias=False),
    "bound": lambda: linsep.novikoff(*planted(4, 3)),
    "type": lambda: "separable",
}


@pytest.mark.parametrize("what", OTHERS)
def test_results_about_other_rows_are_refused(what):
    with pytest.raises(ArgumentError, match="known holds a"):
        theory.promises(*cornwell(), known=[OTHERS[what]()])


FOUND = {
    "max_margin": linsep.max_margin,
    "novikoff": linsep.novikoff,
    "perceptron": linsep.perceptron,
    "fewest_mistakes": linsep.fewest_mistakes,
}


@pytest.mark.parametrize("name", FOUND)
def test_results_about_other_labels_or_rows_of_the_same_shape_are_refused(name):
    X, y = planted(60, 3, margin=0.05, seed=1)
    others = [(X, -y), (X, np.roll(y, 1)), (X[::-1], y), (2 * X, y) if name == "novikoff" else (-X, y)]
    theory.promises(X, y, known=[FOUND[name](X, y)])
    for rows, labels in others:
        if linsep.decide(rows, labels).separable or name == "fewest_mistakes":
            with pytest.raises(ArgumentError, match="known holds a result that is not true of these rows"):
                theory.promises(X, y, known=[FOUND[name](rows, labels)])


IMPOSSIBLE = {
    "more mistakes than rows": lambda: theory.vc(100, 3, mistakes=101),
    "more rows that matter than rows": lambda: theory.compression(5, 6),
    "more left out than rows": lambda: theory.leave_one_out(5, 9),
    "more mistakes than rows in a pass": lambda: theory.online(5, 9),
    "gamma above R": lambda: theory.novikoff(1, 2),
    "R below gamma": lambda: theory.margin(100, 0.5),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_the_impossible_is_refused(what):
    with pytest.raises(ArgumentError, match=r"must be at (most|least)"):
        IMPOSSIBLE[what]()


def test_hyperplanes_through_the_origin_have_promises_too():
    found = named(theory.promises(*tao(), bias=False))
    assert found["Cover", "random labels"].value == theory.cover(4, 2, bias=False).value == 0.5
    assert found["Novikoff", "the Perceptron"].value == 2


def test_sparse_rows_and_files_have_the_promises_of_their_arrays(tmp_path):
    X, y = planted_sparse(80, 30, per_row=5, margin=0.3)
    expected = theory.promises(X.toarray(), y)
    assert theory.promises(X, y).facts() == expected.facts()
    text = "\n".join(
        ",".join(map(repr, map(float, row))) + f",{label}" for row, label in zip(X.toarray(), y, strict=True)
    )
    (tmp_path / "rows.csv").write_text(",".join(f"x{j}" for j in range(30)) + ",y\n" + text + "\n")
    found = theory.promises(linsep.open(str(tmp_path / "rows.csv"), label="y"))
    assert named(found)["compression", theorems.WIDEST] == named(expected)["compression", theorems.WIDEST]


def test_a_lack_of_time_leaves_promises_out_and_gives_the_others():
    found = theory.promises(*planted(2000, 30, margin=0.01, seed=3), time_limit=0)
    assert {"Cover", "VC dimension", "online to batch"} <= {promise.name for promise in found}


def test_weights_are_rounded_to_as_few_bits_as_still_separate():
    X, y = np.array([[0.0, 4.0], [0.0, -3.0]]), [1, -1]
    found = [promise for promise in theory.promises(X, y) if promise.name == "Occam's razor"]
    assert found[0].about == "any separator with 1-bit weights"
    X = np.array([[2.1, -5.0], [2.0, -5.1]])  # b/a is between 0.392 and 0.42: 6/15, but not 3/7
    found = [promise for promise in theory.promises(X, y, bias=False) if promise.name == "Occam's razor"]
    assert found[0].about == "any separator with 4-bit weights"


def test_the_promises_are_text_html_and_json():
    found = theory.promises(*cornwell())
    assert "vacuous          n = 1,201" in found.explain() and "<table>" in found._repr_html_()
    facts = json.loads(json.dumps(found.facts(), allow_nan=False))
    wanted = {"statement", "formula", "conditions", "source", "value", "needs", "says_something", "here"}
    assert [wanted <= set(promise) for promise in facts["promises"]] == [True] * len(found)
    assert repr(found).startswith("<Promises: ")


def test_a_promise_says_its_statement_formula_conditions_and_source():
    text = str(theory.compression(1000, 3))
    assert text.splitlines() == [
        "With probability 95 %, at most 2.47 % of new rows are mistakes of the widest hyperplane, which 3 of the 1,000 "
        "rows determine.",
        "formula: 1 - (delta/((k+1)(k+2)·C(n, k)))^(1/(n-k)), k = 3",
        "if: the rows are independent draws from the distribution that new rows come from; the hyperplane of these "
        "rows alone has no mistake on the others",
        "source: Littlestone and Warmuth (1986); Floyd and Warmuth (1995); for the Perceptron, Graepel et al. (2005)",
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.cover(0, 2),
        lambda: theory.vc(10, 0),
        lambda: theory.vc(10, 2, mistakes=-1),
        lambda: theory.online(10, 1.5),
        lambda: theory.online(10, 1, delta=0),
        lambda: theory.margin(10, 0),
        lambda: theory.leave_one_out(10, 1, error=1),
        lambda: theory.novikoff(1, math.inf),
        lambda: theory.bits(0, 1),
        lambda: theory.labelings(True, 1),
        lambda: theory.promises(*cornwell(), delta=1),
    ],
)
def test_numbers_that_no_theorem_can_be_about_are_refused(call):
    with pytest.raises(ArgumentError, match="it must be"):
        call()
