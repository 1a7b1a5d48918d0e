// The run as a film: back, step, play, scrub.
import { button, fill, html, set } from "./dom.js";
import { show } from "./numbers.js";

// The slider along the run. While it is held its end stays where it is.
function slider(app) {
  let isHeld = false;
  const hold = (isNow) => () => {
    isHeld = isNow;
    app.redraw();
  };
  const node = html("input", {
    type: "range",
    class: "scrub",
    min: 0,
    max: 0,
    value: 0,
    step: 1,
    "aria-label": "Update",
    oninput: () => app.moveTo(Number(node.value)),
    onpointerdown: hold(true),
    onpointerup: hold(false),
    onpointercancel: hold(false),
  });
  app.views.push(() => {
    if (!isHeld) set(node, { max: app.reach });
    node.value = String(app.state.k);
  });
  return node;
}

export function transport(app) {
  const back = button("◀", "Back one update (Shift+space)", () => app.moveTo(app.state.k - 1), { class: "back" });
  const step = button("Step", "Step: one update (space)", () => app.moveTo(app.state.k + 1), { class: "step primary" });
  const play = button("Play", "Play or pause (p)", () => player.toggle(), { class: "play" });
  const scrub = slider(app);
  const count = html("output", { class: "count-of", "data-name": "update" });
  const speed = html("input", {
    type: "range",
    class: "speed",
    min: 0,
    max: 100,
    value: 30,
    "aria-label": "Speed",
    title: "Speed",
  });
  const more = button(
    "Record more",
    "Record more updates",
    () =>
      app.change((state) => {
        state.updates = Math.min(state.updates * 5, app.host.start.limits.updates);
      }),
    { class: "more quiet" },
  );
  const player = playerOf(app, () => 10 ** (Number(speed.value) / 33));

  app.views.push(() => {
    const all = app.told ? ` / ${show(app.total)}${app.steps.converged ? "" : "+"}` : "";
    scrub.setAttribute("aria-valuetext", `update ${app.state.k}${all}`);
    fill(count, `${show(app.state.k)}${all}`);
    count.dataset.value = String(app.state.k);
    fill(play, player.isPlaying() ? "Pause" : "Play");
    back.disabled = app.state.k === 0;
    step.disabled = app.state.k >= app.total;
    more.hidden = !canRecordMore(app);
  });
  app.toggle = player.toggle;
  return html(
    "div",
    { class: "transport", role: "group", "aria-label": "The run" },
    back,
    step,
    play,
    scrub,
    count,
    html("label", { class: "speed-of" }, html("span", {}, "speed"), speed),
    more,
  );
}

function canRecordMore(app) {
  const isAtEnd = app.answer && !app.steps.converged && app.state.k >= app.total;
  return isAtEnd && app.state.updates < app.host.start.limits.updates && !(app.isWide && app.host.isRecorded);
}

// Plays the run at a rate of updates a second.
function playerOf(app, rateNow) {
  let timer = 0;

  function toggle() {
    if (timer) return pause();
    if (app.state.k === app.total) app.moveTo(0);
    timer = setTimeout(tick, 0);
    return app.redraw();
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    app.redraw();
  }

  // From one update a second to about a thousand: beyond the frame rate, several at a time.
  function tick() {
    const rate = rateNow();
    app.moveTo(app.state.k + Math.max(1, Math.round(rate / 40)));
    if (app.state.k >= app.total) return pause();
    timer = setTimeout(tick, Math.max(25, 1000 / rate));
    return timer;
  }

  return { toggle, isPlaying: () => timer !== 0 };
}
