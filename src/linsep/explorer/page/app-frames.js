// What is shown: the state, what was said about it, and the views that draw it once a frame.
import { readLink } from "./link-parts.js";
import { fromHash, linkFault, presetState, toHash, wideState } from "./state.js";

const UNREAD = "The address stays as it is until you change something.";

export class Frames {
  constructor(host) {
    this.host = host; // start, address, isWhole, embed; for wide rows ask(name, body) and isRecorded
    this.notice = ""; // what went wrong last, in words
    this.label = 1; // of the next point
    this.views = []; // drawn once a frame
    this.panels = []; // drawn once a frame too, but one at a time while a point is dragged
    this.isDragging = false;
    this.frames = 0;
    this.frame = 0;
    this.fewest = null; // the line with the fewest mistakes, and the answer that it belongs to
    this.lit = ""; // the letter that is asked about
    this.litRow = null; // the row that is pointed at, in words about it
    this.telling = null; // the address of the story's step, while it is told
    this.example = () => null; // the preset on view, if it is one
    this.own = host.start.own;
    this.state = this.isWide ? wideState(this.own) : presetState(this.own?.preset ?? host.start.presets[0]);
    this.unread = ""; // what the address would say while it holds a link of which not all could be read
  }

  // Own rows of more than two columns: they are looked at, not moved.
  get isWide() {
    return Boolean(this.own && !this.own.preset);
  }

  // The state that the page begins with: of its address, or from before the story that is there.
  readFirst() {
    const { address, start } = this.host;
    return address && (this.read(address.read()) ?? fromHash(address.kept(), start));
  }

  // The state that an address holds; null where it holds none that can be read. What cannot be used is told.
  read(hash) {
    const { start } = this.host;
    const found = fromHash(hash, start);
    if (!found && (hash.length < 2 || /^#?story\b/.test(hash))) return null;
    const wrong = found ? readLink(hash, start).faults : [linkFault(hash, start), UNREAD];
    this.unread = wrong.length ? toHash(found ?? this.state) : "";
    this.tell(wrong.join(" "));
    return found;
  }

  pointOut(row) {
    this.litRow = row;
    this.redraw();
  }

  tell(words) {
    this.notice = words;
    this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      for (const view of this.views) view();
      this.frames += 1;
      if (this.isDragging) this.panels[this.frames % this.panels.length]?.();
      else for (const panel of this.panels) panel();
      this.host.address?.write(() => this.addressNow());
    });
  }

  // What the address should say, null to leave it as it is; and the state, where that is not in it.
  addressNow() {
    const state = toHash(this.state);
    const hash = this.telling ?? state;
    if (hash === this.unread) return { hash: null };
    this.unread = "";
    return this.telling ? { hash, kept: state } : { hash };
  }

  // Open a step of the story, or with null the sandbox: Back leads to what was there before.
  turnTale(step) {
    const before = this.addressNow();
    this.telling = step;
    this.host.address?.turn(before, this.addressNow());
  }
}
