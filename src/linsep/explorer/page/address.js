// The state in the page's address, so that a link reproduces the picture. While the story is told its step is there
// instead, and the state is kept with the entry of the browser's history: it outlasts a reload.
const QUIET = 150; // browsers allow a few hundred such calls a minute, a drag would make thousands

export function pageAddress() {
  let asked = location.hash.slice(1);
  let written = asked; // the same as the browser writes it
  let writing = 0;
  const isHere = () => location.hash.slice(1) === written;
  const put = ({ hash, kept }, isNew) => {
    if (hash === null || (hash === asked && kept === history.state?.kept)) return;
    history[isNew ? "pushState" : "replaceState"](kept ? { kept } : null, "", `#${hash}`);
    asked = hash;
    written = location.hash.slice(1);
  };
  return {
    read: () => location.hash,
    kept: () => history.state?.kept ?? "",
    // `now()` is asked once the page has been still for a while: 500 points are a long text. After Back or Forward
    // the entry is another, and `listen` is about to hear of it.
    write(now) {
      clearTimeout(writing);
      writing = setTimeout(() => isHere() && put(now(), false), QUIET);
    },
    // What is shown from here on has an entry of its own: Back leads to what `before` says.
    turn(before, now) {
      clearTimeout(writing);
      put(before, false);
      put(now, true);
    },
    listen(restore) {
      window.addEventListener("hashchange", () => {
        if (isHere()) return;
        asked = written = location.hash.slice(1);
        restore(location.hash);
      });
    },
  };
}
