// What can be taken along: the link, a picture, the points, and the Python code that makes the same run.
import { button, html } from "./dom.js";
import { FEATURE_NAMES } from "./engine/features.js";
import { isBefore } from "./engine/table.js";
import { filmSvg } from "./film.js";

const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "fill-opacity",
  "stroke-opacity",
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "text-anchor",
  "paint-order",
  "display",
  "visibility",
];

// The plot as a file of its own: the looks that the style sheet gives it are written into it.
export function standaloneSvg(node) {
  const copy = node.cloneNode(true);
  const { width, height } = node.getBoundingClientRect();
  const [from, to] = [
    [node, ...node.querySelectorAll("*")],
    [copy, ...copy.querySelectorAll("*")],
  ];
  from.forEach((source, i) => {
    const style = getComputedStyle(source);
    for (const name of DRAWN) to[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role", "aria-label", "data-row"]) to[i].removeAttribute(name);
  });
  for (const reach of copy.querySelectorAll("[display=none]")) reach.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width, height, fill: getComputedStyle(node).backgroundColor }))
    paper.setAttribute(name, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

export async function pictureOf(node, scale = 2) {
  const { width, height } = node.getBoundingClientRect();
  const image = new Image();
  const address = URL.createObjectURL(new Blob([standaloneSvg(node)], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width * scale, height * scale];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @typedef {{ columns: string[] | null, classes: string[] | null }} Named  what the user calls columns and classes */

export const namesOnPage = (app) => ({ columns: app.columns, classes: app.state.names?.classes ?? null });

const cellOf = (words) => (/[",;\t\r\n#]|^\s|\s$/.test(words) ? `"${words.replaceAll('"', '""')}"` : words);

// The points as a table, under the names that they came with.
export function csvOf({ points, labels }, { columns, classes }) {
  const [low, high] = (classes ?? ["-1", "1"]).map(cellOf);
  const rows = points.map((p, i) => `${p[0]},${p[1]},${labels[i] > 0 ? high : low}`);
  return [[...(columns ?? ["x1", "x2"]).map(cellOf), "y"].join(","), ...rows, ""].join("\n");
}

const IN_PYTHON = {
  xy: "X[:, 0] * X[:, 1]",
  xx: "X[:, 0] ** 2",
  yy: "X[:, 1] ** 2",
  r: "np.hypot(*(X[:, :2] - X[:, :2].mean(axis=0)).T)",
};

const isNumber = (text) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);

// The two labels as Python has them, the larger one positive there too; -1 and 1 where that would swap the classes.
function labelsInPython(classes) {
  const [low, high] = classes ?? ["-1", "1"];
  if (isNumber(low) && isNumber(high)) return Number(low) < Number(high) ? [low, high] : ["-1", "1"];
  return isBefore(low, high) ? [JSON.stringify(low), JSON.stringify(high)] : ["-1", "1"];
}

// A script that makes the same run, and with matplotlib the same picture.
export function pythonOf(state, { columns, classes }) {
  const [low, high] = labelsInPython(classes);
  const named = JSON.stringify(columns ?? ["x1", "x2"]);
  const legend = (classes ?? ["-", "+"]).map((name) => JSON.stringify(name));
  const features = state.features.map((name) => `, "${FEATURE_NAMES[name]}"`).join("");
  const rows = state.points.map((p) => `    [${p[0]}, ${p[1]}],`).join("\n");
  const bias = state.bias ? "True" : "False";
  const run = `order="${state.order}", bias=${bias}, random_state=${state.seed}`;
  return `import matplotlib.pyplot as plt
import numpy as np

import linsep

X = np.array([
${rows}
], dtype=float)
y = np.array([${state.labels.map((label) => (label > 0 ? high : low)).join(", ")}])
names = ${named.slice(0, -1)}${features}]

${state.features
  .map(
    (name) => `X = np.column_stack([X, ${IN_PYTHON[name]}])
`,
  )
  .join("")}print(linsep.decide(X, y, bias=${bias}).explain(X, y, names=names))
plt.scatter(*X[y == ${low}, :2].T, marker="o", label=${legend[0]})
plt.scatter(*X[y == ${high}, :2].T, marker="s", label=${legend[1]})
plt.xlabel(names[0])
plt.ylabel(names[1])
${runInPython(run, state)}plt.axis("equal")
plt.legend()
plt.show()
`;
}

// The run up to the update that is shown, and its line; at the start the whole run, and no line.
function runInPython(run, { k, updates, features }) {
  const steps = `
for step in linsep.perceptron_steps(X, y, ${run}, max_updates=${k || updates}):
    print(step.update, step.row, step.w, step.b)
`;
  if (!k || features.length) return steps;
  return `${steps}if step.w.any():
    foot = -step.b * step.w / (step.w @ step.w)  # the point of the line that is nearest to the origin
    plt.axline(foot, foot + [-step.w[1], step.w[0]], color="black")
`;
}

export function exportsMenu(app, root) {
  const said = html("span", { class: "said", role: "status" });
  const give = (name, kind, words) => offer(root, name, new Blob([words], { type: kind }));
  const say = (words) => {
    said.textContent = words;
    setTimeout(() => {
      said.textContent = "";
    }, 2500);
  };
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say("Link copied");
    } catch {
      say("Copy the address from the address bar");
    }
  };
  const plot = () => root.querySelector(app.isWide ? ".table-space" : ".data-space");
  const items = [
    ...(app.host.address ? [button("Copy link", "Copy a link to this picture", copyLink, { class: "copy-link" })] : []),
    save("PNG", "the plot as PNG", async () => offer(root, "linsep.png", await pictureOf(plot()))),
    save("SVG", "the plot as SVG", () => give("linsep.svg", "image/svg+xml", standaloneSvg(plot()))),
    ...(app.isWide ? [] : savedPoints(app, give, say)),
  ];
  return html("div", { class: "exports", role: "group", "aria-label": "Save or share" }, said, ...items);
}

const save = (name, what, act) => button(name, `Save ${what}`, act, { class: `save-${name.toLowerCase()}` });

// What is saved of points of the plane: themselves, and their run.
function savedPoints(app, give, say) {
  const names = () => namesOnPage(app);
  const film = () =>
    app.isLifted
      ? say("A film shows straight lines: switch features and kernel off")
      : give("linsep_film.svg", "image/svg+xml", filmSvg(app.state, app.steps, names().classes));
  const script = () =>
    app.state.kernel
      ? say("The script knows no kernel: switch it off")
      : give("linsep_run.py", "text/x-python", pythonOf(app.state, names()));
  return [
    save("CSV", "the points as CSV", () => give("linsep.csv", "text/csv", csvOf(app.state, names()))),
    save("Film", "the run as an SVG that moves", film),
    save("Python", "the Python code of this run", script),
  ];
}

function offer(root, name, blob) {
  const address = URL.createObjectURL(blob);
  const link = html("a", { href: address, download: name });
  root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
