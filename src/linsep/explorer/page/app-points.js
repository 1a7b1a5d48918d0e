// Points added, moved, flipped and removed.
import { Changes } from "./app-changes.js";
import { inOwnUnits, scaledBy, scalingOf } from "./engine/scaling.js";
import { LARGEST_COORDINATE, tooMany } from "./engine/table.js";
import { decide, sceneOf } from "./engine/verdict.js";
import { viewOf } from "./geometry.js";

// Beyond the largest coordinate a link could not hold the point.
const onThePlane = (point) => point.map((x) => Math.min(Math.max(x, -LARGEST_COORDINATE), LARGEST_COORDINATE));

export class Points extends Changes {
  add(point, label) {
    const [count, most] = [this.state.points.length + 1, this.host.start.limits.points];
    if (count > most) return this.tell(`This would be ${tooMany(count, "points", most)}`);
    return this.change((state) => {
      state.points.push(onThePlane(point));
      state.labels.push(label);
    });
  }

  move(i, point) {
    this.change((state) => {
      state.points[i] = onThePlane(point);
    });
  }

  // A point on its way: one drag is one change.
  drag(i, point, isFirst) {
    if (isFirst) this.past.remember(this.state);
    this.edit((state) => {
      state.points[i] = onThePlane(point);
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

  // Centre and scale the points, or take them back to their own units. Rounding must not change what is true of them.
  setScaled(isScaled) {
    const { points, labels, bias, scaling } = this.state;
    if (isScaled === Boolean(scaling) || !points.length) return;
    const next = isScaled ? scalingOf(points, bias) : null;
    const moved = points.map(next ? scaledBy(next) : inOwnUnits(scaling));
    const kindOf = (rows) => decide(sceneOf(rows, labels, bias)).kind;
    if (kindOf(moved) !== kindOf(points))
      this.tell("Rounding the scaled points would change the verdict: look at them as they are.");
    else
      this.change((state) => {
        Object.assign(state, { points: moved, scaling: next, view: viewOf(moved, !bias) });
      });
  }
}
