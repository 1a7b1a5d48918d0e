"""The story in a real browser: what each step asks, what happens when one answers, and who is shown it."""

import re
import threading
import xml.etree.ElementTree as ET
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect, sync_playwright

from browser import launch
from linsep.explorer import export
from linsep.explorer.server import Explorer

pytestmark = pytest.mark.browser

TITLES = [
    "Can you separate these points?",
    "One mistake, in numbers",
    "The rule",
    "It stops. Always?",
    "The floor",
    "The ceiling",
    "The wall",
    "Try to break it",
    "Four corners",
    "What now?",
]


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(export.page(), "utf-8")
    return file.as_uri()


@contextmanager
def visitor(browser, **options):
    """A person with a browser of their own, who complains of errors in the end."""
    context = browser.new_context(**{"viewport": {"width": 1360, "height": 900}, **options})
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def shared(browser):
    with visitor(browser) as page:
        yield page


@pytest.fixture
def story(shared, address):
    """Opens a step, as a link to it does."""

    def open_step(number, page=shared):
        page.goto("about:blank")
        page.goto(f"{address}#story={number}")
        expect(page.locator(".tale h2")).to_have_text(TITLES[number - 1])
        return page

    return open_step


def told(page):
    return page.locator(".tale-telling").inner_text()


def status(page):
    return page.locator(".tale-status").inner_text()


def drag_to(page, grip, across, down):
    """Drag the grip to a place in the picture, in parts of its width and height."""
    place, frame = grip.bounding_box(), page.locator(".tale-plot").first.bounding_box()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.down()
    page.mouse.move(frame["x"] + across * frame["width"], frame["y"] + down * frame["height"], steps=4)
    page.mouse.up()


def test_a_first_visit_opens_the_story_and_a_later_one_the_sandbox(browser, address):
    with visitor(browser) as page:
        page.goto(address)
        expect(page.locator(".tale h2")).to_have_text(TITLES[0])
        expect(page.locator(".data-space")).to_be_hidden()
        page.get_by_role("button", name="Skip the story").click()
        expect(page.locator(".data-space")).to_be_visible()
        page.goto("about:blank")
        page.goto(address)
        expect(page.locator(".data-space")).to_be_visible()
        page.get_by_role("button", name="The story").click()
        expect(page.locator(".tale h2")).to_have_text(TITLES[0])


def test_another_server_knows_that_the_story_was_told(browser):
    with visitor(browser) as page:
        for is_first in (True, False):
            explorer = Explorer()
            thread = threading.Thread(target=explorer.run, daemon=True)
            thread.start()
            page.goto(explorer.address)
            expect(page.locator(".tale")).to_be_visible(visible=is_first)
            if is_first:
                page.keyboard.press("Tab")
                page.keyboard.press("Escape")
                expect(page.locator(".data-space")).to_be_visible()
            page.goto("about:blank")
            explorer.stop()
            thread.join(10)


@pytest.mark.parametrize("rest", ["?embed", "#p=0,0+;1,1-&b=1"])
def test_a_slide_and_a_link_to_points_open_no_story(browser, address, rest):
    with visitor(browser) as page:
        page.goto(address + rest)
        expect(page.locator(".data-space")).to_be_visible()
        expect(page.locator(".tale:visible")).to_have_count(0)


def test_every_step_asks_before_it_tells(story):
    page = story(1)
    for title in TITLES:
        expect(page.locator(".tale h2")).to_have_text(title)
        assert told(page) == "" and page.locator(".tale-ask").inner_text()[-1] in ".?"
        page.locator(".tale-next").click()
    expect(page.locator(".data-space")).to_be_visible()


def test_the_address_follows_the_steps_and_leads_back(story):
    page = story(2)
    page.get_by_role("button", name="The next step").click()
    expect(page).to_have_url(re.compile("#story=3$"))
    page.evaluate("location.hash = '#story=7'")
    expect(page.locator(".tale h2")).to_have_text(TITLES[6])
    page.get_by_role("button", name="Skip the story").click()
    expect(page).to_have_url(re.compile("p="))


@pytest.mark.parametrize(("asked", "step"), [("abc", 1), ("11", 10)])
def test_a_link_to_no_step_of_the_story_is_told(shared, address, asked, step):
    shared.goto("about:blank")
    shared.goto(f"{address}#story={asked}")
    expect(shared.locator(".tale h2")).to_have_text(TITLES[step - 1])
    expect(shared.locator(".tale .notice")).to_have_text(
        f"The story has the steps 1 to 10, and this link asks for “{asked}”."
    )
    shared.get_by_role("button", name="Step 2").click()
    expect(shared.locator(".tale .notice")).to_have_count(0)


def test_the_keyboard_turns_the_pages_and_leaves(story):
    page = story(4)
    page.get_by_role("button", name="Step 4").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tale h2")).to_have_text(TITLES[4])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".tale h2")).to_have_text(TITLES[2])
    page.keyboard.press("Escape")
    expect(page.locator(".data-space")).to_be_visible()


PASTE = """text => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
OWN = re.compile(r"p=0,0\+;5,5-;2,3\+")


@pytest.fixture
def own_points(browser, address):
    """A sandbox with three points of one's own."""
    with visitor(browser) as page:
        page.goto(f"{address}#p=0,0-;1,1+")
        page.evaluate(PASTE, "0,0,1\n5,5,-1\n2,3,1")
        expect(page.locator(".point")).to_have_count(3)
        yield page


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_own_points_outlast_the_story_and_a_reload_in_it(own_points, is_reloaded):
    page = own_points
    page.get_by_role("button", name="The story").click()
    page.get_by_role("button", name="The next step").click()
    expect(page).to_have_url(re.compile("#story=2$"))
    if is_reloaded:
        page.reload()
        expect(page.locator(".tale h2")).to_have_text(TITLES[1])
    page.get_by_role("button", name="Skip the story").click()
    expect(page.locator(".point:visible")).to_have_count(3)
    expect(page).to_have_url(OWN)


def test_a_text_pasted_into_the_story_does_not_replace_the_points_behind_it(own_points):
    page = own_points
    page.get_by_role("button", name="The story").click()
    page.evaluate(PASTE, "0,0,a\n1,1,b")
    page.get_by_role("button", name="Skip the story").click()
    expect(page.locator(".point:visible")).to_have_count(3)
    expect(page).to_have_url(OWN)


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_back_leads_from_the_story_to_the_sandbox_and_forward_again(own_points, is_reloaded):
    page = own_points
    page.get_by_role("button", name="The story").click()
    expect(page).to_have_url(re.compile("#story=1$"))
    if is_reloaded:
        page.reload()
    page.go_back()
    expect(page.locator(".tale:visible")).to_have_count(0)
    expect(page.locator(".point:visible")).to_have_count(3)
    expect(page).to_have_url(OWN)
    page.go_forward()
    expect(page.locator(".tale h2")).to_have_text(TITLES[0])


def test_the_focus_goes_from_the_story_s_end_to_the_sandbox(story):
    page = story(10)
    page.locator(".tale-next").focus()
    page.keyboard.press("Enter")
    for key, update in {"Space": "1", "End": "9", "Home": "0"}.items():
        page.keyboard.press(key)
        expect(page.locator("[data-name=update]")).to_have_attribute("data-value", update)


def test_step_1_counts_mistakes_while_the_line_is_dragged(story):
    page = story(1)
    assert "left" in status(page)
    first, second = page.locator(".tale-grip").all()
    drag_to(page, first, 0.18, 0.85)
    drag_to(page, second, 0.72, 0.17)
    assert status(page) == "No mistakes: this line separates them." and "three numbers" in told(page)


def test_step_1_by_keyboard(story):
    page = story(1)
    before = status(page)
    page.locator(".tale-grip").nth(1).focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert status(page) != before and page.locator(".tale h2").inner_text() == TITLES[0]


def test_step_2_computes_the_score_and_what_the_rule_adds(story):
    page = story(2)
    assert status(page) == "Its score: 2·0 + (−2)·1.5 − 2 = −5."
    page.get_by_role("button", name="by 2.25").click()
    assert status(page) == "Not quite: by 3.25." and "−1.75" in told(page)
    expect(page.locator(".tale-plot .ghost")).to_have_count(1)
    assert "The faint dotted line is the old one." in told(page)
    page.get_by_role("button", name="by 3.25").click()
    assert status(page) == "Yes."


def test_step_3_is_the_rule_by_hand(story):
    page = story(3)
    page.locator(".tale-grip").nth(0).click()
    assert "1 update, " in status(page)
    page.locator(".tale-grip").nth(0).focus()
    page.keyboard.press("Enter")
    assert "that point is right" in status(page)
    helper = page.get_by_role("button", name="Correct the next mistake")
    while "0 mistakes left" not in status(page):
        helper.click()
    assert "whole Perceptron" in told(page) and "y the class of a point, +1 or −1" in told(page)
    expect(helper).to_be_disabled()
    expect(page.locator(".tale-next")).to_be_focused()


def test_step_4_draws_r_gamma_and_u_star_once_one_has_guessed(story):
    page = story(4)
    expect(page.locator(".strip")).to_have_count(0)
    page.get_by_role("button", name="20").click()
    expect(page.locator(".strip")).to_have_count(1)
    expect(page.locator(".tale-reach")).to_have_count(1)
    assert status(page) == "Yes." and "√10.25" in told(page)


CROSSING_TICKS = """() => {
  const ticks = [...document.querySelectorAll(".tale-chart .tick")].map((node) => node.getBoundingClientRect());
  return ticks.flatMap((a, i) => ticks.slice(i + 1).filter(
    (b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
}"""


@pytest.mark.parametrize(
    ("number", "answer", "line", "curves"),
    [(5, "γ", "k·γ", 1), (6, "at most 0", "√k·R", 2), (7, "until k = (R/γ)²", "20.5", 2)],
)
def test_steps_5_to_7_build_the_chart_of_the_proof(number, answer, line, curves, story):
    page = story(number)
    for _ in range(3):
        page.get_by_role("button", name="Next update").click()
    assert status(page).startswith("After 3 updates: W·u*")
    page.get_by_role("button", name=answer, exact=True).click()
    assert status(page) == "Yes." and line in told(page)
    assert number == 7 or "W starts at 0" in told(page)
    expect(page.locator(".tale-chart .curve")).to_have_count(curves)
    across, up = (page.locator(f".tale-chart .tick{kind}").all_text_contents() for kind in (":not(.right)", ".right"))
    assert len(across) > 4 and "0" in across and len(up) >= 2
    assert page.evaluate(CROSSING_TICKS) == []
    expect(page.locator(".tale-chart .wall")).to_have_count(int(number == 7))


def test_steps_5_to_7_say_when_the_run_has_ended_and_begin_again(story):
    page = story(5)
    for _ in range(7):
        page.get_by_role("button", name="Next update").click()
    assert status(page).endswith("No mistake is left: the run has ended.")
    page.get_by_role("button", name="Again from the start").click()
    assert status(page) == "After 0 updates: W = 0."
    expect(page.get_by_role("button", name="Next update")).to_be_visible()


COLOURS = """() => Object.fromEntries([...document.querySelectorAll(".tale-chart text.tale-name")].map(
  (node) => [node.textContent, getComputedStyle(node).fill]))"""
STROKE = "name => getComputedStyle(document.querySelector(`.tale-chart path.${name}`)).stroke"


def test_the_curves_of_the_chart_are_named_in_their_colours(story):
    page = story(7)
    page.get_by_role("button", name="Next update").click()
    colours = page.evaluate(COLOURS)
    kinds = {"W·u*": "along", "|W|": "norm", "k·γ": "curve", "√k·R": "curve"}
    assert colours == {name: page.evaluate(STROKE, kind) for name, kind in kinds.items()}


@pytest.mark.parametrize(("number", "meant"), [(2, "score w·x + b"), (5, "(w, b)")])
def test_a_step_recalls_the_letters_that_it_needs(number, meant, story):
    expect(story(number).locator(".tale-recall")).to_contain_text(meant)


def test_the_pictures_of_the_plane_have_axes_and_an_origin(story):
    page = story(1)
    for _ in TITLES[:-1]:
        expect(page.locator(".tale-plot:visible .tale-origin").first).to_be_attached()
        expect(page.locator(".tale-plot:visible .axis").first).to_be_attached()
        page.locator(".tale-next").click()


def test_step_8_moves_the_wall_with_the_points(story):
    page = story(8)
    assert status(page) == "The wall stands at 20.5; the run makes 7 updates."
    drag_to(page, page.locator(".tale-grip").nth(2), 0.34, 0.29)
    assert status(page) != "The wall stands at 20.5; the run makes 7 updates."
    page.get_by_role("button", name="Show me how").click()
    assert "half as wide puts it four times as far" in told(page) and told(page).startswith("The narrow band.")


def test_step_8_says_when_no_line_is_left(story):
    page = story(8)
    drag_to(page, page.locator(".tale-grip").nth(5), 0.7, 0.3)
    assert "no band, and no wall" in status(page)


def test_step_9_shows_the_common_point_of_xor(story):
    page = story(9)
    drag_to(page, page.locator(".tale-grip").nth(0), 0.1, 0.75)
    drag_to(page, page.locator(".tale-grip").nth(1), 0.75, 0.95)
    assert "your best so far: 1." in status(page)
    expect(page.locator(".common")).to_be_hidden()
    page.get_by_role("button", name="I give up").click()
    expect(page.locator(".common")).to_be_visible()
    assert "would have to be on both sides" in told(page)


def test_step_10_lifts_the_corners_and_ends_in_the_sandbox(story):
    page = story(10)
    page.get_by_role("button", name="x₁·x₂").click()
    expect(page.locator(".tale-sheet")).to_be_visible()
    assert "a score w·x is a sum of products" in told(page) and "A kernel is such a product" in told(page)
    page.get_by_role("button", name="end the story").click()
    expect(page.locator(".data-space")).to_be_visible()


CROSSED = """() => [...document.querySelectorAll(".tale-plot text.tick")].filter((tick) => {
  const [a, lines] = [tick.getBoundingClientRect(), [...document.querySelectorAll(".tale-plot path.line")]];
  return lines.map((line) => line.getBoundingClientRect()).some(
    (b) => a.left < b.right + 1 && b.left < a.right + 1 && a.top < b.bottom + 1 && b.top < a.bottom + 1);
}).map((tick) => tick.textContent)"""


@pytest.mark.parametrize("width", [390, 1360, 1920])
def test_the_cross_of_step_10_runs_through_no_number(story, width):
    page = story(10)
    page.set_viewport_size({"width": width, "height": 900})
    page.get_by_role("button", name="x₁·x₂").click()
    expect(page.locator(".tale-plot path.line")).to_have_count(2)
    crossed = page.evaluate(CROSSED)
    page.set_viewport_size({"width": 1360, "height": 900})
    assert crossed == []


def test_on_a_phone_every_step_fits_its_width_and_can_be_touched(browser, story):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "color_scheme": "dark"}
    with visitor(browser, **phone) as page:
        story(1, page)
        for title in TITLES:
            expect(page.locator(".tale h2")).to_have_text(title)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            if title != TITLES[-1]:
                page.locator(".tale-next").tap()
        page.locator(".tale-choice").first.tap()
        expect(page.locator(".tale-sheet")).to_be_visible()
        sizes = [button.bounding_box()["height"] for button in page.locator(".tale button").all()]
        assert min(sizes) >= 28


def test_the_run_is_saved_as_a_film(shared, address, tmp_path):
    page = shared
    page.goto("about:blank")
    page.goto(f"{address}#p=-1,3-;-1,-1-;3,-1+;0,1.5+&b=1")
    with page.expect_download() as saved:
        page.locator(".save-film").click()
    saved.value.save_as(tmp_path / "film.svg")
    root = ET.parse(tmp_path / "film.svg").getroot()
    moves = [move for move in root.iter("{http://www.w3.org/2000/svg}animate") if move.get("attributeName") == "points"]
    assert {len(move.get("values").split(";")) for move in moves} == {10}
    assert "Update 9: row 3 (+) had score -3." in "".join(root.itertext())
