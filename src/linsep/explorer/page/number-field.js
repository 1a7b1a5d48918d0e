// A field for one number. What is not such a number is refused in words beside it, and the number in use stays.
import { html } from "./dom.js";

/**
 * @param {any} app
 * @param {{ attributes: Record<string, unknown>, read: (text: string) => number | null, get: () => number | null,
 *   put: (value: number) => void, what: string }} field  `read` gives null for what is refused, `what` says what is not
 */
export function numberField(app, { attributes, read, get, put, what }) {
  const said = html("span", { class: "refused", role: "alert", hidden: true });
  const refuse = (words) => {
    said.hidden = !words;
    said.textContent = words;
  };
  const input = html("input", {
    type: "number",
    ...attributes,
    onchange() {
      const value = read(input.value);
      refuse(value === null ? `${what} It stays ${get()}.` : "");
      if (value === null) input.value = String(get());
      else put(value);
    },
  });
  let drawn = null; // a refusal stays until another number is in use
  app.views.push(() => {
    if (drawn !== get()) refuse("");
    drawn = get();
    if (document.activeElement !== input) input.value = String(drawn ?? "");
  });
  return { input, said };
}
