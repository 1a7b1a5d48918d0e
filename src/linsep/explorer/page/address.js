// The state in the page's address, so that a link reproduces the picture. While the story is told its step is there
// instead, and the state is kept with the entry of the browser's history: it outlasts a reload.
const QUIET = 150; // browsers allow a few hundred such calls a minute, a drag would make thousands

export function pageAddress() {
  let written = location.hash.slice(1);
  let writing = 0;
  const put = ({ hash, kept }, isNew) => {
    if (hash === null || (hash === written && kept === history.state?.kept)) return;
    written = hash;
    history[isNew ? "pushState" : "replaceState"](kept ? { kept } : null, "", `#${hash}`);
  };
  return {
    read: () => location.hash,
    kept: () => history.state?.kept ?? "",
    // `now()` is asked once the page has been still for a while: 500 points are a long text.
    write(now) {
      clearTimeout(writing);
      writing = setTimeout(() => put(now(), false), QUIET);
    },
    // What is shown from here on has an entry of its own: Back leads to what `before` says.
    turn(before, now) {
      clearTimeout(writing);
      put(before, false);
      put(now, true);
    },
    listen(restore) {
      window.addEventListener("hashchange", () => {
        const hash = location.hash.slice(1);
        if (hash === written) return;
        written = hash;
        restore(location.hash);
      });
    },
  };
}
