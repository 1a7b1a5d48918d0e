// Where no line separates: the best that one can do, found when the page has been still for a moment.
import { html } from "./dom.js";
import { fewestMistakes } from "./engine/fewest.js";
import { plural } from "./numbers.js";

const QUIET_BEFORE_SEARCH = 150; // milliseconds
const MOST_SEARCHED = 500; // points: a search takes a tenth of a second

export function fewestView(app) {
  const node = html("p", { class: "words fewest-words" });
  let [asked, waiting] = [-1, 0];

  function search() {
    const { points, labels, bias } = app.state;
    app.fewest = { ...fewestMistakes(points, labels, bias), settled: app.settled };
    app.redraw();
  }

  app.panels.push(() => {
    const kind = app.answer?.verdict.kind;
    const isWanted = !app.isWide && !app.isLifted && ["touching", "overlapping"].includes(kind);
    const isKnown = isWanted && app.fewest?.settled === app.settled;
    node.hidden = !isKnown;
    if (isKnown)
      node.textContent = `The best line leaves ${plural(app.fewest.wrong, "row")} of ${app.state.points.length} on its wrong side or on it (dotted).`;
    if (!isWanted || asked === app.settled || app.state.points.length > MOST_SEARCHED) return;
    asked = app.settled;
    clearTimeout(waiting);
    waiting = setTimeout(search, QUIET_BEFORE_SEARCH);
  });
  return node;
}
