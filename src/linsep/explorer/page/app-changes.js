// Changes of the state, with undo, and whole states instead of it.
import { LiftedRun } from "./app-run.js";
import { Past, presetState } from "./state.js";

export class Changes extends LiftedRun {
  constructor(host) {
    super(host);
    this.past = new Past();
    this.kept = null; // the last points that are not an example's
    this.state = this.readFirst() ?? this.state;
  }

  // The names of the columns, where they have any or are not what they were.
  get columns() {
    const { scaling, bias, names: given } = this.state;
    const names = given?.columns ?? (scaling ? ["x₁", "x₂"] : null);
    return scaling ? names.map((name) => `${name} (${bias ? "standardised" : "scaled"})`) : names;
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
    const { axes, keep, challenge } = this.state;
    this.restore({ ...presetState(preset), axes, keep, challenge });
  }

  // Points of one's own: those of a text, with its names; those that were there last; or none.
  loadOwn(table = this.kept ?? { points: [], labels: [], names: null }) {
    this.load({ ...table, bias: this.state.bias });
  }

  restore(state) {
    if (!state) return;
    this.state = state;
    this.stayAtEnd = false;
    this.refresh();
  }

  // Another link in the address.
  follow(hash) {
    const found = this.read(hash);
    const { notice } = this;
    this.restore(found);
    if (found) this.tell(notice);
  }

  undo() {
    this.turnTo(this.past.back(this.state));
  }

  redo() {
    this.turnTo(this.past.forward(this.state));
  }

  // What was told stays told.
  turnTo(state) {
    this.restore(state && { ...state, told: this.state.told });
  }

  settle(answer, note) {
    super.settle(answer, note);
    const { points, labels, names } = this.state;
    if (!this.isWide && points.length && !this.example())
      this.kept = { points: [...points], labels: [...labels], names };
  }
}
