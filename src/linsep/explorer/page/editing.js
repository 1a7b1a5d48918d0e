// Points changed by hand: with a pointer, and with keys alone.
import { snap, snapStep } from "./geometry.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const WHEEL = 1.0015; // the zoom of one unit of a wheel

// A click adds; a drag moves a point, or else the view; the wheel zooms. `planeAt` turns a place on the plot into a point of the plane, `markNear` finds a mark.
export function editByPointer(app, node, planeAt, markNear) {
  let drag = null;
  let bounds = null; // asked for once a drag: the page is laid out anew for it
  const place = (event) => [event.clientX - bounds.left, event.clientY - bounds.top];
  node.addEventListener("pointerdown", (event) => {
    if (app.isWide || event.button !== 0) return;
    bounds = node.getBoundingClientRect();
    const mark = event.target.closest(".point") ?? (app.state.points.length ? markNear(...place(event)) : null);
    const { cx, cy } = app.state.view;
    const row = mark ? Number(mark.dataset.row) : null;
    drag = { row, start: place(event), moved: false, shift: event.shiftKey, cx, cy };
    if (!mark && event.pointerType === "touch") return; // a finger on empty space scrolls the page
    node.setPointerCapture(event.pointerId);
    (mark ?? node).focus({ preventScroll: true });
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = place(event);
    const [across, down] = [x - drag.start[0], y - drag.start[1]];
    if (!drag.moved && Math.hypot(across, down) <= 3) return;
    const isFinger = event.pointerType === "touch" && drag.row === null;
    if (isFinger && !drag.moved && Math.abs(down) > Math.abs(across)) return end(); // it scrolls the page, not the view
    app.isDragging = drag.row !== null;
    if (drag.row !== null) app.drag(drag.row, planeAt(x, y), !drag.moved);
    else pan(across, down);
    drag.moved = true;
  });
  node.addEventListener("pointerup", (event) => {
    if (drag && drag.row === null && !drag.moved)
      app.add(planeAt(...place(event)), drag.shift ? -app.label : app.label);
    end();
  });
  const end = () => {
    drag = null;
    app.isDragging = false;
    app.redraw();
  };
  node.addEventListener("pointercancel", () => {
    if (drag?.row === null && drag.moved) app.look({ cx: drag.cx, cy: drag.cy }); // the page is scrolled after all
    end();
  });
  const pan = (across, down) => {
    const unit = (2 * app.state.view.half) / Math.min(bounds.width, bounds.height);
    app.look({ cx: drag.cx - across * unit, cy: drag.cy + down * unit });
  };
  zoomByWheel(app, node);
}

function zoomByWheel(app, node) {
  node.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { left, top, width, height } = node.getBoundingClientRect();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const part = [event.clientX - left - width / 2, top + height / 2 - event.clientY];
      app.zoom(
        WHEEL ** (event.deltaY * lines),
        part.map((x) => (2 * x) / Math.min(width, height)),
      );
    },
    { passive: false },
  );
}

// Keys on a point move, flip and delete it; keys on the plane move a cursor and add a point there.
export function editByKeys(app, node, marks, cursor) {
  node.addEventListener("keydown", (event) => {
    if (app.isWide || event.ctrlKey || event.metaKey || event.altKey) return;
    const mark = event.target.closest(".point");
    const handled = mark ? onPoint(Number(mark.dataset.row), event) : onPlane(event);
    if (handled) {
      event.preventDefault();
      event.stopPropagation();
    }
  });

  const moved = (point, event, isFine) => {
    const step = snapStep(app.state.view) * (isFine ? 1 : 4);
    return point.map((x, j) => x + ARROWS[event.key][j] * step);
  };

  function onPoint(i, event) {
    if (event.key in ARROWS) app.move(i, moved(app.state.points[i], event, event.shiftKey));
    else if (event.key === "Delete" || event.key === "Backspace") {
      app.remove(i);
      (marks[Math.min(i, app.state.points.length - 1)] ?? node).focus();
    } else if (event.key === "Enter") app.flip(i);
    else if (event.key.toLowerCase() === "n")
      marks[(i + (event.shiftKey ? marks.length - 1 : 1)) % marks.length].focus();
    else return false;
    return true;
  }

  function onPlane(event) {
    const { cx, cy } = app.state.view;
    const here = cursor.get() ?? [cx, cy].map((x) => snap(x, snapStep(app.state.view)));
    if (event.key in ARROWS) cursor.move(moved(here, event, event.shiftKey));
    else if (event.key === "Enter") {
      cursor.move(here);
      app.add([...here], event.shiftKey ? -app.label : app.label);
    } else return false;
    app.redraw();
    return true;
  }
}
