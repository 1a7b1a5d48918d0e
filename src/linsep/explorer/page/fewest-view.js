// Where classes overlap: the best that one can do, found when the page has been still for a moment.
import { html } from "./dom.js";
import { fewestMistakes, MOST_SEARCHED } from "./engine/fewest.js";
import { plural } from "./numbers.js";

const QUIET_BEFORE_SEARCH = 150; // milliseconds

export function fewestView(app) {
  const node = html("p", { class: "words fewest-words" });
  let [asked, waiting] = [-1, 0];

  // Not while a point is dragged: a search takes longer than a frame may.
  function search() {
    if (app.isDragging) {
      asked = -1;
      return;
    }
    const { points, labels, bias } = app.state;
    app.fewest = { ...fewestMistakes(points, labels, bias), settled: app.settled };
    app.redraw();
  }

  app.panels.push(() => {
    const kind = app.told?.verdict.kind;
    const isWanted = !app.isWide && !app.isLifted && kind === "overlapping";
    const isKnown = isWanted && app.fewest?.settled === app.settled;
    node.hidden = !isKnown;
    if (isKnown)
      node.textContent = app.fewest.w.some(Boolean)
        ? `The best line leaves ${plural(app.fewest.wrong, "row")} of ${app.state.points.length} on its wrong side or on it (dotted).`
        : !app.state.bias
          ? "Every line through the origin has every row on it."
          : `No line does better than to call every row of the larger class: ${plural(app.fewest.wrong, "row")} of ${app.state.points.length} wrong.`;
    if (app.isDragging || !isWanted || asked === app.settled || app.state.points.length > MOST_SEARCHED) return;
    asked = app.settled;
    clearTimeout(waiting);
    waiting = setTimeout(search, QUIET_BEFORE_SEARCH);
  });
  return node;
}
