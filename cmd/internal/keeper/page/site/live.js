// What happens in the keeper, told to whoever listens here. The connection is made again where it was lost.

import { open, entered } from "./api.js";
import { events } from "./sse.js";

const first = 500,
  most = 15000; // milliseconds between attempts
const listeners = new Set();
let last = "";

/** listen calls f with each event {kind, id, …}, and with {kind: "connected"} whenever something may have been missed. */
export function listen(f, signal) {
  listeners.add(f);
  signal?.addEventListener("abort", () => listeners.delete(f));
}

const tell = (e) => listeners.forEach((f) => f(e));

/** follow goes on until the page is over. lost is called with the time of the next attempt, or null once all is well. */
export async function follow(lost) {
  for (let wait = first; entered();) {
    try {
      const body = await open("/v1/events", { headers: last ? { "Last-Event-ID": last } : {} });
      lost(null);
      wait = first;
      tell({ kind: "connected" });
      for await (const e of events(body)) {
        last = e.id || last;
        tell(e.data.kind === "missed" ? { kind: "connected" } : e.data);
      }
    } catch (e) {
      if (e.status === 401) return;
    }
    lost(Date.now() + wait);
    await pause(wait);
    wait = Math.min(wait * 2, most);
  }
}

/** pause ends early when the machine is back on a network, or somebody looks at the page again. */
function pause(ms) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", done);
  });
}
