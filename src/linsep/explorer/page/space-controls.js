// The space that the run is in: the plane, the plane and features, or that of a kernel.
import { html, set } from "./dom.js";
import { FEATURE_NAMES } from "./engine/features.js";
import { isWidth } from "./link-parts.js";
import { numberField } from "./number-field.js";

// More columns than the two: products of them, or a kernel.
export function featureToggles(app) {
  const toggle = (name) => {
    const { features } = app.state;
    app.change((state) => {
      state.features = features.includes(name) ? features.filter((other) => other !== name) : [...features, name];
      state.kernel = null;
    });
  };
  const buttons = Object.entries(FEATURE_NAMES).map(([name, words]) =>
    html(
      "button",
      { type: "button", "data-feature": name, title: `Add the column ${words}`, onclick: () => toggle(name) },
      words,
    ),
  );
  app.views.push(() => {
    for (const node of buttons)
      set(node, { "aria-pressed": String(app.state.features.includes(node.dataset.feature)) });
  });
  return html(
    "div",
    { class: "field" },
    html("span", { class: "field-name" }, "features"),
    html("div", { class: "segments features", role: "group", "aria-label": "Features" }, ...buttons),
  );
}

const KERNELS = {
  "": "no kernel",
  "poly:2": "(x·x′ + 1)²",
  "poly:3": "(x·x′ + 1)³",
  "poly:4": "(x·x′ + 1)⁴",
  gauss: "Gaussian",
};

export function kernelPicker(app) {
  const use = (kernel) => app.change((state) => Object.assign(state, { kernel, features: [] }));
  const choose = () => {
    const [kind, degree] = select.value.split(":");
    use(kind ? { kind, value: degree ? Number(degree) : 2 ** Math.round(Math.log2(app.state.view.half / 4)) } : null);
  };
  const options = Object.entries(KERNELS).map(([value, words]) => html("option", { value }, words));
  const select = html("select", { class: "kernel", "aria-label": "Kernel", onchange: choose }, ...options);
  const width = numberField(app, {
    attributes: {
      class: "kernel-width",
      min: 0,
      step: "any",
      "aria-label": "Width of the Gaussian",
      title: "Its width",
    },
    read: (text) => (isWidth(Number(text)) ? Number(text) : null),
    get: () => (app.state.kernel?.kind === "gauss" ? app.state.kernel.value : null),
    put: (value) => use({ kind: "gauss", value }),
    what: "A width is a number above 0 and below 10⁹.",
  });
  app.views.push(() => {
    const { kernel } = app.state;
    select.value = !kernel ? "" : kernel.kind === "gauss" ? "gauss" : `poly:${kernel.value}`;
    width.input.hidden = kernel?.kind !== "gauss";
  });
  return html(
    "label",
    { class: "field" },
    html("span", { class: "field-name" }, "kernel"),
    select,
    width.input,
    width.said,
  );
}
