"""The explorer in a real browser: what a student, a teacher and a practitioner do, and the numbers they see."""

import json
import threading

import pytest
from playwright.sync_api import expect, sync_playwright

import linsep
from browser import browser_path
from linsep.explorer import engine
from linsep.explorer.server import Explorer

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        yield chromium
        chromium.close()


def serving(explorer):
    thread = threading.Thread(target=explorer.run, daemon=True)
    thread.start()
    yield explorer
    explorer.stop()
    thread.join(10)


@pytest.fixture(scope="module")
def explorer():
    engine.warm_up()
    yield from serving(Explorer())


@pytest.fixture
def visit(browser):
    """Opens pages, and in the end holds that none complained and none asked for anything elsewhere."""
    contexts, complaints, elsewhere = [], [], []

    def open_page(address, **options):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        own = address.split("/?")[0]
        page.on("request", lambda request: elsewhere.append(request.url) if not is_own(request.url, own) else None)
        page.goto(address)
        expect(page.locator("[data-name=verdict]")).to_be_visible()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert elsewhere == []


def is_own(url, own):
    return url.startswith((own + "/", f"blob:{own}/", "file://"))


def number(page, name):
    return json.loads(page.locator(f"[data-name={name}]").get_attribute("data-value"))


def press(page, key):
    """A key pressed with nothing in focus."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(key)


def end_of_run(page):
    press(page, "End")
    expect(page.locator(".step")).to_be_disabled()


@pytest.mark.parametrize(("name", "bias"), [("cornwell", True), ("tao", False), ("wang", False)])
def test_each_lecture_example_shows_the_library_s_numbers(visit, explorer, name, bias):
    page = visit(explorer.address)
    page.select_option(".presets", name)
    X, y = getattr(linsep.datasets, name)()
    theory = linsep.novikoff(X, y, bias=bias)
    for step in linsep.perceptron_steps(X, y, bias=bias):
        press(page, "Space")
        expect(page.locator("[data-name=update]")).to_have_attribute("data-value", str(step.update))
        W = [*step.w.tolist(), *([step.b] if bias else [])]
        assert number(page, "weights") == W
        assert number(page, "along") == pytest.approx(sum(a * u for a, u in zip(W, theory.direction, strict=True)))
        assert number(page, "norm") == pytest.approx(sum(a * a for a in W) ** 0.5)
    assert number(page, "bound") == pytest.approx(theory.bound[1])
    expect(page.locator(".step")).to_be_disabled()


def test_cornwell_ends_at_the_lecture_s_tenth_weights(visit, explorer):
    page = visit(explorer.address)
    end_of_run(page)
    assert number(page, "update") == 9
    assert number(page, "weights") == [4, -0.5, 1]
    expect(page.locator("[data-name=equation]")).to_have_text("4x1−0.5x2+1=0")
