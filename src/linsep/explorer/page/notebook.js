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
