// The page in a notebook: questions travel over the widget's own channel.
import { mount } from "./main.js";

export function renderWidget({ model, el }) {
  const waiting = new Map();
  let next = 0;
  model.on("msg:custom", (message) => {
    const done = waiting.get(message.id);
    if (!done) return;
    waiting.delete(message.id);
    if (message.error) done.fail(new Error(message.error));
    else done.give(message.answer);
  });
  const root = document.createElement("div");
  root.classList.add("linsep", "in-notebook");
  followTheme(root);
  keepKeys(root);
  el.append(root);
  mount(root, {
    start: model.get("start"),
    isRecorded: false,
    isWhole: false,
    address: null,
    ask: (name, body) =>
      new Promise((give, fail) => {
        next += 1;
        waiting.set(next, { give, fail });
        model.send({ id: next, name, body });
      }),
  });
}

// JupyterLab says whether it is light or dark; elsewhere the system does.
function followTheme(root) {
  const follow = () => {
    const { jpThemeLight } = document.body.dataset;
    if (jpThemeLight) root.dataset.theme = jpThemeLight === "true" ? "light" : "dark";
  };
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  follow();
}

// JupyterLab hears every key first, and d d deletes the cell, unless the very node in focus asks it not to.
function keepKeys(root) {
  root.addEventListener("focusin", (event) => {
    event.target.dataset.lmSuppressShortcuts = "true";
  });
}
