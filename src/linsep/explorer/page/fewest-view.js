// Where classes overlap: the best that one can do, found when the page has been still for a moment.
import { html } from "./dom.js";
import { fewestMistakes, MOST_SEARCHED } from "./engine/fewest.js";
import { plural } from "./numbers.js";

const QUIET_BEFORE_SEARCH = 150; // milliseconds

const UNLIKE = 500; // times as wide: the narrow column of the picture is a few pixels

// The picture has one unit for both columns.
function unlikeScales({ points, scaling }) {
  if (scaling || !points.length) return "";
  const [x, y] = [0, 1].map((j) => {
    const values = points.map((point) => point[j]);
    return Math.max(...values) - Math.min(...values);
  });
  const isUnlike = Math.min(x, y) > 0 && Math.max(x / y, y / x) > UNLIKE;
  return isUnlike ? " The columns have very different scales: “centred and scaled” shows both." : "";
}

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
    if (isKnown) node.textContent = fewestWords(app) + unlikeScales(app.state);
    if (app.isDragging || !isWanted || asked === app.settled || app.state.points.length > MOST_SEARCHED) return;
    asked = app.settled;
    clearTimeout(waiting);
    waiting = setTimeout(search, QUIET_BEFORE_SEARCH);
  });
  return node;
}

function fewestWords({ fewest, state }) {
  const { length } = state.points;
  const rows = plural(fewest.wrong, "row");
  if (fewest.w.some(Boolean)) return `The best line leaves ${rows} of ${length} on its wrong side or on it (dotted).`;
  if (!state.bias) return "Every line through the origin has every row on it.";
  return `No line does better than to call every row of the larger class: ${rows} of ${length} wrong.`;
}
