"""The explorer's engine: its answers are the library's, its proofs add up, and its page files belong together."""

import json
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import linsep
from linsep.explorer import engine, export
from linsep.explorer.own_table import OwnTable
from linsep.explorer.presets import presets
from linsep.explorer.requests import LARGEST, RunRequest
from linsep.explorer.server import page_files

SMALL = st.integers(-3, 3)
POINTS = st.lists(st.tuples(SMALL, SMALL, st.sampled_from([-1, 1])), min_size=2, max_size=9).filter(
    lambda rows: len({label for *_, label in rows}) == 2
)


def question(rows, **options):
    return {"points": [[x, y] for x, y, _ in rows], "labels": [label for *_, label in rows], **options}


def ask(body):
    X, y = np.array(body.pop("points"), dtype=float), np.array(body.pop("labels"))
    return json.loads(json.dumps(engine.record(X, y, RunRequest(**body), seconds=5), allow_nan=False))


@settings(max_examples=60, deadline=None)
@given(POINTS, st.booleans(), st.sampled_from(["cyclic", "restart", "shuffled", "worst"]))
def test_the_chain_of_the_proof_holds_at_every_update(rows, bias, order):
    answer = ask(question(rows, bias=bias, order=order, updates=60))
    bound, steps = answer["bound"], answer["steps"]
    for k, norm in enumerate(steps["norm"], start=1):
        assert norm <= np.sqrt(k) * answer["radius"] * (1 + 1e-9)
        if bound:
            assert k * bound["gamma"] * (1 - 1e-9) <= steps["along"][k - 1] <= norm * (1 + 1e-9)
    assert bound is None or len(steps["row"]) <= bound["bound"] * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(POINTS)
def test_an_obstruction_s_fractions_mix_each_class_to_the_common_point(rows):
    answer = ask(question(rows))
    found = answer["obstruction"]
    assert (found is None) == (answer["verdict"]["kind"] == "separable")
    if found:
        weights = {row: Fraction(weight["text"]) for row, weight in zip(found["rows"], found["weights"], strict=True)}
        point = [Fraction(value["text"]) for value in found["point"]]
        for label in (-1, 1):
            mine = {row: weight for row, weight in weights.items() if rows[row][2] == label}
            assert sum(mine.values()) == 1
            assert [sum(w * rows[row][j] for row, w in mine.items()) for j in (0, 1)] == point


@settings(max_examples=60, deadline=None)
@given(POINTS)
def test_without_bias_the_weighted_signed_rows_sum_to_zero(rows):
    found = ask(question(rows, bias=False))["obstruction"]
    if found:
        weights = [Fraction(weight["text"]) for weight in found["weights"]]
        signed = [[rows[row][2] * rows[row][j] for j in (0, 1)] for row in found["rows"]]
        assert sum(weights) == 1
        assert [sum(w * z[j] for w, z in zip(weights, signed, strict=True)) for j in (0, 1)] == [0, 0]


@settings(max_examples=30, deadline=None)
@given(POINTS)
def test_overlapping_rows_have_a_spread_that_overlaps_by_itself(rows):
    answer = ask(question(rows))
    assert (answer["spread"] is None) == (answer["verdict"]["kind"] != "overlapping")
    if answer["spread"]:
        chosen = [rows[row] for row in answer["spread"]["rows"]]
        assert linsep.decide([[x, y] for x, y, _ in chosen], [label for *_, label in chosen]).kind == "overlapping"


def test_a_proof_whose_weights_nearly_cancel_is_marked():
    X, y = linsep.datasets.planted(1200, 220, margin=0.1, flipped=200, seed=1)
    found = table_of(X, y)["run"]({"order": "cyclic", "bias": True, "seed": 0, "updates": 1})["obstruction"]
    verdict = linsep.decide(X, y)
    assert found["definite"] == verdict.obstruction.is_definite is True
    assert found["count"] == len(verdict.obstruction.rows)


def test_a_run_that_ends_is_told_from_one_that_was_cut():
    rows = [(-1, 3, -1), (-1, -1, -1), (3, -1, 1), (0, 1.5, 1)]
    assert ask(question(rows, updates=9))["steps"]["converged"]
    cut = ask(question(rows, updates=8))["steps"]
    assert not cut["converged"] and len(cut["row"]) == 8


def test_the_unit_vector_of_novikoff_reaches_its_gamma():
    X, y = linsep.datasets.cornwell()
    theory = linsep.novikoff(X, y)
    margins = y * (linsep.homogenise(X) @ theory.halfspace.homogeneous)
    assert margins.min() == pytest.approx(theory.gamma[0])
    assert np.linalg.norm(theory.halfspace.homogeneous) == pytest.approx(1)


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset["name"])
def test_a_preset_is_what_its_name_says(preset):
    expected = {"xor": "overlapping", "moons": "overlapping", "touching": "touching"}.get(preset["name"], "separable")
    body = {key: preset[key] for key in ("points", "labels", "bias")}
    assert ask(body)["verdict"]["kind"] == expected


def table_of(X, y, **options):
    return OwnTable(X, y, **options).questions()


def test_the_separation_view_has_each_class_on_its_side_of_the_margin():
    X, y = linsep.datasets.planted(3000, 5, margin=0.2, seed=3)
    seen = table_of(X, y)["view"]({"columns": None})
    distance, signs = np.array(seen["x"]), np.array(seen["signs"])
    assert (distance * signs).min() == pytest.approx(seen["side"]["margin"], rel=1e-4)
    assert set(seen["support"]) <= set(seen["rows"])
    assert seen["left_out"] == 3000 - len(seen["rows"])


def test_sparse_rows_and_dataframes_are_seen_like_dense_rows():
    X, y = linsep.datasets.planted(60, 4, seed=2, flipped=3)
    dense = table_of(X, y, columns=list("abcd"))
    frame = table_of(pl.DataFrame(X, schema=list("abcd")), y)
    sparse = table_of(sp.csr_array(X), y, columns=list("abcd"))
    for name, body in (("run", {}), ("view", {"columns": [0, 3]}), ("row", {"row": 7})):
        assert dense[name](body) == frame[name](body)
    assert sparse["run"]({})["obstruction"] == dense["run"]({})["obstruction"]
    assert sparse["row"]({"row": 7}) == dense["row"]({"row": 7})


@pytest.mark.parametrize("update", [1, 2, 7])
def test_the_view_of_an_update_is_the_hyperplane_of_that_step(update):
    X, y = linsep.datasets.planted(60, 4, seed=2, flipped=3)
    look = {"columns": None, "order": "shuffled", "seed": 5, "bias": False, "update": update}
    step = list(linsep.perceptron_steps(X, y, order="shuffled", random_state=5, bias=False, max_updates=update))[-1]
    assert table_of(X, y)["view"](look)["x"] == pytest.approx((X @ step.w / np.linalg.norm(step.w)).tolist())


def test_before_the_first_update_every_row_lies_at_0():
    X, y = linsep.datasets.planted(60, 4, seed=2)
    assert set(table_of(X, y)["view"]({"columns": None, "update": 0})["x"]) == {0.0}


def test_a_sample_holds_the_rows_that_the_run_corrects():
    X, y = linsep.datasets.planted(4000, 4, seed=2, flipped=3)
    asked = table_of(X, y)
    assert set(asked["run"]({"updates": 50})["steps"]["row"]) <= set(asked["view"]({"columns": None})["rows"])


def test_the_named_rows_carry_their_values_and_labels():
    X, y = linsep.datasets.planted(60, 12, seed=2, margin=0.2)
    answer = table_of(X, y)["run"]({})
    assert answer["named"]["rows"] == answer["widest"]["rows"]
    assert answer["named"]["values"] == X[answer["widest"]["rows"], :8].tolist()


def test_two_columns_become_points_and_more_do_not():
    X, y = linsep.datasets.xor()
    assert OwnTable(X, np.array(["no", "yes", "yes", "no"])).beginning()["preset"]["labels"] == y.tolist()
    assert OwnTable(np.eye(3), [0, 1, 1]).beginning()["preset"] is None


def test_plus_is_the_positive_class_though_its_character_is_the_smaller_one():
    assert OwnTable([[0.0, 1.0], [1.0, 0.0]], ["+", "-"]).beginning()["preset"]["labels"] == [1, -1]


@pytest.mark.parametrize(("bias", "word"), [(True, "standardised"), (False, "scaled")])
def test_scaled_columns_are_called_what_they_are(bias, word):
    table = OwnTable([[1.0, 9.0], [2.0, 5.0]], [0, 1], columns=["a", "b"], bias=bias, standardise=True)
    assert table.beginning()["columns"] == [f"a ({word})", f"b ({word})"]


def test_what_is_no_table_is_refused_by_the_library_s_own_errors():
    with pytest.raises(linsep.errors.NotFiniteError, match="Row 1"):
        OwnTable([[0.0, 1.0, 2.0], [np.nan, 1.0, 0.0]], [0, 1])
    with pytest.raises(linsep.errors.OneClassError):
        OwnTable(np.eye(3), [1, 1, 1])


def test_no_two_modules_of_the_page_use_a_name_twice():
    declared = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
    shared = [name for name in page_files() if name.endswith(".js") and name not in ("start.js", "exported.js")]
    names = [found for name in shared for found in declared.findall(export.page_text(name))]
    assert len(names) == len(set(names)) > 50


def test_no_function_of_the_page_exceeds_sixty_lines():
    whole = re.compile(r"^(?:export )?(?:async )?function (\w+)[^\n]*\{\n(?:(?!\}).*\n)*\}", re.MULTILINE)
    texts = [export.page_text(name) for name in page_files() if name.endswith(".js")]
    found = {one[1]: one[0].count("\n") + 1 for text in texts for one in whole.finditer(text)}
    assert len(found) > 200
    assert [name for name, lines in found.items() if lines > 60] == []


@pytest.mark.parametrize("entry", ["exported.js", "notebook.js"])
def test_a_bundle_has_no_imports_and_no_comments_left(entry):
    text = export.bundle(entry)
    assert not re.search(r"^(import [{*]|export )|^ *(//|/[*]|[*] )|/[*][*]", text, re.MULTILINE)
    assert "function mount(" in text


def test_what_a_bundle_leaves_out_are_comments():
    """Without white space, and without comments that end a line, each module is in it as it is written."""
    text = re.sub(r"\s", "", export.bundle("exported.js"))
    for name in page_files():
        if name.endswith(".js") and name not in ("start.js", "notebook.js"):
            lines = [line.strip() for line in export.page_text(name).splitlines()]
            code = [
                line for line in lines if line and not line.startswith(("//", "/*", "* ", "*/", "import", "export"))
            ]
            code = [line for line in code if "/**" not in line]
            missing = [line for line in code if re.sub(r"\s", "", line) not in text]
            assert not [line for line in missing if not in_import(name, line)], name


def in_import(name, line):
    """Whether a line is one of the names that a longer import lists."""
    return re.fullmatch(r"[\w$]+,|} from .*", line) is not None


def test_an_exported_page_names_nothing_outside_itself():
    text = export.page(OwnTable(np.eye(3), ["a", "b", "b"]))
    links = set(re.findall(r"https?://[^\s\"'<)]+", text))
    assert links <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}


def contrast(one, other):
    """The ratio of WCAG 2: 4.5 is enough for text, 3 for marks."""

    def luminance(color):
        parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXT = [
    ("ink", "card"), ("ink", "paper"), ("soft", "card"), ("soft", "paper"), ("soft", "plus-side"),
    ("soft", "minus-side"), ("soft", "lens"), ("along", "card"), ("norm", "card"), ("good", "card"), ("bad", "card"),
    ("warn", "card"), ("on-colour", "plus"), ("on-colour", "minus"),
]  # fmt: skip
MARKS = [("plus", "plus-side"), ("plus", "minus-side"), ("minus", "minus-side"), ("minus", "plus-side")]


@pytest.mark.parametrize("light", [0, 1], ids=["light", "dark"])
def test_the_colours_of_the_page_have_the_contrast_that_wcag_asks_for(light):
    style = export.page_text("style.css")
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)
    colours = {name: shades[light] for name, *shades in found}
    assert min(contrast(colours[a], colours[b]) for a, b in TEXT) >= 4.5
    assert min(contrast(colours[a], colours[b]) for a, b in MARKS) >= 3


def test_nothing_on_the_page_moves_by_itself():
    assert not re.search(r"\b(transition|animation)\b", export.page_text("style.css"))


def recorded(table=None):
    text = export.page(table)
    return json.loads(re.search(r'id="record">(.*?)</script>', text, re.DOTALL).group(1))["record"]


def test_an_exported_page_is_one_small_file_without_records():
    assert recorded() == recorded(OwnTable(*linsep.datasets.xor())) == []
    assert len(export.page().encode()) < 300_000


def test_an_exported_table_records_both_biases_and_each_row_once():
    entries = recorded(OwnTable(np.eye(3), ["a", "b", "b"]))
    runs = [entry["body"] for entry in entries if entry["name"] == "run"]
    assert sum(run["bias"] for run in runs) == 4 and len(runs) == 5
    assert [entry["body"]["row"] for entry in entries if entry["name"] == "row"] == [0, 1, 2]


def test_coordinates_at_the_limit_are_answered_in_finite_numbers():
    far = LARGEST
    assert ask(question([(far, far, 1), (-far, 1e-9, -1), (far, 1, -1)]))["verdict"]["kind"] == "separable"


def test_overlapping_wide_rows_are_seen_across_the_hyperplane_with_the_fewest_mistakes_that_is_found():
    X, y = linsep.datasets.planted(60, 4, seed=2, flipped=3)
    seen = table_of(X, y)["view"]({"columns": None})
    wrong = int((np.array(seen["x"]) * seen["signs"] <= 0).sum())
    assert wrong == linsep.fewest_mistakes(X, y).best == 3
    assert seen["side"]["what"] == "the best hyperplane that was found"
    assert seen["side"]["mistakes"] == "It leaves 3 of 60 rows on its wrong side or on it, the fewest possible."


def test_where_to_call_every_row_the_same_is_best_the_view_has_a_side_and_its_number():
    X, y = [[0.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, -1]], [1, 1, -1, 1, 1]
    seen = table_of(X, y)["view"]({"columns": None})
    wrong = int((np.array(seen["x"]) * seen["signs"] <= 0).sum())
    assert seen["side"]["mistakes"].startswith(f"It leaves {wrong} of 5 rows")


@pytest.mark.parametrize(("rows", "kind"), [([0, 1, 2], "separable"), ([0, 0, 1], "touching")])
def test_where_no_row_is_on_a_wrong_side_no_number_of_mistakes_is_told(rows, kind):
    table = OwnTable([[float(x), 0, 0] for x in rows], [-1, 1, 1])
    assert table.verdict.kind == kind
    assert table.side(True).mistakes == ""
