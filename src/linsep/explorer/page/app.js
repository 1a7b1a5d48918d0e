// The page's one moving part: a state, the engine's answer to it, and the position in the run.
import { cycleOf, explore } from "./engine/explore.js";
import { lifting } from "./engine/features.js";
import { kernelScore } from "./engine/kernel.js";
import { viewOf } from "./geometry.js";
import { copyOf, fromHash, Past, presetState, toHash, wideState } from "./state.js";

const [SMALLEST_VIEW, LARGEST_VIEW] = [1e-6, 4e9];

export class App {
  constructor(host) {
    this.host = host; // start, address, isWhole, embed; for wide rows ask(name, body) and isRecorded
    this.past = new Past();
    this.found = null; // the answer, once there is one
    this.note = "";
    this.notice = ""; // what went wrong last, in words
    this.kept = null; // the last points that are not an example's
    this.label = 1;
    this.views = []; // drawn once a frame
    this.panels = []; // drawn once a frame too, but one at a time while a point is dragged
    this.isDragging = false;
    this.frames = 0;
    this.cycleOf = null;
    this.lit = ""; // the letter that is asked about
    this.telling = null; // the address of the story's step, while it is told
    this.example = () => null; // the preset on view, if it is one
    this.asking = false;
    this.stale = true; // the answer is not about the state as it is now
    this.frame = 0;
    this.settled = 0; // answers so far: what depends on the answer alone is drawn once for each
    this.own = host.start.own;
    this.state = fromHash(host.address?.read() ?? "", host.start) ?? this.firstState();
  }

  firstState() {
    if (this.isWide) return wideState(this.own);
    return presetState(this.own?.preset ?? this.host.start.presets[0]);
  }

  // Own rows of more than two columns: they are looked at, not moved.
  get isWide() {
    return Boolean(this.own && !this.own.preset);
  }

  // What the engine says about the points: computed when it is first looked at. Of wide rows, what came last.
  get answer() {
    if (this.stale && !this.isWide) this.compute();
    return this.found;
  }

  get steps() {
    return this.answer?.steps ?? { row: [], score: [], w: [], b: [], norm: [], along: null, converged: false };
  }

  // After which update the run repeats itself, and how soon again; null if it does not.
  get cycle() {
    if (this.isWide) return null;
    if (this.cycleOf?.steps !== this.steps)
      this.cycleOf = { steps: this.steps, found: cycleOf(this.steps, this.state.order) };
    return this.cycleOf.found;
  }

  get total() {
    return this.steps.row.length;
  }

  get isDone() {
    return this.steps.converged && this.state.k === this.total;
  }

  // After update k; while a new answer is on its way, k may lie beyond the old one.
  weights(k = this.state.k) {
    const w = this.steps.w?.[k - 1];
    return w ? { w, b: this.steps.b[k - 1] } : { w: [0, 0, ...this.state.features.map(() => 0)], b: 0 };
  }

  // The row that update k corrected, or null before the first.
  corrected(k = this.state.k) {
    return this.steps.row[k - 1] ?? null;
  }

  // Whether the run is on other rows than the points themselves.
  get isLifted() {
    return Boolean(this.state.kernel || this.state.features.length);
  }

  get isLiftedOnce() {
    return this.state.features.length === 1 && !this.state.kernel;
  }

  // A place with its features.
  get lift() {
    return lifting(this.state.points, this.state.features);
  }

  // The score of any place of the plane after update k.
  field(k = this.state.k) {
    const { points, labels, kernel } = this.state;
    if (kernel) return kernelScore(points, labels, this.counts(k), kernel);
    const [{ w, b }, lift] = [this.weights(k), this.lift];
    if (!this.isLifted) return ([x, y]) => w[0] * x + w[1] * y + b;
    return (place) => lift(place).reduce((sum, x, j) => sum + w[j] * x, 0) + b;
  }

  // The score of a row that has its features already.
  heightOf(row) {
    const { w, b } = this.weights();
    return row.reduce((sum, x, j) => sum + w[j] * x, b);
  }

  counts(until = this.state.k) {
    const counts = new Map();
    for (let k = 0; k < Math.min(until, this.total); k += 1) {
      const row = this.steps.row[k];
      counts.set(row, (counts.get(row) ?? 0) + 1);
    }
    return counts;
  }

  // The class of a row, also of one that only the run names.
  labelOf(row) {
    return this.isWide ? this.steps.label[this.steps.row.indexOf(row)] : this.state.labels[row];
  }

  moveTo(k) {
    this.state.k = Math.max(0, Math.min(k, this.total));
    this.stayAtEnd = false; // an answer on its way must not move it again
    this.redraw();
  }

  // Change the points or the run.
  change(edit) {
    this.past.remember(this.state);
    this.edit(edit);
  }

  edit(edit) {
    if (!this.stale) this.stayAtEnd = this.state.k > 0 && this.state.k === this.total;
    edit(this.state);
    this.refresh();
  }

  load(preset) {
    this.past.remember(this.state);
    this.state = { ...presetState(preset), axes: this.state.axes, keep: this.state.keep };
    this.stayAtEnd = false;
    this.refresh();
  }

  // Points of one's own: those of a text, those that were there last, or none.
  loadOwn(table = this.kept) {
    const { points = [], labels = [] } = table ?? {};
    this.load({ points, labels, bias: this.state.bias });
  }

  restore(state) {
    if (!state) return;
    this.state = state;
    this.stayAtEnd = false;
    this.refresh();
  }

  tell(words) {
    this.notice = words;
    this.redraw();
  }

  undo() {
    this.restore(this.past.back(this.state));
  }

  redo() {
    this.restore(this.past.forward(this.state));
  }

  fit() {
    this.state.view = viewOf(this.state.points, !this.state.bias);
    this.redraw();
  }

  look(view) {
    Object.assign(this.state.view, view);
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

  add(point, label) {
    if (this.state.points.length >= this.host.start.limits.points) return;
    this.change((state) => {
      state.points.push(point);
      state.labels.push(label);
    });
  }

  move(i, point) {
    this.change((state) => {
      state.points[i] = point;
    });
  }

  // A point on its way: one drag is one change.
  drag(i, point, isFirst) {
    if (isFirst) this.past.remember(this.state);
    this.edit((state) => {
      state.points[i] = point;
    });
  }

  flip(i) {
    this.change((state) => {
      state.labels[i] = -state.labels[i];
    });
  }

  remove(i) {
    if (i === null || i === undefined || i >= this.state.points.length) return;
    this.change((state) => {
      state.points.splice(i, 1);
      state.labels.splice(i, 1);
    });
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
    const { points, labels } = this.state;
    if (!this.isWide && points.length && !this.example()) this.kept = { points: [...points], labels: [...labels] };
    this.found = answer;
    this.note = note;
    if (answer && this.stayAtEnd) this.state.k = this.total;
    if (answer) this.state.k = Math.min(this.state.k, this.total);
    if (this.isWide) this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      for (const view of this.views) view();
      this.frames += 1;
      if (this.isDragging) this.panels[this.frames % this.panels.length]?.();
      else for (const panel of this.panels) panel();
      this.host.address?.write(() => this.telling ?? toHash(this.state));
    });
  }

  snapshot() {
    return copyOf(this.state);
  }
}
