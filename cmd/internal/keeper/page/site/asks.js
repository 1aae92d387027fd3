// The asks that wait, for the whole page: its title, its tab and the list of them.

import { get } from "./api.js";
import { say } from "./dom.js";
import { alive, ends } from "./life.js";
import { listen } from "./live.js";
import { paced } from "./pace.js";
import { asText } from "./visible.js";

const kinds = new Set(["connected", "asked", "approved", "rejected", "expired", "canceled", "revoked"]);
const seldom = 60000, // a look without a reason: nothing that is missed stays so for long
  unseen = 15000; // where nobody sees the page and it hears of nothing, but its title tells
const changed = new Set();
const settled = new Map(); // what became of asks that do not wait any more
let looked = 0;

const nothing = { items: [], known: false, error: null, told: "" };

/** asks are what is known of them. told is what the list says of an answer that was given here, once. */
export const asks = { ...nothing };

/** onAsks calls f now and whenever they change. */
export function onAsks(f, signal) {
  changed.add(f);
  signal?.addEventListener("abort", () => changed.delete(f));
  f();
}

/** fate is what became of an ask; "" while that is not known. */
export const fate = (id) => settled.get(id) ?? "";

/** answered takes an ask off the list that was answered here, and returns the id of the one that stands in its place. */
export function answered(id, how, told) {
  settled.set(id, how);
  asks.told = told;
  const at = asks.items.findIndex((a) => a.id === id);
  asks.items = asks.items.filter((a) => a.id !== id);
  changed.forEach((f) => f());
  refresh();
  return asks.items[Math.min(Math.max(at, 0), asks.items.length - 1)]?.id ?? "";
}

/** refresh looks which ones there are. */
export const refresh = paced(look);

async function look() {
  looked = Date.now();
  try {
    const { items } = await get("/v1/approvals");
    const before = new Set(asks.items.map((a) => a.id));
    const fresh = items.filter((a) => !before.has(a.id));
    if (asks.known && fresh.length) {
      const a = fresh[fresh.length - 1];
      say(`New ask by ${asText(a.principal)} on ${asText(a.host)}: ${asText(a.first_line)}. ${items.length} wait.`);
    }
    Object.assign(asks, { items, known: true, error: null });
  } catch (e) {
    if (alive.aborted) return;
    asks.error = e;
  }
  changed.forEach((f) => f());
}

export function start() {
  listen((e) => {
    if (!kinds.has(e.kind)) return;
    if (!["asked", "connected", "revoked"].includes(e.kind)) settled.set(e.id, e.kind);
    refresh();
  }, alive);
  const timer = setInterval(() => (document.visibilityState !== "visible" || Date.now() - looked >= seldom) && refresh(), unseen);
  ends(() => {
    clearInterval(timer);
    changed.clear();
    settled.clear();
    Object.assign(asks, nothing);
  });
}
