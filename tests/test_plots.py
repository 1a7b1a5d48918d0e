"""The pictures show what the library says: lines, curves, marks and colours are read back from the Axes."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import linsep
from linsep import plots
from linsep.cli import main
from linsep.datasets import cornwell, planted, planted_sparse, tao, xor
from linsep.errors import ArgumentError, LengthError, NotSeparableError, ShapeError
from linsep.learners.perceptron import learner_on
from linsep.plots import region_plot, runs, scene, style, view
from linsep.sources.inputs import as_source

TOUCHING = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [0, -1], [1, -2]]), [1, 0, 1, 1, 0, 0]
IMAGES = Path(__file__).parents[1] / "docs" / "images"


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


@pytest.fixture
def pyplot():
    """Figures of pyplot, off the screen and gone after the test."""
    from matplotlib import pyplot

    pyplot.close("all")
    before = mpl.get_backend()
    pyplot.switch_backend("Agg")
    yield pyplot
    pyplot.close("all")
    pyplot.switch_backend(before)


def called(ax, name):
    return [artist for artist in ax.get_children() if artist.get_gid() == name]


def marked(ax):
    (rings,) = called(ax, "marked rows")
    return np.asarray(rings.get_offsets())


def title(ax):
    return ax.get_title(loc="left")


def test_the_line_of_the_regions_is_the_halfspace_of_the_largest_margin(ax):
    X, y = planted(80, 2, margin=0.4, seed=3)
    verdict = linsep.max_margin(X, y)
    plots.regions(X, y, ax=ax)
    (line,) = called(ax, "line")
    assert verdict.halfspace.distance(line.get_xydata()) == pytest.approx([0, 0], abs=1e-9)
    assert np.ptp(line.get_xdata()) > 0


def test_the_edges_of_the_band_are_one_margin_away(ax):
    X, y = planted(80, 2, margin=0.4, seed=3)
    verdict = linsep.max_margin(X, y)
    plots.regions(X, y, verdict=verdict, ax=ax)
    edges = called(ax, "edge")
    sides = [verdict.halfspace.score(edge.get_xydata()) for edge in edges]
    assert len(edges) == 2 and sides[0][0] * sides[1][0] < 0
    for edge in edges:
        assert verdict.halfspace.distance(edge.get_xydata()) == pytest.approx([verdict.margin[0]] * 2)


@pytest.mark.parametrize("draw", [plots.regions, plots.separation])
def test_the_support_rows_are_the_verdicts_nearest_rows(draw, ax):
    X, y = planted(80, 2, margin=0.4, seed=3)
    verdict = linsep.max_margin(X, y)
    draw(X, y, verdict=verdict, ax=ax)
    assert len(marked(ax)) == len(verdict.nearest.rows)
    if draw is plots.regions:
        assert marked(ax) == pytest.approx(X[list(verdict.nearest.rows)])


@pytest.mark.parametrize("data", [xor(), TOUCHING, planted(300, 2, flipped=5)])
def test_impossible_data_show_the_obstruction_and_its_common_point(data, ax):
    X, y = data
    verdict = linsep.decide(X, y)
    plots.regions(X, y, verdict=verdict, ax=ax)
    rows, shares = list(verdict.obstruction.rows), np.array(verdict.obstruction.weights, float)
    assert marked(ax) == pytest.approx(X[rows])
    (star,) = called(ax, "common point")
    for label in np.unique(y):
        own = np.asarray(y)[rows] == label
        mean = shares[own] @ X[rows][own] / shares[own].sum()
        assert np.asarray(star.get_offsets())[0] == pytest.approx(mean)


def test_the_obstructions_rows_are_named(ax):
    plots.regions(*xor(), ax=ax)
    assert sorted(text.get_text() for text in ax.texts) == ["row 0", "row 1", "row 2", "row 3"]


def test_twins_with_both_labels_share_one_name(ax):
    plots.regions([[0, 0], [0, 0], [1, 3]], [0, 1, 1], ax=ax)
    assert [text.get_text() for text in ax.texts] == ["rows 0, 1"]


def test_a_hull_holds_every_row_of_its_class():
    X, y = planted(200, 2, seed=5)
    corners = region_plot.hull(as_source(X, y), 1)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        across = (b - a)[0] * (X[y == 1] - a)[:, 1] - (b - a)[1] * (X[y == 1] - a)[:, 0]
        assert (across > -1e-9).all()


def test_the_hull_of_rows_on_a_line_is_a_segment():
    source = as_source([[0, 0], [1, 1], [3, 3], [2, 2], [0, 1]], [1, 1, 1, 1, 0])
    assert sorted(region_plot.hull(source, 1).tolist()) == [[0, 0], [3, 3]]


def test_clipping_cuts_a_square_in_half():
    square = np.array([[0.0, 0], [2, 0], [2, 2], [0, 2]])
    half = region_plot.clip(square, np.array([1.0, 0]), -1.0)
    assert sorted(half.tolist()) == [[1, 0], [1, 2], [2, 0], [2, 2]]
    assert len(region_plot.clip(square, np.array([1.0, 0]), -9.0)) == 0


def test_without_bias_there_is_no_common_point_to_show(ax):
    plots.regions([[1, 0], [2, 0], [0, 1.0]], [0, 1, 1], bias=False, ax=ax)
    assert marked(ax).tolist() == [[1, 0], [2, 0]]
    assert not called(ax, "common point")


def test_a_model_is_drawn_instead_of_the_verdict(ax):
    X, y = cornwell()
    run = linsep.perceptron(X, y)
    plots.regions(X, y, model=run, ax=ax)
    (line,) = called(ax, "line")
    assert run.halfspace.distance(line.get_xydata()) == pytest.approx([0, 0], abs=1e-12)
    assert title(ax) == f"Separated: margin of this line {run.halfspace.margin(X, y):.4g}"


def test_a_run_that_was_cut_short_shows_its_mistakes(ax):
    X, y = planted(100, 2, margin=0.3)
    run = linsep.perceptron(X, y, max_updates=1)
    plots.regions(X, y, model=run, ax=ax)
    assert title(ax) == f"{run.halfspace.mistakes(X, y)} mistakes in 100 rows"


def test_a_kernel_is_asked_point_by_point(ax):
    X, y = xor()
    model = linsep.KernelPerceptronClassifier(kernel="rbf", gamma=3.0, random_state=0).fit(X, y)
    plots.regions(X, y, model=model, ax=ax)
    assert title(ax) == f"{np.count_nonzero(model.predict(X) != y)} mistakes in 4 rows"


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(middle, 0.6, (30, 2)) for middle in ((0, 0), (3, 0), (0, 3))])
    return X, np.repeat(["a", "b", "c"], 30)


@pytest.mark.parametrize("make", [linsep.PerceptronClassifier, linsep.KernelPerceptronClassifier])
def test_three_classes_each_have_their_region_and_their_mark(make, three, ax):
    X, y = three
    model = make(random_state=0).fit(X, y)
    plots.regions(X, y, model=model, ax=ax)
    for name in "abc":
        (rows,) = called(ax, f"class {name}")
        assert np.asarray(rows.get_offsets()).tolist() == X[y == name].tolist()
    wrong = int(np.count_nonzero(model.predict(X) != y))
    assert title(ax) == f"{wrong} mistake{'s' * (wrong != 1)} in 90 rows"
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set("abc")


def test_the_region_under_a_place_is_the_class_that_is_predicted_there(three):
    X, y = three
    model = linsep.PerceptronClassifier("average", random_state=0).fit(X, y)
    figure = Figure()
    ax = plots.regions(X, y, model=model, ax=figure.add_axes((0, 0, 1, 1)))
    grounds = [artist for artist in ax.collections if artist.get_zorder() == 0]
    for place, name in zip(([0, 0], [3, 0], [0, 3]), model.predict([[0, 0], [3, 0], [0, 3]]), strict=True):
        (ground,) = [area for area in grounds if any(path.contains_point(place) for path in area.get_paths())]
        mixed = style.tint(region_plot.COLORS["abc".index(name)], ax, 1.6 * style.PALE)
        assert to_rgb(ground.get_facecolor()[0]) == pytest.approx(mixed)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_classifier_that_knows_column_names_is_asked_with_them(kind, three, ax):
    X = pytest.importorskip(kind).DataFrame({"long": three[0][:, 0], "wide": three[0][:, 1]})
    model = linsep.PerceptronClassifier(random_state=0).fit(X, three[1])
    plots.regions(X, three[1], model=model, ax=ax)  # a warning about names would fail
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("long", "wide")


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (np.eye(3), ["a", "b", "c"], "two columns"),
        (np.eye(2), None, "need X and y"),
        (np.eye(2), ["a", "d"], "Row 1: the label is 'd'"),
        (np.eye(2), ["a"], "X has 2 rows"),
    ],
)
def test_rows_that_the_regions_of_three_classes_cannot_show_are_refused(X, y, said, three, ax):
    model = linsep.PerceptronClassifier(random_state=0).fit(*three)
    with pytest.raises((ArgumentError, LengthError, ShapeError), match=re.escape(said)):
        plots.regions(X, None if y is None else np.array(y), model=model, ax=ax)


def test_regions_refuses_three_columns(ax):
    with pytest.raises(ShapeError, match="X has 3 columns: regions draws two"):
        plots.regions(*planted(20, 3), ax=ax)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (linsep.Halfspace([1, 2, 3]), "The hyperplane has 3 weights, but X has 2 columns"),
        (linsep.Halfspace([0, 0]), "weights are all zero"),
        ("svm", "model is a str: it must be a Halfspace"),
    ],
)
def test_a_model_that_cannot_be_drawn_is_refused(model, said, ax):
    with pytest.raises(ArgumentError, match=said):
        plots.separation(*cornwell(), model=model, ax=ax)


def test_a_verdict_on_other_rows_is_refused(ax):
    with pytest.raises(ArgumentError, match="The verdict is about 4 rows and 2 columns, but X has 6 rows"):
        plots.separation(*TOUCHING, verdict=linsep.decide(*xor()), ax=ax)


@pytest.mark.parametrize("data", [planted(90, 7, margin=0.2), planted_sparse(90, 40, margin=0.2)])
def test_the_separation_view_shows_signed_distances(data, ax):
    X, y = data
    verdict = linsep.max_margin(X, y)
    plots.separation(X, y, verdict=verdict, ax=ax)
    for sign in (-1, 1):
        (points,) = called(ax, f"rows {sign:+d}")
        across = np.asarray(points.get_offsets())[:, 0]
        assert across * sign == pytest.approx(verdict.halfspace.distance(X[y == sign]))
        assert (across * sign >= verdict.margin[0] * (1 - 1e-9)).all()


def test_the_second_direction_is_the_first_principal_one_orthogonal_to_w():
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((300, 6)) * [1, 1, 9, 1, 1, 1], np.eye(6)[0]
    direction = view.widest_direction(X, w)
    flat_rows = (X - X.mean(axis=0)) @ (np.eye(6) - np.outer(w, w))
    assert direction @ w == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(flat_rows @ direction) == pytest.approx(np.linalg.norm(flat_rows, ord=2))


def test_many_sparse_columns_have_the_same_direction_as_dense_ones():
    X, _ = planted_sparse(150, 120)
    w = np.random.default_rng(2).standard_normal(120)
    w /= np.linalg.norm(w)
    centred = X.toarray() - X.toarray().mean(axis=0)
    centred -= np.outer(centred @ w, w)
    assert np.linalg.norm(centred @ view.widest_direction(X, w)) == pytest.approx(np.linalg.norm(centred, 2), rel=1e-4)


def test_rows_that_spread_only_across_still_get_a_direction_within():
    w = np.array([0.6, 0.8])
    assert abs(view.widest_direction(np.outer([1.0, 2, 5], w), w) @ w) < 1e-12


def test_the_separation_view_marks_the_obstruction(ax):
    X, y = planted(200, 4, flipped=9)
    verdict = linsep.decide(X, y)
    plots.separation(X, y, verdict=verdict, ax=ax)
    assert title(ax) == f"Overlapping: {len(verdict.obstruction.rows)} rows forbid any hyperplane"
    drawn = np.concatenate([np.asarray(called(ax, f"rows {sign:+d}")[0].get_offsets()) for sign in (-1, 1)])
    order = np.argsort(np.argsort(y, kind="stable"))  # where each row of X went, class by class
    assert marked(ax) == pytest.approx(drawn[order[list(verdict.obstruction.rows)]])


def test_one_column_has_nothing_within_its_hyperplane(ax):
    plots.separation([[0.0], [1], [2], [5]], [0, 0, 1, 1], ax=ax)
    assert title(ax) == "Separable: largest margin 0.5"
    assert ax.get_ylabel() == "" and not len(ax.get_yticks())


def test_many_rows_are_sampled_never_without_those_that_matter(ax, monkeypatch):
    monkeypatch.setattr(scene, "DRAWN_ROWS", 50)
    X, y = planted(2000, 2, flipped=5)
    verdict = linsep.decide(X, y)
    plots.regions(X, y, verdict=verdict, ax=ax)
    drawn = {tuple(place) for sign in (-1, 1) for place in called(ax, f"rows {sign:+d}")[0].get_offsets().tolist()}
    assert {tuple(row) for row in X[list(verdict.obstruction.rows)].tolist()} <= drawn
    assert f"{len(drawn)} of 2,000 rows drawn" in [text.get_text() for text in ax.texts]


def test_a_dollar_sign_in_a_label_or_a_column_is_no_formula(ax):
    import pandas as pd

    X = pd.DataFrame({"$cost$": [0, 1.0], "^_^": [0.0, 1]})
    plots.regions(X, ["$a$", "$b_"], ax=ax)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == r"\$cost\$"


@pytest.mark.parametrize("order", ["cyclic", "restart", "shuffled", "worst"])
def test_the_mistakes_of_all_passes_are_the_updates_of_the_run(order, ax):
    X, y = planted(60, 5, margin=0.05, seed=2)
    run = linsep.perceptron(X, y, order=order, random_state=4)
    plots.mistakes(X, y, order=order, random_state=4, ax=ax)
    counts = ax.lines[0].get_ydata()
    assert (counts.sum(), len(counts)) == (run.updates, run.passes)
    assert title(ax) == f"{run.updates} updates, then separated"


def test_cyclic_mistakes_are_counted_walk_by_walk(ax):
    X, y = planted(60, 5, margin=0.05, seed=2)
    w, b, counts = np.zeros(5), 0.0, []
    while not counts or counts[-1]:
        counts.append(0)
        for x, label in zip(X, y, strict=True):
            if label * (w @ x + b) <= 0:
                w, b, counts[-1] = w + label * x, b + label, counts[-1] + 1
    assert plots.mistakes(X, y, ax=ax).lines[0].get_ydata().tolist() == counts


def test_a_run_without_end_says_that_it_proves_nothing(ax):
    plots.mistakes(*xor(), max_passes=7, ax=ax)
    assert title(ax).endswith("not separated yet, which proves nothing")
    assert len(runs.mistakes_per_pass(learner_on(as_source(*xor()), max_passes=7))) == 7


def test_a_second_run_joins_the_first_and_both_stay_in_view(ax):
    X, y = planted(60, 5, margin=0.05, seed=2)
    for order in ("cyclic", "worst"):
        plots.mistakes(X, y, order=order, label=order, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cyclic", "worst"]
    assert ax.get_ylim()[1] >= max(line.get_ydata().max() for line in ax.lines)


@pytest.mark.parametrize(("data", "bias"), [(cornwell(), True), (tao(), False), (planted(80, 3, margin=0.02), True)])
def test_the_curves_of_the_bound_are_the_numbers_of_the_run(data, bias, ax):
    X, y = data
    plots.bound(X, y, bias=bias, ax=ax)
    theory = linsep.novikoff(X, y, bias=bias)
    W = np.array([[*step.w, step.b] for step in linsep.perceptron_steps(X, y, bias=bias)])
    curves = {line.get_gid(): line.get_xydata() for line in ax.lines}
    assert curves["length"][:, 1] == pytest.approx(np.linalg.norm(W, axis=1))
    assert curves["along"][:, 1] == pytest.approx(W @ theory.halfspace.homogeneous)
    assert curves["wall"][0, 0] == theory.bound[1]
    k = curves["length"][:, 0]
    assert (curves["along"][:, 1] >= k * theory.gamma[0] * (1 - 1e-9)).all()
    assert (curves["length"][:, 1] <= np.sqrt(k) * theory.radius[1] * (1 + 1e-9)).all()
    assert curves["floor"] == pytest.approx(
        np.column_stack([curves["floor"][:, 0], curves["floor"][:, 0] * theory.gamma[0]])
    )


@pytest.mark.parametrize("bias", [True, False])
def test_the_unit_vector_of_novikoff_has_the_margin_gamma(bias):
    X, y = planted(80, 3, margin=0.1)
    theory = linsep.novikoff(X, y, bias=bias)
    W = theory.halfspace.homogeneous
    Z = y[:, None] * np.column_stack([X, np.ones(len(X))])
    assert np.linalg.norm(W) == pytest.approx(1) and (bias or W[-1] == 0)
    assert (Z @ W).min() == pytest.approx(theory.gamma[0], rel=1e-9)


def test_a_far_wall_is_shown_on_logarithmic_axes(ax):
    assert plots.bound(*planted(300, 5, margin=0.01), ax=ax).get_xscale() == "log"


def test_a_run_cut_short_before_the_wall_says_so(ax):
    assert title(plots.bound(*cornwell(), max_updates=4, ax=ax)) == "4 updates of at most 55, stopped"


def test_a_run_that_ends_at_its_cap_is_not_called_stopped(ax):
    assert title(plots.bound(*cornwell(), max_updates=9, ax=ax)) == "9 updates of at most 55"


def test_impossible_data_have_no_bound_to_draw(ax):
    with pytest.raises(NotSeparableError):
        plots.bound(*xor(), ax=ax)


def test_weights_become_images_to_one_scale_around_zero(pyplot):
    coef = np.arange(-9.0, 18).reshape(3, 9)
    panels = plots.weights(coef, names=["a", "b", "c"])
    assert [panel.get_title() for panel in panels] == ["a", "b", "c"]
    for panel, values in zip(panels, coef, strict=True):
        (image,) = panel.images
        assert image.get_array().tolist() == values.reshape(3, 3).tolist()
        assert image.get_clim() == (-17, 17)


def test_the_weights_of_a_classifier_are_named_after_its_classes(pyplot):
    X, y = planted(60, 6, margin=0.3)
    three = np.where(X[:, 0] > 0.7, "high", np.where(y > 0, "plus", "minus"))
    model = linsep.PerceptronClassifier(random_state=0).fit(X, three)
    panels = plots.weights(model, shape=(2, 3))
    assert [panel.get_title() for panel in panels] == ["high", "minus", "plus"]
    assert panels[1].images[0].get_array().ravel().tolist() == model.coef_[1].tolist()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "6 weights do not make a square image"),
        ({"shape": (2, 2)}, r"shape is \(2, 2\), but there are 6"),
        ({"shape": (2, 3), "names": "ab"}, "2 names for 1 images"),
    ],
)
def test_weights_that_make_no_image_are_refused(options, said):
    with pytest.raises(ArgumentError, match=said):
        plots.weights(linsep.Halfspace(np.ones(6)), **options)


def test_the_matrix_shows_every_pair_by_its_verdict(ax):
    pairs = {
        ("b", "a"): linsep.max_margin(*cornwell()),
        ("c", "a"): linsep.decide(*xor()),
        ("b", "c"): linsep.decide(*TOUCHING),
    }
    plots.verdicts(pairs, ax=ax)
    assert {text.get_text(): text.get_position() for text in ax.texts} == {
        "0.5": (0, 1), "overlap": (0, 2), "touch": (1, 2),
    }  # fmt: skip
    assert title(ax) == "3 pairs: 1 separable, 1 touching, 1 overlapping"
    colors = [patch.get_facecolor() for patch in ax.patches]
    assert len(set(colors)) == 3


def test_a_wider_margin_is_a_deeper_blue(ax):
    wide, narrow = (linsep.max_margin([[0.0], [gap]], [0, 1]) for gap in (8, 1))
    plots.verdicts({(0, 1): wide, (0, 2): narrow}, ax=ax)
    blue = [np.abs(np.array(patch.get_facecolor()[:3]) - to_rgb(style.NEGATIVE)).sum() for patch in ax.patches]
    assert blue[0] < 1e-9 < blue[1]


def test_no_pairs_make_no_matrix(ax):
    with pytest.raises(ArgumentError, match="no pairs"):
        plots.verdicts({}, ax=ax)


def luminance(color):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("color", [style.NEGATIVE, style.POSITIVE])
@pytest.mark.parametrize("ground", ["white", "black"])
def test_both_classes_stand_out_from_white_and_from_black(color, ground):
    high, low = sorted([luminance(color), luminance(ground)], reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 2.8


def test_on_a_dark_ground_lines_are_light(pyplot):
    with pyplot.style.context("dark_background"):
        ax = plots.regions(*cornwell())
    (line,) = called(ax, "line")
    assert to_rgb(line.get_color()) == (1, 1, 1) and to_rgb(ax.get_facecolor()) == (0, 0, 0)


SEPARABLE = {(0, 1): linsep.max_margin(*cornwell())}
PICTURES = {
    "regions": lambda **ax: plots.regions(*cornwell(), **ax),
    "separation": lambda **ax: plots.separation(*cornwell(), **ax),
    "mistakes": lambda **ax: plots.mistakes(*cornwell(), **ax),
    "bound": lambda **ax: plots.bound(*cornwell(), **ax),
    "losses": lambda **ax: plots.losses(**ax),
    "verdicts": lambda **ax: plots.verdicts(SEPARABLE, **ax),
    "weights": lambda **ax: plots.weights(linsep.Halfspace([1, 2, 3, 4]), **ax)[0],
}


@pytest.mark.parametrize("name", sorted(set(plots.__all__) - {"animate"}))  # which writes a film
def test_a_picture_on_given_axes_leaves_pyplot_and_the_settings_alone(name, ax, pyplot):
    before = dict(mpl.rcParams)
    assert PICTURES[name](ax=ax) is ax
    ax.figure.canvas.draw()
    assert pyplot.get_fignums() == [] and dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", sorted(set(plots.__all__) - {"animate"}))  # which writes a film
def test_a_picture_without_axes_makes_one_figure(name, pyplot):
    made = PICTURES[name]()
    assert isinstance(made, Axes) and [made.figure] == [pyplot.figure(n) for n in pyplot.get_fignums()]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_command_writes_the_same_file_for_the_same_picture(kind, tmp_path, capsys):
    for name in ("one", "two"):
        assert main(["plot", "example:cornwell", "-o", str(tmp_path / f"{name}.{kind}")]) == 0
    first, second = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "two"))
    assert first == second
    assert first.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])
    if kind == "svg":
        assert ElementTree.fromstring(first).tag.endswith("svg")


def without_matplotlib(statement):
    code = f"import sys; sys.modules['matplotlib'] = None; {statement}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=90, check=False)


def test_without_matplotlib_the_command_names_the_extra():
    done = without_matplotlib("from linsep.cli import main; sys.exit(main(['plot', 'example:xor', '-o', 'x.png']))")
    assert done.returncode == 2
    told = "Pictures need matplotlib, which is not installed. Install it: pip install 'linsep[plots]'"
    assert done.stderr == f"linsep: {told}\n"


@pytest.mark.slow
def test_the_command_never_loads_pyplot(tmp_path):
    code = "import sys; from linsep.cli import main; main(sys.argv[1:]); print('matplotlib.pyplot' in sys.modules)"
    command = [sys.executable, "-c", code, "plot", "example:xor", "-o", str(tmp_path / "xor.png")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_the_module_itself_loads_no_matplotlib():
    done = without_matplotlib("import linsep; print(linsep.plots.__all__[0])")
    assert done.stdout == "animate\n"


def test_the_pictures_of_the_documentation_are_small_and_all_used():
    text = (IMAGES.parent / "plots.md").read_text(encoding="utf-8")
    pictures = sorted(IMAGES.glob("plots-*.png"))
    assert len(pictures) >= 10
    assert all(path.stat().st_size < 60_000 and f"images/{path.name}" in text for path in pictures)


def test_every_pair_of_digits_can_be_drawn(ax):
    verdict = linsep.decide(*xor())
    pairs = dict.fromkeys(combinations(range(10), 2), verdict)
    assert len(plots.verdicts(pairs, ax=ax).patches) == 45


ONE_ROW_EACH = np.array([[1.0], [-1.0]]), [1, 0]


@pytest.mark.parametrize(("data", "bias"), [(tao(), False), (ONE_ROW_EACH, False), (cornwell(), True)])
def test_the_names_in_the_picture_of_the_bound_do_not_cover_each_other(data, bias, ax):
    plots.bound(*data, bias=bias, ax=ax)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 5
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_the_curves_of_the_losses_are_those_that_descent_goes_down(ax):
    plots.losses(ax=ax)
    for line in ax.lines:
        at, value = line.get_data()
        loss = getattr(linsep.losses, line.get_label().replace("0-1", "zero_one"))
        assert value.tolist() == loss(at).tolist() and at.min() < 0 < at.max()
    assert len(ax.lines) == 4


def test_the_0_1_loss_falls_at_0_where_mistakes_end(ax):
    plots.losses(ax=ax)
    (step,), (ground,) = called(ax, "0-1"), called(ax, "mistakes")
    assert step.get_ydata().tolist() == [1, 1, 0, 0] and abs(step.get_xdata()[1:3]).max() < 1e-300
    assert ground.get_x() + ground.get_width() == 0


def test_numbers_too_large_to_draw_are_refused():
    with pytest.raises(linsep.errors.OverflowedError):
        linsep.plots.separation([[1e308], [-1e308], [1.7e308], [1.0]], [0, 1, 0, 1])
