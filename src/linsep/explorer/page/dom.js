// Nodes from names, attributes and children. Text only ever becomes a text node: labels and names are hostile.

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const drawn = new WeakMap();

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function html(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

export function math(tag, ...children) {
  return build(document.createElementNS(MATHML, tag), {}, children);
}

export function fill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Fill a node anew only when its key has changed: what stays the same costs nothing to draw.
export function fillOnce(node, key, build) {
  if (drawn.get(node) === key) return node;
  drawn.set(node, key);
  return fill(node, ...build());
}

export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
  return node;
}

// An SVG that is as large as its place on the page: `draw(width, height)` is called when that changes.
export function surface(attributes, draw) {
  const node = svg("svg", attributes);
  const observer = new ResizeObserver(() => {
    const { width, height } = node.getBoundingClientRect();
    if (width < 2 || height < 2) return;
    node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(width, height);
  });
  observer.observe(node);
  return node;
}

/**
 * An SVG with layers, the box of the plane that it shows, and the ways between the two.
 * @param {any} app
 * @param {Record<string, unknown>} attributes
 * @param {string[]} names  of the layers, from below
 * @param {() => void} draw  called when its size has changed
 */
export function plotOf(app, attributes, names, draw) {
  const layers = Object.fromEntries(names.map((name) => [name, svg("g", { class: name })]));
  const plot = {
    app,
    layers,
    size: [0, 0],
    seen: /** @type {any} */ (null), // of wide rows: what was answered
    box: { left: 0, right: 1, bottom: 0, top: 1, unit: 1 },
    at: (/** @type {number[]} */ p) => [(p[0] - plot.box.left) / plot.box.unit, (plot.box.top - p[1]) / plot.box.unit],
    from: (/** @type {number} */ x, /** @type {number} */ y) => [
      plot.box.left + x * plot.box.unit,
      plot.box.top - y * plot.box.unit,
    ],
    node: surface(attributes, (width, height) => {
      plot.size = [width, height];
      draw();
    }),
  };
  plot.node.append(...Object.values(layers));
  return plot;
}

export function card(className, title, ...children) {
  return html("section", { class: `card ${className}`, "aria-label": title }, html("h2", {}, title), ...children);
}

export function relabel(node, words) {
  node.textContent = words;
  return set(node, { title: words, "aria-label": words });
}

export function button(label, title, action, attributes = {}) {
  return html("button", { type: "button", title, "aria-label": title, onclick: action, ...attributes }, label);
}
