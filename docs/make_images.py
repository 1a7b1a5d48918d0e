"""Pictures taken in a browser (docs/explorer.md, docs/report.md): part of `make images`."""

import io
import sys
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import linsep
from browser import STORY_TOLD, launch
from linsep.explorer.own_table import OwnTable
from linsep.explorer.presets import presets
from linsep.explorer.server import Explorer

DOCS = Path(__file__).parent
WIDE, PHONE, SLIDE = (1360, 860), (390, 800), (1100, 640)


def own_table():
    data = load_iris()
    chosen = data.target < 2
    names = [name.removesuffix(" (cm)") for name in data.feature_names]
    return OwnTable(data.data[chosen], data.target_names[data.target[chosen]], columns=names, title="iris.csv")


def shoot(browser, explorer, name, *, size=WIDE, dark=False, preset=None, update=None, extra="", act=None, whole=False):
    """One picture: a preset at an update, in a window of this size."""
    options = {"viewport": {"width": size[0], "height": size[1]}, "color_scheme": "dark" if dark else "light"}
    with browser.new_context(**options, reduced_motion="reduce") as context:
        context.add_init_script(STORY_TOLD)
        page = context.new_page()
        page.goto(explorer.address + extra)
        page.locator(".show-verdict, [data-name=verdict]").wait_for()
        if preset:
            page.select_option(".presets", preset)
        if act:
            act(page)
        page.wait_for_timeout(300)
        if page.locator(".show-verdict").count():
            page.click(".show-verdict")
        if update is not None:
            page.locator(".scrub").fill(str(update))
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(300)
        save(page.screenshot(full_page=whole), f"explorer-{name}")


def save(shot, name):
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    small = picture.quantize(256, kmeans=3, dither=Image.Dither.NONE)  # a third of the size, the same colours
    small.save(DOCS / "images" / f"{name}.png", optimize=True)


def report_page(browser):
    """The page of docs/report.md: rows of which six labels are wrong."""
    X, y = linsep.datasets.planted(287, 3, margin=0.05, seed=4)
    y[[9, 41, 133, 144, 214, 270]] *= -1
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.set_content(linsep.describe(X, y).page("data.csv").decode())
    save(page.screenshot(full_page=True), "report")


def story_step(browser, explorer):
    """The wall, reached."""
    page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]})
    page.goto(explorer.address)
    page.get_by_role("button", name="Step 7").click()
    for _ in range(7):
        page.get_by_role("button", name="Next update").click()
    page.get_by_role("button", name="until k = (R/γ)²").click()
    page.wait_for_timeout(300)
    save(page.screenshot(), "explorer-story")


def pictures(browser, explorer, own):
    story_step(browser, explorer)
    shoot(browser, explorer, "cornwell", preset="cornwell", update=5, act=lambda page: page.click("button.band"))
    shoot(browser, explorer, "wang-dark", preset="wang", update=2, dark=True)
    shoot(browser, explorer, "xor", preset="xor", update=2)
    shoot(browser, explorer, "moons", preset="moons", update=120, act=open_keeps, whole=True)
    shoot(browser, explorer, "phone", preset="touching", update=3, size=PHONE)
    shoot(browser, explorer, "slide", preset=None, update=200, size=SLIDE, extra="&embed", act=narrow)
    shoot(browser, own, "iris", act=lambda page: page.locator(".own-row[data-row='98']").hover(), update=3)


def open_keeps(page):
    page.click("summary")
    page.locator("[data-keep=best]").wait_for()


def narrow(page):
    """The narrow set, by its link: an embedded page has no list of presets."""
    preset = next(preset for preset in presets() if preset["name"] == "narrow")
    rows = zip(preset["points"], preset["labels"], strict=True)
    link = "p=" + ";".join(f"{x},{y}{'+' if label > 0 else '-'}" for (x, y), label in rows)
    page.evaluate("link => { location.hash = link; }", link)


def main():
    (DOCS / "images").mkdir(exist_ok=True)
    explorers = [Explorer(), Explorer(own_table())]
    threads = [threading.Thread(target=explorer.run, daemon=True) for explorer in explorers]
    for thread in threads:
        thread.start()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        pictures(browser, *explorers)
        report_page(browser)
        browser.close()
    for explorer, thread in zip(explorers, threads, strict=True):
        explorer.stop()
        thread.join(10)


if __name__ == "__main__":
    main()
