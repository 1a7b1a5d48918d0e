// The page on its server: questions go there, and the state lives in the address.
import { fromHash } from "./state.js";
import { mount } from "./main.js";

async function fetchJson(address, options) {
  const response = await fetch(address, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const begin = await fetchJson("/api/start");
let written = "";
let writing = 0;
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
  address: {
    read: () => location.hash,
    write(hash) {
      if (hash === written) return;
      written = hash;
      clearTimeout(writing); // browsers allow a few hundred such calls a minute, a drag would make thousands
      writing = setTimeout(
        () => history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search),
        150,
      );
    },
    listen(restore) {
      window.addEventListener("hashchange", () => {
        if (location.hash.slice(1) !== written) restore(fromHash(location.hash, begin.limits));
      });
    },
  },
});
