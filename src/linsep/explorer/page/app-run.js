// The run: its weights, the rows it corrected, and the score of any place after each update.
import { Answers } from "./app-answers.js";
import { cycleOf } from "./engine/explore.js";
import { lifting } from "./engine/features.js";
import { kernelScore } from "./engine/kernel.js";

const NO_STEPS = { row: [], label: [], score: [], w: [], b: [], norm: [], along: null, converged: false };

export class Run extends Answers {
  get steps() {
    return this.answer?.steps ?? NO_STEPS;
  }

  get total() {
    return this.steps.row.length;
  }

  get isDone() {
    return this.steps.converged && this.state.k === this.total;
  }

  // After which update the run repeats itself, and how soon again; null if it does not.
  get cycle() {
    if (this.isWide) return null;
    if (this.looked?.steps !== this.steps)
      this.looked = { steps: this.steps, cycle: cycleOf(this.steps, this.state.order) };
    return this.looked.cycle;
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

  counts(until = this.state.k) {
    const counts = new Map();
    for (const row of this.steps.row.slice(0, until)) counts.set(row, (counts.get(row) ?? 0) + 1);
    return counts;
  }

  // The class of a row, also of one that only the run names.
  labelOf(row) {
    return this.isWide ? this.steps.label[this.steps.row.indexOf(row)] : this.state.labels[row];
  }
}

// The run in the space that it is in: the plane, the plane and features, or that of a kernel.
export class LiftedRun extends Run {
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
}
