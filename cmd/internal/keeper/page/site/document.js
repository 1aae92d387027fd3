// The document of an ask: all that an answer is bound to, and what is signed.

import { encoded } from "./decode.js";

const magic = "fairlead-approval-v1\n";
// The fields in their order. One with a ? may be missing, one with a * may be there any number of times.
const ofHost = [
  "host",
  "transport",
  "addr",
  "port",
  "user",
  "via*",
  "tier",
  "identity*",
  "identity-only?",
  "sandboxed?",
  "ssh-config",
  "host-shell",
  "login",
  "env*",
  "argv*",
  "become-user",
  "become-method",
  "become-by-call?",
];
const ofAsk = [
  "id",
  "exec",
  "session",
  "sandbox?",
  "principal",
  ...ofHost,
  "member*",
  "shell",
  "dir",
  "command",
  "interactive",
  "typed?",
  "stdin-bytes",
  "stdin-sha256",
  "stdin-head",
  "reason",
  "class",
  "rule",
  "because",
  "hint",
  "least-proof",
  "asked",
  "expires",
];

/** fields reads the fields from at on, which are those of order. Each is {name, value}; value are the bytes as they are. */
function fields(bytes, at, order) {
  const out = [];
  while (at < bytes.length) {
    const end = bytes.indexOf(0x0a, at);
    const head = end < 0 ? null : /^([a-z0-9-]+) (0|[1-9][0-9]{0,8})$/.exec(String.fromCharCode(...bytes.subarray(at, Math.min(end, at + 80))));
    if (!head) throw new Error("a field of the document is not as it should be");
    const [, name, size] = head,
      from = end + 1,
      to = from + Number(size);
    if (to >= bytes.length || bytes[to] !== 0x0a) throw new Error(`the document's field ${name} is not as long as it says`);
    out.push({ name, value: bytes.subarray(from, to) });
    at = to + 1;
  }
  let next = 0;
  for (const rule of order) {
    const name = rule.replace(/[?*]$/, ""),
      before = next;
    while (out[next]?.name === name && (next === before || rule.endsWith("*"))) next++;
    if (next === before && name === rule) throw new Error(`the document lacks ${name}, or has it elsewhere`);
  }
  if (next < out.length) throw new Error(`the document has ${out[next].name}, which this page does not know there`);
  return out;
}

/** Ask is a document that was read. */
export class Ask {
  /** @param {Uint8Array} bytes of the document */
  constructor(bytes) {
    const begin = encoded(magic);
    if (!begin.every((b, i) => bytes[i] === b)) throw new Error("this request has a format that this page does not support");
    this.bytes = bytes;
    this.fields = fields(bytes, begin.length, ofAsk);
    /** the hosts, where one ask is about several: each is its own fields */
    this.members = this.fields.filter((f) => f.name === "member").map((f) => fields(f.value, 0, ofHost));
  }

  /** has says whether there is such a field. */
  has(name) {
    return this.fields.some((f) => f.name === name);
  }

  /** value is the bytes of a field, empty where there is none. */
  value(name) {
    return valueOf(this.fields, name);
  }

  /** text is the value of a field of plain words. What is exact is shown from its bytes instead. */
  text(name) {
    return new TextDecoder().decode(this.value(name));
  }
}

/** valueOf is the bytes of the first field with a name. */
export function valueOf(list, name) {
  return list.find((f) => f.name === name)?.value ?? new Uint8Array();
}

/** becomes says what a host's commands run as, and by which program: "root by sudo"; "" is the account that logs in. */
export function becomes(fields) {
  const text = (name) => new TextDecoder().decode(valueOf(fields, name));
  return text("become-user") && `${text("become-user")} by ${text("become-method")}`;
}

/** withInput is the document of a yes to whatever is typed at a command, too; null where nothing can be. */
export function withInput(ask) {
  if (ask.text("interactive") !== "yes" || ask.has("typed")) return null;
  const more = encoded("with-input 3\nyes\n");
  const all = new Uint8Array(ask.bytes.length + more.length);
  all.set(ask.bytes);
  all.set(more, ask.bytes.length);
  return all;
}

/** forSession is the document of an approval for the session: of bytes, with the words of a prefix and a time, if any. */
export function forSession(bytes, { words, seconds }) {
  const field = (name, text) => [encoded(`${name} ${encoded(text).length}\n`), encoded(text), encoded("\n")];
  const more = [...field("for-session", "yes"), ...words.flatMap((w) => field("prefix", w))];
  if (seconds) more.push(...field("for-seconds", String(seconds)));
  const all = new Uint8Array(more.reduce((n, b) => n + b.length, bytes.length));
  let at = 0;
  for (const b of [bytes, ...more]) {
    all.set(b, at);
    at += b.length;
  }
  return all;
}

/** digestOf is what an answer names. */
export async function digestOf(bytes) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${[...sum].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}
