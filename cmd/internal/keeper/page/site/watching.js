// A session as it goes on: its commands, and what they print.

import { get, open } from "./api.js";
import { fromBase64 } from "./decode.js";
import { button, el, land } from "./dom.js";
import { fitted } from "./fitted.js";
import { setKeys } from "./keys.js";
import { Lines } from "./lines.js";
import { listen } from "./live.js";
import { rest } from "./pace.js";
import { readerButton } from "./reader.js";
import { Screen } from "./screen.js";
import { inline } from "./shown.js";
import { events } from "./sse.js";
import { took } from "./times.js";
import { asText, pieces } from "./visible.js";

const again = 5000; // milliseconds until a connection that was lost is made again, if nothing says so before
const few = 200; // characters of a command that a note tells
const bold = "\x1b[1m",
  dim = "\x1b[90m",
  red = "\x1b[31m",
  plain = "\x1b[m",
  marked = "\x1b[1;4;31m";

/** visibly is a command for a terminal: what cannot be seen is a marked escape. */
export function visibly(command) {
  return pieces(command)
    .map((p) => (p.kind === "newline" ? "\r\n> " : p.kind === "hidden" ? `${marked}${p.text}${plain}` : p.text))
    .join("");
}

/** how says how a command has ended, in a few words. */
export function how(r) {
  const what = r.signal
    ? `signal ${r.signal}`
    : r.exit_code !== null && r.exit_code !== undefined && r.exit_code !== 0
      ? `exit ${r.exit_code}`
      : r.status;
  return `${asText(String(what))}${r.duration_ms !== undefined ? `, ${took(r.duration_ms)}` : ""}${r.error ? `: ${asText(r.error)}` : ""}`;
}

/** showWatched shows what has an id, live. */
export async function showWatched(root, id, { go, signal }) {
  const { items } = await get("/v1/watch", signal);
  const item = items.find((i) => i.id === id) ?? { id, kind: "session", host: "", owner: "", name: "" };
  const terminal = item.kind === "terminal";
  const status = el("span", { class: "note", role: "status", text: "connecting…" });
  const box = el("div", { class: `tty ${terminal ? "scaled" : ""}` });
  const title = el("h1", null, inline(item.name || item.id), " on ", inline(item.host));
  root.classList.add("page");
  root.append(
    el(
      "div",
      { class: "bar above" },
      button("Back", () => go("sessions"), { "aria-keyshortcuts": "Escape" }),
      title,
      el("span", { class: "dim" }, inline(item.owner)),
      status,
      readerButton(signal, { "aria-keyshortcuts": "s" }),
    ),
    box,
  );
  land(title);
  const screen = new Screen({ parent: box, label: "Output", signal });
  let hold = () => {};
  if (terminal) screen.scaled();
  else {
    const held = fitted(screen);
    hold = (on) => (screen.scaled(on), held(on));
  }
  setKeys({ ...screen.keys(), Escape: () => go("sessions") });
  const tell = (text) => (status.textContent = text);
  for (let first = true; !signal.aborted; first = false) {
    try {
      const body = await open(`/v1/watch/${encodeURIComponent(id)}/stream`, { signal });
      tell("live");
      if (!first) await resume(screen, terminal);
      const showing = new Watched(screen, item, hold, tell);
      for await (const e of events(body)) {
        await showing.take(e.event, e.data);
        if (e.event === "closed") return tell("closed");
      }
    } catch (e) {
      if (signal.aborted) return;
      if (e.status >= 400 && e.status < 500) return tell(e.message); // there is nothing to see any more
    }
    tell("connection lost; it is made again as soon as it can be");
    await connected(signal);
  }
}

/** connected waits until events come again, or for a while. */
async function connected(signal) {
  const now = new AbortController();
  listen((e) => e.kind === "connected" && now.abort(), now.signal);
  await rest(again, AbortSignal.any([signal, now.signal]));
  now.abort();
}

/** resume readies a screen for what comes once more: a terminal from its beginning, of a session the last command. */
async function resume(screen, terminal) {
  if (terminal) return screen.then(() => screen.term.reset());
  await screen.still();
  await screen.write(`${dim}connected again: the last command from its beginning${plain}\r\n`);
}

class Watched {
  constructor(screen, item, hold, tell) {
    Object.assign(this, { screen, item, hold, tell, lines: new Lines(), command: null });
  }

  async take(kind, e) {
    switch (kind) {
      case "session":
        this.item = { ...this.item, ...e };
        break;
      case "command":
        this.command = e;
        this.lines = new Lines();
        this.say(e.state);
        await this.screen.still();
        this.hold(e.interactive);
        if (e.interactive) await this.screen.resize(e.cols || 80, e.rows || 24);
        await this.screen.write(`${bold}${asText(this.item.host)}:${asText(e.cwd ?? "")}$${plain} ${visibly(e.command)}\r\n`);
        if (e.state === "awaiting_approval") await this.screen.write(`${dim}waiting for approval${plain}\r\n`);
        break;
      case "answered":
        this.say(e.state);
        await this.screen.write(`${dim}${e.state === "running" ? "approved" : "not approved"}${plain}\r\n`);
        break;
      case "output":
        await this.output(e);
        break;
      case "resize":
        await this.screen.resize(e.cols, e.rows);
        break;
      case "result":
        await this.screen.still();
        this.hold(false);
        await this.screen.write(`${dim}${how(e)}${plain}\r\n`);
        this.tell(`idle; the last command: ${how(e)}`);
        break;
      case "closed":
        await this.screen.still();
        await this.screen.write(`${dim}the ${this.item.kind === "terminal" ? "terminal" : "session"} is closed${plain}\r\n`);
    }
  }

  /** say says of the command whether it runs. */
  say(state) {
    const { command } = this.command;
    const does = state === "awaiting_approval" ? "waiting for approval" : "runs";
    this.tell(`${does}: ${asText(command.slice(0, few))}${command.length > few ? "…" : ""}`);
  }

  async output(e) {
    if (e.skipped) await this.screen.write(`${dim}… ${e.skipped} bytes were not kept …${plain}\r\n`);
    const bytes = e.encoding === "base64" ? fromBase64(e.data) : new TextEncoder().encode(e.data);
    if (this.item.kind === "terminal" || this.command?.interactive) return this.screen.write(bytes);
    const stream = e.stream === "stderr" ? "stderr" : "stdout";
    const text = this.lines.text(stream, bytes);
    return this.screen.write(stream === "stderr" ? `${red}${text}${plain}` : text);
  }
}
