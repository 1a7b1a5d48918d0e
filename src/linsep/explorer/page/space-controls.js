// The space that the run is in: the plane, the plane and features, or that of a kernel.
import { html, set } from "./dom.js";
import { FEATURE_NAMES } from "./engine/features.js";

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
  const choose = () => {
    const [kind, degree] = select.value.split(":");
    const value = degree ? Number(degree) : Number(width.value) || 2 ** Math.round(Math.log2(app.state.view.half / 4));
    app.change((state) => {
      state.kernel = kind ? { kind, value } : null;
      state.features = [];
    });
  };
  const options = Object.entries(KERNELS).map(([value, words]) => html("option", { value }, words));
  const select = html("select", { class: "kernel", "aria-label": "Kernel", onchange: choose }, ...options);
  const width = html("input", {
    type: "number",
    class: "kernel-width",
    min: 0,
    step: "any",
    "aria-label": "Width of the Gaussian",
    title: "Its width",
    onchange: choose,
  });
  app.views.push(() => {
    const { kernel } = app.state;
    select.value = !kernel ? "" : kernel.kind === "gauss" ? "gauss" : `poly:${kernel.value}`;
    width.hidden = kernel?.kind !== "gauss";
    if (document.activeElement !== width) width.value = kernel?.kind === "gauss" ? String(kernel.value) : "";
  });
  return html("label", { class: "field" }, html("span", { class: "field-name" }, "kernel"), select, width);
}
