// Sessions: whose there are, and terminals of one's own.

import { get } from "./api.js";
import { button, el } from "./dom.js";
import { listen } from "./live.js";
import { paced } from "./pace.js";
import { rows } from "./rows.js";
import { inline } from "./shown.js";
import { moment } from "./times.js";
import { asText } from "./visible.js";
import { isOwn, openTerminal, showTerminal, terminals } from "./terminal.js";
import { showWatched } from "./watching.js";

const every = 3000;
const kinds = new Set(["connected", "asked", "approved", "done"]); // what changes what a session runs

export const sessions = {
  name: "sessions",
  title: "Sessions",
  list(root, { go, signal }) {
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const list = rows({
      label: "Sessions and terminals",
      empty: "No sessions are open.",
      columns: [
        ["who", "Who"],
        ["host", "Host"],
        ["name", "Session"],
        ["cwd", "Directory"],
        ["what", "Runs"],
        ["age", "Open for"],
      ],
      cells: (s) => [
        inline(s.owner),
        inline(s.host),
        [
          s.kind === "terminal" ? el("span", { class: "tag", text: "terminal" }) : inline(s.name || s.id),
          s.sandbox ? el("span", { class: "tag", text: "sandbox" }) : "",
        ],
        s.cwd ? inline(s.cwd, "cut") : "",
        s.exec ? el("span", { class: "runs" }, s.state === "awaiting_approval" ? "waiting for approval: " : "", inline(s.command || s.exec, "cut")) : el("span", { class: "dim", text: s.kind === "terminal" ? "" : "idle" }),
        s.opened ? moment(s.opened, "ago") : "",
      ],
      open: (s) => go("sessions", s.id),
    });
    const own = el("ol", { class: "own", "aria-label": "Terminals of this page" });
    root.append(el("h1", { class: "unseen", text: "Sessions" }), opener(go, signal), own, problem, list.element);
    const drawOwn = () =>
      own.replaceChildren(
        ...[...terminals.values()].map((t) =>
          el(
            "li",
            null,
            button(`${asText(t.host)} — ${t.ended ? "ended" : "open here"}`, () => go("sessions", t.id)),
          ),
        ),
      );
    drawOwn();
    const look = paced(async () => {
      try {
        list.update((await get("/v1/watch", signal)).items);
        problem.hidden = true;
      } catch (e) {
        if (signal.aborted) return;
        problem.textContent = e.message;
        problem.hidden = false;
      }
      drawOwn();
    }, signal);
    const timer = setInterval(() => document.visibilityState === "visible" && look(), every);
    signal.addEventListener("abort", () => clearInterval(timer));
    listen((e) => kinds.has(e.kind) && look(), signal);
    look();
  },
  open(root, id, page) {
    if (terminals.has(id)) return showTerminal(root, id, page);
    if (!isOwn(id)) return showWatched(root, id, page);
    throw new Error("This terminal has ended.");
  },
};

/** opener asks on which host a terminal is wanted. */
function opener(go, signal) {
  const host = el("select", { "aria-label": "Host", name: "host" });
  const sure = el("input", { type: "checkbox", name: "confirm" });
  const open = el("button", { type: "submit", text: "Open", disabled: true });
  const form = el(
    "form",
    { class: "opener", onsubmit: (e) => (e.preventDefault(), host.value && go("sessions", openTerminal(host.value, sure.checked))) },
    el("label", null, "Open a terminal on ", host),
    el("label", { title: "Confirm commands that need confirmation" }, sure, " Confirm: production host"),
    open,
  );
  get("/v1/hosts", signal).then(
    ({ items }) => {
      host.append(...items.map((h) => el("option", { value: h.name, text: `${asText(h.name)}${h.tier ? ` (${asText(h.tier)})` : ""}` })));
      open.disabled = items.length === 0;
    },
    () => {},
  );
  return form;
}
