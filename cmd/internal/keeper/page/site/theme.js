// Dark or light: as the system says, unless somebody has chosen here.

const key = "fairlead-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const changed = new Set();

/** chosen is "dark", "light", or "" for the system's. */
export function chosen() {
  try {
    const v = localStorage.getItem(key);
    return v === "dark" || v === "light" ? v : "";
  } catch {
    return ""; // storage may be forbidden
  }
}

/** isDark says which one it is now. */
export function isDark() {
  return chosen() ? chosen() === "dark" : dark.matches;
}

/** toggle changes to the other one, and back to the system's where that is the same. */
export function toggle() {
  const next = isDark() ? "light" : "dark";
  try {
    if ((next === "dark") === dark.matches) localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  } catch {
    return;
  }
  apply();
}

/** onChange calls f whenever it is another one, until signal aborts. */
export function onChange(f, signal) {
  changed.add(f);
  signal?.addEventListener("abort", () => changed.delete(f));
}

function apply() {
  if (chosen()) document.documentElement.dataset.theme = chosen();
  else delete document.documentElement.dataset.theme;
  for (const f of changed) f();
}

dark.addEventListener("change", apply);
addEventListener("storage", (e) => e.key === key && apply());
apply();
