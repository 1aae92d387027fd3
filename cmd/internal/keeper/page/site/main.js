// The page: who acts on it, its views, and the way from one to another.

import { enter, entered, forget, leave, onOver, who } from "./api.js";
import { approvals } from "./approvals.js";
import { asks, onAsks, start as startAsks } from "./asks.js";
import { audit } from "./audit.js";
import { button, el } from "./dom.js";
import { closeDialogs, setKeys, showHelp, start as startKeys } from "./keys.js";
import { alive, end } from "./life.js";
import { follow } from "./live.js";
import { showOver } from "./over.js";
import { recordings } from "./recordings.js";
import { move } from "./rows.js";
import { sessions } from "./sessions.js";
import { isDark, onChange, toggle } from "./theme.js";
import { hangUpAll } from "./terminal.js";
import { tick } from "./times.js";
import { asText } from "./visible.js";

const views = [approvals, sessions, recordings, audit];
const main = document.getElementById("main");
const lost = document.getElementById("lost");
let here = { view: "", id: "" },
  shown = new AbortController();

/** go shows a view, or one thing of it; of a list, next is what gets the focus. The way back is the browser's, too. */
function go(view, id = "", next = "") {
  if (alive.aborted || (here.view === view && here.id === id && main.firstChild)) return;
  history.pushState({ view, id }, "");
  show(view, id, next);
}

async function show(view, id, next = "") {
  if (alive.aborted) return;
  shown.abort();
  closeDialogs();
  shown = new AbortController();
  const { signal } = shown,
    from = here;
  here = { view, id };
  const v = views.find((o) => o.name === view) ?? approvals;
  for (const [i, tab] of [...document.querySelectorAll("#tabs button")].entries()) {
    if (views[i] === v) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  const root = el("div", { class: `view ${v.name}` });
  main.replaceChildren(root);
  setKeys(id ? { Escape: () => go(view) } : {});
  if (id) {
    main.focus({ preventScroll: true });
    try {
      await v.open(root, id, { go, signal });
    } catch (e) {
      if (!signal.aborted)
        root.replaceChildren(
          el("p", { class: "problem", role: "alert", text: e.message }),
          button("Back", () => go(view)),
        );
    }
    return;
  }
  v.list(root, { go, signal });
  if (from.view === view && from.id) refocus(root, next || from.id, signal);
  else main.focus({ preventScroll: true });
}

/** refocus puts the focus back on what was open, as soon as it is listed. */
function refocus(root, id, signal) {
  const look = () => {
    const row = [...root.querySelectorAll(".row")].find((r) => r.dataset.id === id);
    row?.focus();
    return Boolean(row);
  };
  if (look()) return;
  main.focus({ preventScroll: true });
  const seen = new MutationObserver(() => (document.activeElement !== main || look()) && seen.disconnect());
  seen.observe(root, { childList: true, subtree: true });
  signal.addEventListener("abort", () => seen.disconnect());
}

/** over ends all of this page but terminals that go on, and says how to come back. It stays so. */
function over(why) {
  if (alive.aborted) return;
  shown.abort();
  end();
  forget();
  closeDialogs();
  setKeys({});
  clearInterval(timer);
  lost.hidden = document.getElementById("leave").hidden = true;
  document.title = "Fairlead";
  history.replaceState(null, "");
  document.getElementById("tabs").replaceChildren();
  document.getElementById("machine").textContent = "";
  showOver(main, why, here.id);
}

function title() {
  const n = asks.items.length;
  document.title = n ? `(${n}) Fairlead` : "Fairlead";
  const count = document.querySelector("#tabs .count");
  if (!count) return;
  count.textContent = n ? String(n) : "";
  count.setAttribute("aria-label", n ? `${n} wait` : "");
}

function theme() {
  const b = document.getElementById("theme");
  b.textContent = isDark() ? "☀" : "☾";
  b.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  b.title = `${isDark() ? "Light" : "Dark"} colours (t)`;
}

let timer = 0;

/** connection says what there is to say about the event stream. */
function connection(next) {
  clearInterval(timer);
  lost.hidden = next === null || alive.aborted;
  if (lost.hidden) return;
  const tell = () =>
    (lost.textContent = `Connection lost. ${next > Date.now() ? `The next attempt is in ${Math.ceil((next - Date.now()) / 1000)} s` : "Trying again"}; what you see may be old.`);
  tell();
  timer = setInterval(tell, 1000);
}

function begin() {
  const { principal, name } = who();
  document.getElementById("machine").textContent = asText([principal, name].filter(Boolean).join(" @ "));
  document
    .getElementById("tabs")
    .replaceChildren(
      ...views.map((v, i) => button(v.title, () => go(v.name), { "aria-keyshortcuts": String(i + 1), title: `${v.title} (${i + 1})` })),
    );
  document.querySelector("#tabs button").append(el("span", { class: "count" }));
  startKeys({
    ...Object.fromEntries(views.map((v, i) => [String(i + 1), () => go(v.name)])),
    j: () => move(main, 1),
    k: () => move(main, -1),
    ArrowDown: (e) => arrow(e, 1),
    ArrowUp: (e) => arrow(e, -1),
    Home: (e) => arrow(e, "first"),
    End: (e) => arrow(e, "last"),
    "/": () => go("audit"),
    "?": showHelp,
    t: toggle,
  });
  addEventListener("popstate", (e) => show(e.state?.view ?? "approvals", e.state?.id ?? ""), { signal: alive });
  const { view, id } = history.state?.view ? history.state : { view: "approvals", id: "" }; // what was shown before it was loaded anew
  history.replaceState({ view, id }, "");
  onAsks(title, alive);
  startAsks();
  follow({ lost: connection, ended: () => over("The keeper has ended.") });
  tick();
  show(view, id);
}

/** arrow moves in a list; elsewhere the key scrolls. */
function arrow(e, by) {
  if (e.target.matches("input, .scroll") || !main.querySelector("ol.rows > li")) return true;
  move(main, by);
}

/** arrive takes the code out of the address, where nobody shall find it later, and hands it in. */
async function arrive() {
  const code = location.hash.slice(1);
  if (code) history.replaceState(history.state, "", location.pathname);
  if (!code) return entered() ? begin() : over("This page needs a link.");
  try {
    await enter(code);
  } catch (e) {
    return entered() ? begin() : over(e.status ? "This link was used before, or is too old." : "The keeper does not answer.");
  }
  begin();
}

onOver(() => over("This page's time is over."));
onChange(theme);
theme();
document.getElementById("theme").addEventListener("click", toggle);
document.getElementById("help").addEventListener("click", showHelp);
document.getElementById("leave").addEventListener("click", async () => {
  const n = hangUpAll();
  await leave().catch(() => {});
  over(`You have left.${n ? ` ${n === 1 ? "The terminal was" : `${n} terminals were`} hung up.` : ""}`);
});
addEventListener("hashchange", async () => {
  const code = location.hash.slice(1);
  history.replaceState(history.state, "", location.pathname);
  if (code)
    await enter(code).then(
      () => location.reload(),
      () => {},
    );
});
arrive();
