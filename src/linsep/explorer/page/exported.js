// The page as one file: it computes by itself. Of rows too wide to be moved, the answers were recorded.
import { pageAddress } from "./address.js";
import { mount } from "./main.js";

const kept = JSON.parse(document.getElementById("record").textContent);
const keyOf = (name, { updates, ...body }) =>
  JSON.stringify([name, Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))]);
const answers = new Map(kept.record.map(({ name, body, answer }) => [keyOf(name, body), answer]));

mount(document.getElementById("explorer"), {
  start: kept.start,
  isRecorded: true,
  isWhole: true,
  embed: new URLSearchParams(location.search).has("embed"),
  async ask(name, body) {
    const answer = answers.get(keyOf(name, body));
    if (!answer) throw new Error("This file holds recorded runs only. linsep explore computes the others.");
    return answer;
  },
  address: pageAddress(),
});
