// Whether terminals are told to a screen reader, which makes them slower: as somebody has chosen here.

import { button } from "./dom.js";

const key = "fairlead-reader";
const changed = new Set();
let chosen = kept();

function kept() {
  try {
    return localStorage.getItem(key) === "yes";
  } catch {
    return false; // storage may be forbidden
  }
}

/** isTold reports whether they are. */
export const isTold = () => chosen;

/** toggleTold changes that. */
export function toggleTold() {
  apply(!chosen);
  try {
    if (chosen) localStorage.setItem(key, "yes");
    else localStorage.removeItem(key);
  } catch {
    // it holds for this page
  }
}

function apply(told) {
  chosen = told;
  for (const f of changed) f();
}

/** onTold calls f whenever it is changed, until signal aborts. */
export function onTold(f, signal) {
  changed.add(f);
  signal?.addEventListener("abort", () => changed.delete(f));
}

/** readerButton makes a button for it. */
export function readerButton(signal, props) {
  const b = button("Screen reader", toggleTold, { title: "Announce output to a screen reader", ...props });
  const tell = () => b.setAttribute("aria-pressed", String(chosen));
  tell();
  onTold(tell, signal);
  return b;
}

addEventListener("storage", (e) => e.key === key && apply(kept()));
