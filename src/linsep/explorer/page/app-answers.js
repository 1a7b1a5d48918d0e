// What is known about the state: computed here for points, asked for wide rows.
import { Frames } from "./app-frames.js";
import { explore } from "./engine/explore.js";

export class Answers extends Frames {
  constructor(host) {
    super(host);
    this.found = null; // the answer, once there is one
    this.note = ""; // why there is none
    this.asking = false;
    this.stale = true; // the answer is not about the state as it is now
    this.settled = 0; // answers so far: what depends on the answer alone is drawn once for each
    this.stayAtEnd = false;
  }

  // What the engine says about the points: computed when it is first looked at. Of wide rows, what came last.
  get answer() {
    if (this.stale && !this.isWide) this.compute();
    return this.found;
  }

  // The state has changed: points are computed with the next frame, wide rows asked about.
  refresh() {
    this.stale = true;
    this.notice = "";
    this.redraw();
    if (this.isWide) this.askAll();
  }

  compute() {
    this.stale = false;
    try {
      this.settle(explore(this.state), "");
    } catch (error) {
      this.settle(null, error.message);
    }
  }

  // While an answer is on its way, further changes are gathered into the next question.
  async askAll() {
    if (this.asking) return;
    this.asking = true;
    while (this.stale) {
      this.stale = false;
      const { order, bias, seed, updates } = this.state;
      try {
        this.settle(await this.host.ask("run", { order, bias, seed, updates }), "");
      } catch (error) {
        this.settle(null, error.message);
      }
    }
    this.asking = false;
    this.redraw();
  }

  settle(answer, note) {
    this.settled += 1;
    [this.found, this.note] = [answer, note];
    const total = answer?.steps.row.length ?? Infinity;
    this.state.k = answer && this.stayAtEnd ? total : Math.min(this.state.k, total);
    if (this.isWide) this.redraw();
  }
}
