// The asks that wait, for the whole page: its title, its tab and the list of them.

import { get } from "./api.js";
import { say } from "./dom.js";
import { listen } from "./live.js";
import { asText } from "./visible.js";

const kinds = new Set(["connected", "asked", "approved", "rejected", "expired", "canceled"]);
const every = 60000; // a look without a reason: nothing that is missed stays so for long
const changed = new Set();
const settled = new Map(); // what became of asks that do not wait any more
let going = null,
  again = false;

export const asks = { items: [], known: false, error: null };

/** onAsks calls f now and whenever they change. */
export function onAsks(f, signal) {
  changed.add(f);
  signal?.addEventListener("abort", () => changed.delete(f));
  f();
}

/** fate is what became of an ask; "" while that is not known. */
export const fate = (id) => settled.get(id) ?? "";

/** refresh looks which ones there are. While it looks, another call makes it look once more. */
export function refresh() {
  again = true;
  going ??= (async () => {
    while (again) {
      again = false;
      await look();
    }
    going = null;
  })();
  return going;
}

async function look() {
  try {
    const { items } = await get("/v1/approvals");
    const before = new Set(asks.items.map((a) => a.id));
    const fresh = items.filter((a) => !before.has(a.id));
    if (asks.known && fresh.length) {
      const a = fresh[fresh.length - 1];
      say(`New ask by ${a.principal} on ${a.host}: ${asText(a.first_line)}. ${items.length} wait.`);
    }
    Object.assign(asks, { items, known: true, error: null });
  } catch (e) {
    asks.error = e;
  }
  changed.forEach((f) => f());
}

export function start() {
  listen((e) => {
    if (!kinds.has(e.kind)) return;
    if (e.kind !== "asked" && e.kind !== "connected") settled.set(e.id, e.kind);
    refresh();
  });
  setInterval(refresh, every);
}
