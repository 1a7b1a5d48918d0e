// The page on its server: questions go there, and the state lives in the address.
import { pageAddress } from "./address.js";
import { mount } from "./main.js";

async function fetchJson(address, options) {
  const response = await fetch(address, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const begin = await fetchJson("/api/start");
mount(document.getElementById("explorer"), {
  start: begin,
  isRecorded: false,
  isWhole: true,
  embed: new URLSearchParams(location.search).has("embed"),
  ask: (name, body) =>
    fetchJson(`/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  address: pageAddress(),
});
