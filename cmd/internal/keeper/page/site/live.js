// What happens in the keeper, told to whoever listens here. The connection is made again where it was lost. A tab that nobody
// sees has none: browsers have few for all of a page's tabs.

import { onLate, open } from "./api.js";
import { alive, ends } from "./life.js";
import { rest } from "./pace.js";
import { patience } from "./patience.js";
import { events } from "./sse.js";

const first = 500,
  most = 15000; // milliseconds between attempts
const listeners = new Set();
let last = "",
  attempt = new AbortController();

/** listen calls f with each event {kind, id, …}, and with {kind: "connected"} whenever something may have been missed. */
export function listen(f, signal) {
  listeners.add(f);
  signal?.addEventListener("abort", () => listeners.delete(f));
}

const tell = (e) => listeners.forEach((f) => f(e));
const isHidden = () => document.visibilityState !== "visible";

/**
 * follow goes on until the page is over. lost is called with the time of the next attempt, or null once all is well; ended
 * when nobody has taken a connection for so long that nobody will.
 */
export async function follow({ lost, ended }) {
  let since = 0; // when the first connection in a row was refused
  for (let wait = first; !alive.aborted;) {
    if (isHidden()) {
      await pause(most);
      continue;
    }
    attempt = new AbortController();
    const { signal } = attempt;
    document.addEventListener("visibilitychange", () => isHidden() && attempt.abort(), { signal });
    try {
      const body = await open("/v1/events", { signal, headers: last ? { "Last-Event-ID": last } : {} });
      lost(null);
      [wait, since] = [first, 0];
      tell({ kind: "connected" });
      for await (const e of events(body)) {
        last = e.id || last;
        tell(e.data.kind === "missed" ? { kind: "connected" } : e.data);
      }
    } catch (e) {
      since = e.refused ? since || Date.now() : 0;
    }
    attempt.abort();
    if (alive.aborted || isHidden()) continue;
    if (since && Date.now() - since >= patience.refused) return ended();
    lost(Date.now() + wait);
    await pause(wait);
    wait = Math.min(wait * 2, most);
  }
}

/** pause ends early when the machine is back on a network, or somebody looks at the page again. */
async function pause(ms) {
  const early = new AbortController(),
    stop = () => early.abort();
  addEventListener("online", stop, { signal: early.signal });
  document.addEventListener("visibilitychange", stop, { signal: early.signal });
  alive.addEventListener("abort", stop, { signal: early.signal });
  await rest(ms, early.signal);
  stop();
}

// An answer that did not come in time says that this connection may be dead, too.
onLate(() => attempt.abort());
ends(() => (attempt.abort(), listeners.clear()));
