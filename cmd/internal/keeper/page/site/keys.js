// Keys. What an element itself does with them stays: fields, dialogs, and terminals, which get them all.

import { el, button } from "./dom.js";
import { alive } from "./life.js";

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
    "An approval",
    [
      ["a, then Enter", "approve, after scrolling through all of it"],
      ["r, then Enter", "reject"],
      ["Space, n", "scroll on; jump to what was not shown yet"],
    ],
  ],
  [
    "A recording",
    [
      ["Space", "play or pause"],
      ["← →", "5 seconds back or on"],
      ["+ −", "faster or slower"],
      ["Home", "from the beginning"],
      ["PgUp PgDn j k", "what was printed before, and back"],
      ["i", "shorten pauses, or not"],
      ["s", "for a screen reader, or not"],
    ],
  ],
  [
    "A session that is watched",
    [
      ["PgUp PgDn j k", "what was printed before, and back"],
      ["Home, End", "its beginning, its end"],
      ["s", "for a screen reader, or not"],
    ],
  ],
  [
    "A terminal",
    [
      ["Ctrl+Shift+Esc", "leave it; all other keys are the terminal's"],
      ["Ctrl+Shift+F6", "leave it, where the first is the system's"],
    ],
  ],
];

let view = {};

/** setKeys makes keys those of what is shown now: functions by the name of the key. A true result lets the browser go on. */
export function setKeys(map) {
  view = map;
}

/** start listens; keys are those that hold everywhere. */
export function start(keys) {
  const pressed = (e) => {
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
    if ((e.key === " " || e.key === "Enter") && t.matches?.("button, a, summary, input:not([type=range])")) return;
    const does = view[e.key] ?? keys[e.key];
    if (does && does(e) !== true) e.preventDefault();
  };
  addEventListener("keydown", pressed, { signal: alive });
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
 * throws, the error shows and the dialog stays. The first choice is what Enter means. It closes with what is shown when
 * signal aborts, and when the page is over. The result's refuse(why) says that the first choice cannot be made any more.
 */
export function dialog(title, body, choices, signal = alive) {
  const before = document.activeElement;
  const failed = el("p", { class: "problem", role: "alert", hidden: true });
  const d = el("dialog", { "aria-labelledby": "dialog-title" });
  let refused = false;
  const fail = (why) => {
    failed.textContent = why;
    failed.hidden = false;
  };
  const choose = async (c, b) => {
    if (!c.does) return d.close();
    if (signal.aborted || alive.aborted || b.disabled) return;
    b.disabled = true;
    failed.hidden = !refused;
    try {
      await c.does();
      d.close();
    } catch (e) {
      fail(e.message);
      c.failed?.(e);
    } finally {
      b.disabled = refused && b === buttons[0];
    }
  };
  const buttons = choices.map((c) => {
    const b = button(c.text, () => choose(c, b), { class: c.class ?? "" });
    return b;
  });
  const form = el(
    "form",
    {
      method: "dialog",
      onsubmit: (e) => (e.preventDefault(), buttons[0].click()),
      // Browsers submit by themselves only where there is a single text field.
      onkeydown: (e) => {
        if (e.key !== "Enter" || e.isComposing || !e.target.matches?.("input")) return;
        e.preventDefault();
        buttons[0].click();
      },
    },
    el("h2", { id: "dialog-title", text: title }),
    body,
    failed,
    el("div", { class: "choices" }, buttons),
  );
  d.append(form);
  const close = () => d.close();
  for (const s of new Set([signal, alive])) s.addEventListener("abort", close);
  d.addEventListener("close", () => {
    for (const s of [signal, alive]) s.removeEventListener("abort", close);
    d.remove();
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (lost && before?.isConnected) before.focus();
  });
  document.body.append(d);
  d.showModal();
  (d.querySelector("[data-first]") ?? buttons[0]).focus();
  return {
    close,
    refuse(why) {
      refused = buttons[0].disabled = true;
      fail(why);
    },
  };
}

/** closeDialogs takes away what is asked: what it was about is shown no more. */
export function closeDialogs() {
  for (const d of document.querySelectorAll("dialog[open]")) d.close();
}
