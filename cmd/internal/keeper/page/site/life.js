// How long this page is somebody's. What goes on by itself ends with it; a page that is over stays so until it is loaded anew.

const life = new AbortController();

/** alive aborts when the page is over. */
export const alive = life.signal;

/** end ends it. */
export const end = () => life.abort();

/** ends calls f when the page is over: to forget what it knew. */
export function ends(f) {
  alive.addEventListener("abort", f, { once: true });
}
