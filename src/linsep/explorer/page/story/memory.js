// @ts-check
// Whether the story has been seen: in the page's storage and, since each server has a port of its own, in a cookie too.

const NAME = "linsep-story";
const YEAR = 365 * 24 * 3600;

// A page in a frame or from a file may have neither; then every visit is the first.
/**
 * @template T
 * @param {() => T} look
 * @returns {T | null}
 */
function attempt(look) {
  try {
    return look();
  } catch {
    return null;
  }
}

export function wasTold() {
  const stored = attempt(() => localStorage.getItem(NAME));
  return Boolean(stored) || Boolean(attempt(() => document.cookie.includes(`${NAME}=`)));
}

export function rememberTold() {
  attempt(() => localStorage.setItem(NAME, "told"));
  attempt(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: the other way to set one is not in every browser
    document.cookie = `${NAME}=told; path=/; max-age=${YEAR}; samesite=strict`;
  });
}

// The step that an address asks for, counted from 0; null where it asks for none.
/**
 * @param {string} hash
 * @param {number} steps
 */
export function stepOf(hash, steps) {
  const found = /^#?story(?:=(\d+))?$/.exec(hash);
  return found ? Math.min(Math.max(Number(found[1] ?? 1), 1), steps) - 1 : null;
}
