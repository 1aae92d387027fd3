// Keys. What an element itself does with them stays: fields, dialogs, and terminals, which get them all.

import { el, button } from "./dom.js";

const help = [
  [
    "Everywhere",
    [
      ["1 – 4", "approvals, sessions, recordings, audit"],
      ["j k ↓ ↑", "move"],
      ["Enter", "open"],
      ["Esc", "back"],
      ["/", "search"],
      ["t", "dark or light"],
      ["?", "these keys"],
    ],
  ],
  [
    "An ask",
    [
      ["a, then Enter", "approve, once all of it was in view"],
      ["r, then Enter", "reject"],
      ["Space, n", "go on through it; to what was not in view yet"],
    ],
  ],
  [
    "A recording",
    [
      ["Space", "play or pause"],
      ["← →", "5 seconds back or on"],
      ["+ −", "faster or slower"],
      ["Home", "from the beginning"],
      ["i", "shorten pauses, or not"],
    ],
  ],
  ["A terminal", [["Ctrl+Shift+Esc", "leave it; all other keys are the terminal's"]]],
];

let view = {};

/** setKeys makes keys those of what is shown now: functions by the name of the key. A true result lets the browser go on. */
export function setKeys(map) {
  view = map;
}

/** start listens; keys are those that hold everywhere. */
export function start(keys) {
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing || e.ctrlKey || e.altKey || e.metaKey || document.querySelector("dialog[open]")) return;
    const t = e.target;
    if (t.closest?.(".typed")) return;
    const field = t.matches?.("input:not([type=range], [type=checkbox]), textarea, select");
    if (field && e.key !== "Escape") return;
    if (field) {
      t.blur();
      e.preventDefault();
      return;
    }
    if ((e.key === " " || e.key === "Enter") && t.matches?.("button, a, summary, input")) return;
    const does = view[e.key] ?? keys[e.key];
    if (does && does(e) !== true) e.preventDefault();
  });
}

/** showHelp tells the keys. */
export function showHelp() {
  dialog(
    "Keys",
    help.map(([where, keys]) =>
      el(
        "section",
        null,
        el("h3", { text: where }),
        el(
          "dl",
          { class: "keys" },
          keys.map(([k, does]) => el("div", null, el("dt", null, el("kbd", { text: k })), el("dd", { text: does }))),
        ),
      ),
    ),
    [{ text: "Close" }],
  );
}

/**
 * dialog asks something: title, body, and what may be chosen, as {text, does, class}. does may return a promise; where it
 * throws, the error shows and the dialog stays. The first choice is what Enter means.
 */
export function dialog(title, body, choices) {
  const before = document.activeElement;
  const failed = el("p", { class: "problem", role: "alert", hidden: true });
  const d = el("dialog", { "aria-labelledby": "dialog-title" });
  const choose = async (c, b) => {
    if (!c.does) return d.close();
    b.disabled = true;
    failed.hidden = true;
    try {
      await c.does();
      d.close();
    } catch (e) {
      failed.textContent = e.message;
      failed.hidden = false;
      c.failed?.(e);
    } finally {
      b.disabled = false;
    }
  };
  const buttons = choices.map((c) => {
    const b = button(c.text, () => choose(c, b), { class: c.class ?? "" });
    return b;
  });
  const form = el(
    "form",
    { method: "dialog", onsubmit: (e) => (e.preventDefault(), buttons[0].click()) },
    el("h2", { id: "dialog-title", text: title }),
    body,
    failed,
    el("div", { class: "choices" }, buttons),
  );
  d.append(form);
  d.addEventListener("close", () => (d.remove(), before?.isConnected && before.focus()));
  document.body.append(d);
  d.showModal();
  (d.querySelector("[data-first]") ?? buttons[0]).focus();
  return d;
}
