// Looks that are asked for more often than they are worth.

import { alive } from "./life.js";
import { patience } from "./patience.js";

/**
 * paced returns a function that has look done: at once, but one at a time, and the next no sooner than least milliseconds
 * after the one before. However often it is called meanwhile, that is one more. look does not throw.
 */
export function paced(look, signal = alive, least = patience.pace) {
  let wanted = false,
    busy = false;
  return async () => {
    wanted = true;
    if (busy) return;
    busy = true;
    while (wanted && !signal.aborted) {
      wanted = false;
      await look();
      await rest(least, signal);
    }
    busy = false;
  };
}

/** rest is a pause of some milliseconds, shorter where signal aborts. */
export function rest(ms, signal = alive) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
