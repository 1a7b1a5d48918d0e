// The state in the page's address, so that a link reproduces the picture.
const QUIET = 150; // browsers allow a few hundred such calls a minute, a drag would make thousands

export function pageAddress() {
  let written = location.hash.slice(1);
  let writing = 0;
  return {
    read: () => location.hash,
    // `hashOf` is asked once the page has been still for a while: 500 points are a long text.
    write(hashOf) {
      clearTimeout(writing);
      writing = setTimeout(() => {
        const hash = hashOf();
        if (hash === null || hash === written) return;
        written = hash;
        history.replaceState(null, "", `#${hash}`);
      }, QUIET);
    },
    listen(restore) {
      window.addEventListener("hashchange", () => {
        if (location.hash.slice(1) !== written) restore(location.hash);
      });
    },
  };
}
