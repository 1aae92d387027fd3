// Terminals of this page. They stay open while something else is looked at.

import { Backlog } from "./backlog.js";
import { button, el } from "./dom.js";
import { fitted } from "./fitted.js";
import { setKeys } from "./keys.js";
import { readerButton } from "./reader.js";
import { Screen } from "./screen.js";
import { inline } from "./shown.js";
import { bytes } from "./times.js";
import { asText } from "./visible.js";
import { Wire } from "./wire.js";

const most = 1 << 20; // bytes of output that wait to be drawn: what a slow browser draws in a second or two

export const terminals = new Map();
let count = 0;

/** openTerminal opens one on a host, and returns its id. sure is the second thought that a policy may want. */
export function openTerminal(host, sure) {
  const id = `own-${++count}`;
  terminals.set(id, new Own(id, host, sure));
  return id;
}

/** isOwn reports whether an id is of a terminal of this page, open or not. */
export const isOwn = (id) => id.startsWith("own-");

/** showTerminal shows an open one in root. */
export function showTerminal(root, id, { go, signal }) {
  const t = terminals.get(id);
  root.classList.add("page");
  root.append(t.element);
  const leave = () => go("sessions");
  t.leave = leave;
  signal.addEventListener("abort", () => {
    if (t.ended) t.drop();
  });
  setKeys({ Escape: leave });
  t.show();
}

/** goingOn are those that have begun and not ended. */
export const goingOn = () => [...terminals.values()].filter((t) => t.began && !t.ended);

/** hangUpAll ends them all, and returns how many went on. */
export function hangUpAll() {
  const n = goingOn().length;
  for (const t of [...terminals.values()]) t.hangUp();
  return n;
}

class Own {
  constructor(id, host, sure) {
    Object.assign(this, { id, host, sure, ended: false, began: false, leave: () => {} });
    this.gone = new AbortController();
    this.status = el("span", { class: "note", role: "status", text: "connecting…" });
    this.hang = button("Hang up", () => this.wire?.say({ hang_up: true }));
    this.box = el("div", { class: "tty typed" });
    this.element = el(
      "div",
      { class: "own-terminal" },
      el(
        "div",
        { class: "bar above" },
        button("Back", () => this.leave()),
        el("small", null, el("kbd", { text: "Ctrl+Shift+Esc" }), " or ", el("kbd", { text: "Ctrl+Shift+F6" })),
        el("h1", null, "Terminal on ", inline(host)),
        this.status,
        readerButton(this.gone.signal),
        this.hang,
      ),
      this.box,
    );
  }

  /** show makes it, the first time, now that it is known how large it is. */
  show() {
    if (!this.screen) this.make();
    this.screen.term.focus();
  }

  make() {
    const encoder = new TextEncoder();
    this.screen = new Screen({
      parent: this.box,
      typed: (text) => this.wire?.type(encoder.encode(text)),
      label: `Terminal on ${asText(this.host)}`,
      signal: this.gone.signal,
    });
    this.screen.term.onBinary((text) => this.wire?.type(Uint8Array.from(text, (c) => c.charCodeAt(0))));
    this.screen.term.attachCustomKeyEventHandler((e) => {
      if (!(e.ctrlKey && e.shiftKey && (e.key === "Escape" || e.key === "F6"))) return true;
      e.preventDefault();
      if (e.type === "keydown") this.leave();
      return false;
    });
    this.output = new Backlog({
      most,
      missed: (n) => `\x1b[m\r\n… ${bytes(n)} came too fast to be shown …\r\n`,
      draw: (data) => this.screen.write(data),
    });
    fitted(this.screen, (rows, cols) => this.wire?.say({ resize: { rows, cols } }));
    const { rows, cols } = this.screen.term;
    this.wire = new Wire(
      { host: this.host, rows, cols, confirm: this.sure },
      {
        opened: () => (
          (this.began = true),
          (this.status.textContent = "open; recorded"),
          this.wire.say({ resize: { rows: this.screen.term.rows, cols: this.screen.term.cols } })
        ),
        output: (data) => this.output.add(data),
        said: (says) => this.said(says),
        gone: () =>
          this.end(
            this.began
              ? "the connection was lost"
              : this.wire.late
                ? "the keeper does not answer"
                : "the keeper has refused it: the policy may forbid it, or require “Confirm: production host”. The audit log says why",
          ),
      },
    );
  }

  said(says) {
    if (says.notice) this.status.textContent = asText(says.notice);
    if (says.problem) this.end(asText(says.problem.detail ?? "the keeper has refused it"));
    if (!says.end) return;
    const e = says.end;
    const how = e.signal ? `signal ${e.signal}` : e.exit_code !== null && e.exit_code !== undefined ? `exit ${e.exit_code}` : e.status;
    this.end(`ended: ${asText(how)}${e.why ? `, ${asText(e.why)}` : ""}`);
  }

  end(how) {
    if (this.ended) return;
    this.ended = true;
    this.status.textContent = how;
    this.hang.disabled = true;
    this.output.add(`\x1b[m\r\n\x1b[90m${how}\x1b[m\r\n`);
    if (!this.element.isConnected) this.drop();
  }

  hangUp() {
    this.wire?.say({ hang_up: true });
    this.wire?.close();
    this.ended = true;
    this.drop();
  }

  drop() {
    this.gone.abort();
    terminals.delete(this.id);
  }
}

// Whoever closes the page ends its terminals; so that is asked first.
addEventListener("beforeunload", (e) => goingOn().length && e.preventDefault());
