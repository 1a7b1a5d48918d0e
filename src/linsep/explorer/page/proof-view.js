// The proof of Novikoff's theorem, live: k·γ <= W·u* <= |W| <= √k·R, and the wall where the outer two meet.
import { fill, fillOnce, html, math, surface, svg } from "./dom.js";
import { path, ticks } from "./geometry.js";
import { plural, show } from "./numbers.js";

/** @type {[string, string, () => Element][]} */
const LINKS = [
  ["floor", "k γ", () => math("mrow", math("mi", "k"), math("mi", "γ"))],
  [
    "along",
    "W·u*",
    () => math("mrow", math("mi", "W"), math("mo", "·"), math("msup", math("mi", "u"), math("mo", "*"))),
  ],
  ["norm", "|W|", () => math("mrow", math("mo", "|"), math("mi", "W"), math("mo", "|"))],
  ["ceiling", "√k R", () => math("mrow", math("msqrt", math("mi", "k")), math("mi", "R"))],
];

export function proofView(app) {
  const chain = html("div", { class: "chain" });
  const words = html("p", { class: "words" });
  const choice = html("div", { class: "segments small", role: "group", "aria-label": "How far the axis reaches" });
  let size = [0, 0];
  const node = surface(
    { class: "chart proof-chart", role: "img", "aria-label": "The four quantities of the proof over the updates" },
    (width, height) => {
      size = [width, height];
      draw();
    },
  );

  const [base, moving] = [svg("g"), svg("g")];
  node.append(base, moving);

  function numbers() {
    const k = app.state.k;
    const bound = app.answer?.bound;
    return {
      floor: bound ? k * bound.gamma : null,
      along: k === 0 ? 0 : (app.steps.along?.[k - 1] ?? null),
      norm: k === 0 ? 0 : (app.steps.norm[k - 1] ?? 0),
      ceiling: Math.sqrt(k) * (app.answer?.radius ?? 0),
    };
  }

  function draw() {
    if (!app.answer) {
      for (const part of [chain, words, base]) fillOnce(part, "", () => []);
      return fill(moving);
    }
    drawChain();
    drawWords();
    drawChoice();
    return size[0] > 2 ? drawChart() : null;
  }

  function drawChain() {
    const values = numbers();
    const shown = app.answer.bound ? LINKS : LINKS.slice(2);
    fillOnce(chain, String(shown.length), () =>
      shown.flatMap(([name, label, formula], i) => [
        i ? html("span", { class: "at-most", "aria-hidden": "true" }, "≤") : null,
        html(
          "span",
          { class: `link ${name}`, "aria-label": label },
          math("math", formula()),
          html("output", { "data-name": name }),
        ),
      ]),
    );
    for (const cell of chain.querySelectorAll("output")) {
      const value = values[cell.dataset.name];
      if (cell.dataset.value === String(value)) continue;
      cell.dataset.value = String(value);
      cell.textContent = show(value);
    }
  }

  function drawWords() {
    const bound = app.answer.bound;
    const total = app.total;
    if (!bound) {
      const why = app.state.kernel
        ? "With a kernel R² is the largest K(x, x). γ is the margin in the kernel’s space: there is a wall if that is above 0, and it is not computed here."
        : app.answer.verdict.kind === "separable"
          ? "The margin is too thin for the numbers of a chart."
          : `No ${app.isWide ? "hyperplane" : "line"} separates these rows, so there is no u*, no floor and no wall: the updates never end.`;
      return fillOnce(words, why, () => [why]);
    }
    const wall = html("strong", { "data-name": "bound", "data-value": String(bound.bound) }, show(bound.bound));
    const end = app.steps.converged
      ? `This run needed ${plural(total, "update")}.`
      : `The first ${show(total)} updates are recorded.`;
    return fillOnce(words, String(app.settled), () => [
      "Floor and ceiling meet at ",
      math(
        "math",
        math(
          "msup",
          math("mrow", math("mo", "("), math("mi", "R"), math("mo", "/"), math("mi", "γ"), math("mo", ")")),
          math("mn", "2"),
        ),
      ),
      ` = (${show(bound.radius)} / ${show(bound.gamma)})² = `,
      wall,
      ". No run can pass that wall. ",
      end,
    ]);
  }

  function drawChoice() {
    const reaches = reach();
    if (!app.answer.bound) return fillOnce(choice, "", () => []);
    const option = (name, label) =>
      html(
        "button",
        {
          type: "button",
          "aria-pressed": String(reaches === name),
          onclick: () => {
            app.state.axes = name;
            app.redraw();
          },
        },
        label,
      );
    return fillOnce(choice, reaches, () => [option("wall", "to the wall"), option("run", "this run")]);
  }

  function reach() {
    const { axes } = app.state;
    if (!app.answer.bound || app.answer.bound.bound === null) return "run";
    return axes === "auto" ? (app.answer.bound.bound > 30 * Math.max(app.total, 1) ? "run" : "wall") : axes;
  }

  function drawChart() {
    const [width, height] = size;
    const { bound, radius } = app.answer;
    const far = reach() === "wall" ? bound.bound * 1.08 : Math.max(app.total, 1) * 1.08;
    const tallest = Math.sqrt(far) * radius * 1.06;
    const pad = { left: 38, right: 12, top: 10, bottom: 24 };
    const x = (k) => pad.left + (k / far) * (width - pad.left - pad.right);
    const y = (v) => height - pad.bottom - (Math.max(v, 0) / tallest) * (height - pad.top - pad.bottom);
    const curve = (f, until) => Array.from({ length: 97 }, (_, i) => (until * i) / 96).map((k) => [x(k), y(f(k))]);
    const ceiling = (k) => Math.sqrt(k) * radius;
    const wall = bound && bound.bound !== null && bound.bound <= far ? bound.bound : null;
    const floorEnd = bound ? Math.min(far, wall ? wall * 1.06 : far) : 0;
    const lens = bound ? [...curve(ceiling, wall ?? far), ...curve((k) => k * bound.gamma, wall ?? far).reverse()] : [];
    const run = (values) => [[x(0), y(0)], ...values.map((v, i) => [x(i + 1), y(v)])];
    const toCome = (name, values) => (values ? svg("path", { class: `${name} to-come`, d: path(run(values)) }) : null);
    const been = (name, values) =>
      values ? svg("path", { class: `${name} been`, d: path(run(values.slice(0, app.state.k))) }) : null;
    const here = numbers();
    const dot = (name) =>
      here[name] === null
        ? null
        : svg("circle", { class: `${name} dot`, cx: x(app.state.k), cy: y(here[name]), r: 3.6 });
    // What only the answer and the size decide; then what moves with the run.
    fillOnce(base, `${app.settled} ${reach()} ${size}`, () => [
      ...ticks(0, far, Math.round(width / 90)).map((k) =>
        svg("text", { class: "tick", x: x(k), y: height - 7 }, show(k)),
      ),
      ...ticks(0, tallest, 4)
        .slice(1)
        .flatMap((v) => [
          svg("path", { class: "grid", d: `M${pad.left} ${y(v)}H${width - pad.right}` }),
          svg("text", { class: "tick right", x: pad.left - 6, y: y(v) + 4 }, show(v)),
        ]),
      svg("path", { class: "axis", d: `M${pad.left} ${y(0)}H${width - pad.right}` }),
      bound ? svg("path", { class: "lens", d: path(lens, true) }) : null,
      svg("path", { class: "ceiling curve", d: path(curve(ceiling, far)) }),
      bound ? svg("path", { class: "floor curve", d: path(curve((k) => k * bound.gamma, floorEnd)) }) : null,
      wall ? svg("path", { class: "wall", d: `M${x(wall)} ${pad.top}V${y(0)}` }) : null,
      wall ? svg("text", { class: "wall-name", x: x(wall) - 7, y: y(0) - 8 }, `(R/γ)² = ${show(wall)}`) : null,
      bound && !wall
        ? svg(
            "text",
            { class: "wall-name", x: width - pad.right - 4, y: y(0) - 8 },
            `the wall stands at ${show(bound.bound)} →`,
          )
        : null,
      toCome("norm", app.steps.norm),
      toCome("along", app.steps.along),
    ]);
    fill(
      moving,
      svg("path", { class: "now", d: `M${x(app.state.k)} ${pad.top}V${y(0)}` }),
      been("norm", app.steps.norm),
      been("along", app.steps.along),
      dot("norm"),
      dot("along"),
    );
  }

  app.panels.push(draw);
  return html("div", { class: "proof" }, choice, node, chain, words);
}
