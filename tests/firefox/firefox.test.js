// The explorer in Firefox, by mouse and keys, from a file and from its server: the story, and what one does in the sandbox.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

const { PUPPETEER, FIREFOX, PAGES } = process.env; // paths, and the addresses of the page in one text
const { default: puppeteer } = await import(PUPPETEER);
const SCHEME = "layout.css.prefers-color-scheme.content-override";
const WIDTHS = [390, 1360, 1920];
const TABLE = "a,b,kind\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n";

for (const [scheme, number] of Object.entries({ dark: 0, light: 1 }))
  describe(`in the ${scheme}`, () => {
    let [browser, page, complaints] = [null, null, []];

    before(async () => {
      const prefs = { extraPrefsFirefox: { [SCHEME]: number } };
      browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true, ...prefs });
      page = await browser.newPage();
      page.on("console", (message) => complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
    });
    after(() => browser.close());

    const open = async (address) => {
      complaints = [];
      await page.goto("about:blank");
      await page.goto(address);
    };
    const until = (look, ...what) => page.waitForFunction(look, { timeout: 5000 }, ...what);
    const seen = (selector, words) =>
      until((s, w) => document.querySelector(s)?.textContent.includes(w), selector, words);
    const points = (count) => until((n) => document.querySelectorAll(".data-space .point").length === n, count);
    const withControl = async (key) => {
      await page.keyboard.down("Control");
      await page.keyboard.press(key);
      await page.keyboard.up("Control");
    };
    const middle = async (selector) => {
      const { x, y, width, height } = await (await page.waitForSelector(selector)).boundingBox();
      return [x + width / 2, y + height / 2];
    };

    for (const address of PAGES.split(" ")) {
      const place = address.split(":")[0];

      test(`${place}: every step of the story is told and fits the page`, async () => {
        for (const width of WIDTHS) {
          await page.setViewport({ width, height: 900 });
          await open(`${address}#story=1`);
          for (let step = 1; step <= 10; step++) {
            await seen(".tale-dot[aria-current]", String(step));
            await page.click(".tale-choice, .tale-help");
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
            await page.click(".tale-next");
          }
          await points(4);
        }
        assert.ok(await page.evaluate((name) => matchMedia(`(prefers-color-scheme: ${name})`).matches, scheme));
        assert.deepEqual(complaints, []);
      });

      test(`${place}: points are added, moved, deleted and pasted, and the run is played`, async () => {
        await page.setViewport({ width: 1360, height: 900 });
        await open(`${address}#p=-1,3-;-1,-1-;3,-1+;0,1.5+&b=0`);
        await points(4);
        const [x, y] = await middle(".data-space .point");
        await page.mouse.click(x + 60, y + 90);
        await points(5);
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x + 40, y + 40, { steps: 4 });
        await page.mouse.up();
        await until(() => !location.hash.includes("p=-1,3-"));
        await page.keyboard.press("Delete");
        await points(4);
        await page.keyboard.press("p");
        await until(() => Number(document.querySelector("[data-name=update]").dataset.value) > 0);
        await page.click("[data-pane=weights]");
        await page.waitForSelector(".weights-pane", { visible: true });
        await page.click(".as-text summary");
        await page.$eval(".points-text", (node, text) => Object.assign(node, { value: text }).select(), TABLE);
        await withControl("c");
        await page.$eval(".points-text", (node) => node.blur());
        await withControl("v");
        await seen("[data-name=verdict]", "Overlapping");
        await withControl("z");
        await until(() => !location.hash.includes("names"));
        assert.deepEqual(complaints, []);
      });
    }
  });
