// The weight space, for lines through the origin: a row allows one half of it, all rows together a cone.
import { arrow, drawGrid } from "./marks.js";
import { boxOf, corners, cut, path } from "./geometry.js";
import { fill, surface, svg } from "./dom.js";

export function weightView(app) {
  const layers = Object.fromEntries(
    ["cone", "grid", "rows", "path", "now"].map((name) => [name, svg("g", { class: name })]),
  );
  let size = [0, 0];
  const node = surface(
    {
      class: "plot weight-space",
      role: "img",
      "aria-label": "Weight space: each row allows one half-plane, the path of w enters the cone they share.",
    },
    (width, height) => {
      size = [width, height];
      draw();
    },
  );
  node.append(...Object.values(layers));

  function draw() {
    if (size[0] < 2 || app.state.bias || !app.answer || app.isWide) return;
    const visited = [[0, 0], ...app.steps.w];
    const half = 1.25 * Math.max(...visited.flat().map(Math.abs), 1e-9);
    const box = boxOf({ cx: 0, cy: 0, half }, ...size);
    const at = (p) => [(p[0] - box.left) / box.unit, (box.top - p[1]) / box.unit];
    const signed = app.state.points.map((p, i) => [p[0] * app.state.labels[i], p[1] * app.state.labels[i]]);
    drawGrid(layers.grid, box, at, size);
    const cone =
      app.answer.verdict.kind === "separable" ? signed.reduce((polygon, z) => cut(polygon, z, 0), corners(box)) : [];
    fill(layers.cone, cone.length > 2 ? svg("path", { class: "feasible", d: path(cone.map(at), true) }) : null);
    const now = app.corrected();
    const far = Math.hypot(box.right, box.top) * 2;
    fill(
      layers.rows,
      ...signed.map((z, i) => {
        const length = Math.hypot(...z);
        if (!length) return null;
        const along = [(-z[1] / length) * far, (z[0] / length) * far];
        const shaded =
          i === now
            ? svg("path", { class: "forbidden", d: path(cut(corners(box), [-z[0], -z[1]], 0).map(at), true) })
            : null;
        const name = `constraint ${app.state.labels[i] > 0 ? "plus" : "minus"}${i === now ? " current" : ""}`;
        return svg("g", {}, shaded, svg("path", { class: name, d: path([at([-along[0], -along[1]]), at(along)]) }));
      }),
    );
    const upTo = visited.slice(0, app.state.k + 1).map(at);
    fill(
      layers.path,
      svg("path", { class: "to-come", d: path(visited.map(at)) }),
      svg("path", { class: "been", d: path(upTo) }),
      ...(upTo.length <= 80 ? upTo.map(([cx, cy]) => svg("circle", { class: "stop", cx, cy, r: 2.6 })) : []),
    );
    const [cx, cy] = upTo.at(-1);
    const name = now !== null && app.state.labels[now] > 0 ? "plus" : "minus";
    fill(
      layers.now,
      now === null ? null : arrow(`update ${name}`, upTo.at(-2), [cx, cy]),
      svg("circle", { class: "here", cx, cy, r: 5.5 }),
    );
  }

  app.views.push(draw);
  return node;
}
