"""One report for each result: text, terminal, notebook and JSON say the same, and nothing from the data is markup."""

import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from sklearn import config_context

import linsep
from linsep.picture import WIDTH, Picture
from linsep.report import Fact, Grid, Report, Sentence, linear, listed

EVIL = "<script>alert('x')</script>"
ROWS = [[0.0, 5.0], [1.0, 3.0], [1.0, 3.0], [2.0, 1.0]]
LINE = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
THREE = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0], [0.0, 9.0], [1.0, 9.0]]
LABELS = [EVIL, EVIL, "yes", "yes"]


def stream():
    model = linsep.OnlinePerceptron(keep="last")
    model.predict_then_learn(LINE, LABELS)
    return model


RESULTS = {
    "separable": lambda: linsep.decide(LINE, LABELS),
    "margin": lambda: linsep.max_margin(LINE, LABELS),
    "touching": lambda: linsep.decide(ROWS, LABELS),
    "overlapping": lambda: linsep.decide(*linsep.datasets.xor()),
    "undecided": lambda: linsep.decide(*linsep.datasets.planted(2000, 3, seed=1), time_limit=0),
    "novikoff": lambda: linsep.novikoff(LINE, LABELS),
    "promises": lambda: linsep.theory.promises(LINE, LABELS),
    "promise": lambda: linsep.theory.vc(100, 10),
    "mle": lambda: linsep.mle_exists(ROWS, LABELS, [EVIL, "[red]b"]),
    "run": lambda: linsep.perceptron(LINE, LABELS),
    "halfspace": lambda: linsep.Halfspace([1, -2.5], 1, (EVIL, "yes")),
    "online": stream,
    "classifier": lambda: linsep.PerceptronClassifier(random_state=0).fit(LINE, LABELS),
    "kernel": lambda: linsep.KernelPerceptronClassifier(random_state=0).fit(LINE, LABELS),
    "widest": lambda: linsep.MaxMarginClassifier().fit(LINE, LABELS),
    "widest of three": lambda: linsep.MaxMarginClassifier().fit(THREE, [EVIL, EVIL, "b", "b", "c", "c"]),
}
ESTIMATORS = ("classifier", "kernel", "widest", "widest of three")


class Texts(HTMLParser):
    """What a page says, without its pictures and styles."""

    def __init__(self, page):
        super().__init__()
        self.found, self.within, self.tags = [], [], set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.within.append(tag)

    def handle_endtag(self, tag):
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"svg", "style"} & set(self.within):
            self.found.append(data)


def strings(value):
    """Every text in a report's JSON but the kinds of its parts."""
    if isinstance(value, dict):
        return [text for name, each in value.items() if name != "kind" for text in strings(each)]
    return [value] if isinstance(value, str) else [text for each in value for text in strings(each)]


def on_terminal(report, width=10_000):
    page = io.StringIO()
    Console(file=page, width=width).print(report)
    return page.getvalue()


def require_agreement(report):
    """Every text of the report is in every rendering, and none has a number that the report has not."""
    told = [text for text in strings(report.json()) if text]
    assert sorted(filter(None, Texts(report.html()).found)) == sorted(told)
    names = {part.name for part in report.parts if isinstance(part, Sentence)}
    for shown in (report.text(), on_terminal(report)):
        assert all(text in shown for text in told if text not in names)
        assert set(re.findall(r"\d[\d.,]*", shown)) <= set(re.findall(r"\d[\d.,]*", "\n".join(told)))


@pytest.mark.parametrize("name", RESULTS)
def test_every_rendering_of_a_result_says_the_same(name):
    result = RESULTS[name]()
    require_agreement(result.report())
    assert result.explain() == result.report().text()
    if name not in ESTIMATORS:
        assert str(result) == result.explain()
        assert on_terminal(result) == on_terminal(result.report())


TEXT = st.text(max_size=12)
PARTS = st.one_of(
    st.builds(Sentence, TEXT, TEXT),
    st.builds(Fact, TEXT, TEXT),
    st.builds(Grid, st.tuples(TEXT, TEXT), st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3).map(tuple), TEXT),
)


@settings(max_examples=200, deadline=None)
@given(TEXT, st.lists(PARTS, max_size=4).map(tuple))
def test_whatever_a_report_holds_is_text_in_every_rendering(title, parts):
    report = Report(title, parts)
    assert sorted(filter(None, Texts(report.html()).found)) == sorted(filter(None, strings(report.json())))
    assert Texts(report.html()).tags <= {"div", "style", "strong", "table", "tr", "td", "th"}
    for shown in (report.text(), "\n".join(line for line, _ in report.terminal())):
        assert all(cell.isprintable() for cell in shown.split("\n"))


@pytest.mark.parametrize("name", RESULTS)
def test_labels_and_names_are_never_markup(name):
    page = RESULTS[name]()._repr_html_()
    ours = page[page.index('<div class="linsep') :]
    assert "<script" not in ours
    assert json.dumps(RESULTS[name]().report().json())


@pytest.mark.parametrize("name", RESULTS)
def test_a_repr_is_one_short_line(name):
    shown = repr(RESULTS[name]())
    assert len(shown) < 300
    assert "\n" not in shown


def test_reprs_say_what_matters():
    verdict = linsep.decide(*linsep.datasets.xor())
    assert repr(verdict) == "<Overlapping: 4 rows, 2 columns, labels (-1, 1), obstruction of 4 rows>"
    assert repr(verdict.obstruction) == "<Obstruction: rows 0, 1, 2, 3>"
    assert repr(linsep.Halfspace([4, -0.5], 1)) == "<Halfspace: 4·x1 - 0.5·x2 + 1 = 0, labels (-1, 1)>"
    run, theory = linsep.perceptron(*linsep.datasets.cornwell()), linsep.novikoff(*linsep.datasets.cornwell())
    assert repr(run) == "<PerceptronRun: separated, 9 updates in 6 passes>"
    assert repr(theory) == "<Novikoff: at most 55 updates, R = 3.31662, gamma = 0.447214>"
    assert repr(linsep.mle_exists(LINE, LABELS)).startswith("<MleReport: the estimate does not exist, separable")
    assert repr(stream()).startswith("<OnlinePerceptron: 4 rows, ")


def test_a_repr_of_many_columns_is_still_short():
    X, y = linsep.datasets.planted(50, 200, seed=0)
    assert len(repr(linsep.decide(X, y))) < 300
    assert len(repr(linsep.Halfspace(np.ones(200)))) < 300


def test_shares_are_shown_and_exact_integers_on_request():
    t = np.arange(14)
    verdict = linsep.decide(np.stack([t**k for k in range(1, 13)], 1), t % 2)
    assert "weight " not in verdict.explain().replace("weighted", "")
    exact = verdict.explain(exact=True)
    assert all(re.search(rf" {weight}$", exact, re.MULTILINE) for weight in verdict.obstruction.weights[:10])


def test_scikit_learn_shows_its_diagram_and_our_report_below():
    fitted = RESULTS["classifier"]()
    for page in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert page.index("sk-top-container") < page.index('<div class="linsep')
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert "text/html" not in fitted._repr_mimebundle_()


def test_a_classifier_that_is_not_fitted_has_a_diagram_alone():
    model = linsep.PerceptronClassifier()
    assert '<div class="linsep' not in model._repr_html_()
    with pytest.raises(Exception, match="not fitted"):
        model.explain()


def test_a_saved_model_still_has_a_report(tmp_path):
    RESULTS["classifier"]().save(tmp_path / "model.json")
    assert "classes: " in linsep.load(tmp_path / "model.json").explain()


# Pictures.


def drawn(verdict):
    page = verdict._repr_html_()
    return ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


def tags(picture):
    return [element.tag.rpartition("}")[2] for element in picture]


@pytest.mark.parametrize("name", ["separable", "margin", "touching", "overlapping", "undecided"])
def test_every_verdict_of_rows_in_memory_has_a_picture(name):
    picture = drawn(RESULTS[name]())
    assert {"title", "circle", "polygon"} <= set(tags(picture))


def test_the_hyperplane_of_a_picture_has_every_row_on_its_side():
    X, y = linsep.datasets.planted(500, 7, seed=3)
    picture = linsep.decide(X, y).report().picture
    a, b, c = picture.line
    sides = [[a * x + b * z + c for x, z in points] for points in picture.classes]
    assert max(sides[0]) < 0 < min(sides[1])
    assert 0 < sum(map(len, sides)) <= 60


def test_the_common_point_of_a_picture_is_common_to_both_classes():
    X, y = linsep.datasets.planted(300, 5, seed=1)
    y[:9] = -y[:9]
    verdict = linsep.decide(X, y)
    picture, found = verdict.report().picture, verdict.obstruction
    for label, hull in zip(verdict.labels, picture.hulls, strict=True):
        shares = [share for share, own in zip(found.shares, found.classes, strict=True) if own == label]
        np.testing.assert_allclose(np.array(shares) @ np.array(hull), picture.common, atol=1e-9)


def test_rows_of_a_file_that_prove_something_are_drawn(tmp_path):
    path = tmp_path / "xor.csv"
    path.write_text("a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    verdict = linsep.decide(linsep.open(path, label="y"))
    assert verdict.report().picture.common == (0.5, 0.5)


@pytest.mark.parametrize("scale", [1e-300, 1e200, 1e300])
def test_rows_of_any_size_have_a_picture_or_none(scale):
    assert "linsep" in linsep.decide(np.array(LINE) * scale, LABELS)._repr_html_()
    assert "linsep" in linsep.decide(np.array(THREE) * scale, [0, 1, 0, 1, 0, 1])._repr_html_()


def test_a_proof_from_a_file_has_no_picture_and_the_same_verdict():
    verdict = linsep.decide(*linsep.datasets.xor())
    read = linsep.verdict_from_json(verdict.to_json())
    assert read == verdict
    assert read.report().picture is None


def test_a_line_is_drawn_within_the_picture():
    picture = Picture((((0.0, 0.0),), ((1.0, 2.0),)), ("a", "b"), "two points", (1.0, 1.0, -1.0))
    ends = re.search(r'd="M([-\d.]+) [-\d.]+L([-\d.]+) [-\d.]+" stroke="currentColor"', picture.svg())
    assert all(-1 <= float(x) <= WIDTH + 1 for x in ends.groups())


# The parts that reports are made of.


def test_sums_are_written_as_people_write_them():
    assert linear([(4, "x1"), (-1, "x2"), (2, "")]) == "4·x1 - x2 + 2"
    assert linear([(-1, "a"), (0, "b"), (-0.5, "")]) == "-a - 0.5"
    assert linear([(0, "a"), (0, "")]) == "0"
    assert linear([(1, f"x{j}") for j in range(9)], 2) == "x0 + x1 + ... (7 more terms)"


def test_a_bias_beyond_the_largest_double_can_be_talked_about():
    line = linsep.Halfspace([1], 10**400)
    assert "2^1328" in repr(line)
    assert "2^1328" in line.explain()


def test_long_lists_are_cut_with_a_count():
    assert listed(range(3)) == "0, 1, 2"
    assert listed(range(20)).endswith("6, 7 and 12 more")


def test_a_terminal_folds_lines_and_aligns_wide_letters():
    report = Report("title", (Sentence("word " * 30, "name"), Grid(("a", "b"), (("漢字", "1"), ("x", "22")))))
    lines = [line for line, _ in report.terminal(50)]
    assert max(map(len, lines)) <= 50
    assert lines[-2:] == [f"{'':13}漢字    1", f"{'':13}x      22"]


def test_columns_scaled_by_more_than_the_largest_double_are_drawn_too():
    verdict = linsep.decide([[2**63 - 6, 5e-324]] * 3, [1, -1, 1], bias=False)
    assert verdict.kind == "overlapping" and "<table" in verdict._repr_html_()
