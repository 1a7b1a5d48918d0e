// @ts-check
// Whether the story has been seen: in the page's storage and, since each server has a port of its own, in a cookie too.

const NAME = "linsep-story";
const STORY_LINK = /^#?story(?:=(.*))?$/;
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

// The step that an address asks for, counted from 0; null where it asks for none. Of a wrong number it is the nearest.
/**
 * @param {string} hash
 * @param {number} steps
 */
export function stepOf(hash, steps) {
  const found = STORY_LINK.exec(hash);
  return found ? Math.min(Math.max(Number.parseInt(found[1] ?? "1", 10) || 1, 1), steps) - 1 : null;
}

// What is wrong with the step that an address asks for, in words, or "".
/**
 * @param {string} hash
 * @param {number} steps
 */
export function stepFault(hash, steps) {
  const asked = STORY_LINK.exec(hash)?.[1] ?? "1";
  const isStep = /^\d+$/.test(asked) && Number(asked) >= 1 && Number(asked) <= steps;
  if (isStep) return "";
  return `The story has the steps 1 to ${steps}, and this link asks for “${asked.slice(0, 30)}”.`;
}
