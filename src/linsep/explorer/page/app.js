// The page's one moving part: a state, the engine's answer to it, and the position in the run. It grows by layers, each
// of which knows only those below it: frames, answers, the run, changes, points.
import { Points } from "./app-points.js";
import { viewOf } from "./geometry.js";

const FIRST_REACH = 20; // updates
const [SMALLEST_VIEW, LARGEST_VIEW] = [1e-6, 4e9];

// On top of all: where one looks.
export class App extends Points {
  fit() {
    this.state.view = viewOf(this.state.points, !this.state.bias);
    this.redraw();
  }

  look(view) {
    const reach = (x) => Math.min(Math.max(x, -LARGEST_VIEW), LARGEST_VIEW);
    const { cx, cy, half } = { ...this.state.view, ...view };
    this.state.view = { cx: reach(cx), cy: reach(cy), half };
    this.redraw();
  }

  // Zoom, with one place standing still: given from the middle of the view, in halves of it.
  zoom(factor, [across, up] = [0, 0]) {
    const { cx, cy, half } = this.state.view;
    const next = Math.min(Math.max(half * factor, SMALLEST_VIEW), LARGEST_VIEW);
    this.look({ cx: cx + across * (half - next), cy: cy + up * (half - next), half: next });
  }

  setBias(bias) {
    this.change((state) => {
      state.bias = bias;
      state.view = viewOf(state.points, !bias);
    });
  }

  // The answer once its verdict may be seen: when it was asked for, or the run has come to its end. Else null.
  get told() {
    const { k, told, kernel } = this.state;
    const end = this.cycle ? this.cycle.start + this.cycle.length : this.total;
    return told || (k > 0 && k >= end && !kernel) ? this.answer : null; // a kernel's run says nothing about lines
  }

  // How far along the run axes and the slider reach. Before the verdict is told they must not tell how long the run is.
  get reach() {
    const { k } = this.state;
    if (this.told || k >= this.total) return this.total;
    return FIRST_REACH * 2 ** Math.max(0, Math.floor(Math.log2(k / FIRST_REACH)) + 1);
  }

  tellVerdict() {
    this.state.told = true;
    this.redraw();
  }

  moveTo(k) {
    this.state.told = Boolean(this.told); // once reached, it stays
    this.state.k = Math.max(0, Math.min(k, this.total));
    this.stayAtEnd = false; // an answer on its way must not move it again
    this.redraw();
  }
}
