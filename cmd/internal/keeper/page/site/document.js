// The document of an ask: all that an answer is bound to, and what is signed.

import { encoded } from "./decode.js";

const magic = "fairlead-approval-v1\n";
const lists = new Set(["via", "identity", "env", "argv", "member"]);

/** fields reads the fields from at on. Each is {name, value}; value are the bytes as they are. */
function fields(bytes, at = 0) {
  const out = [], seen = new Set();
  while (at < bytes.length) {
    const end = bytes.indexOf(0x0a, at);
    const head = end < 0 ? null : /^([a-z0-9-]+) (0|[1-9][0-9]{0,8})$/.exec(String.fromCharCode(...bytes.subarray(at, Math.min(end, at + 80))));
    if (!head) throw new Error("a field of the document is not as it should be");
    const [, name, size] = head, from = end + 1, to = from + Number(size);
    if (to >= bytes.length || bytes[to] !== 0x0a) throw new Error(`the document's field ${name} is not as long as it says`);
    if (seen.has(name) && !lists.has(name)) throw new Error(`the document has ${name} twice`);
    seen.add(name);
    out.push({ name, value: bytes.subarray(from, to) });
    at = to + 1;
  }
  return out;
}

/** Ask is a document that was read. */
export class Ask {
  /** @param {Uint8Array} bytes of the document */
  constructor(bytes) {
    const begin = encoded(magic);
    if (!begin.every((b, i) => bytes[i] === b)) throw new Error("this is no document of an ask that this page knows");
    this.bytes = bytes;
    this.fields = fields(bytes, begin.length);
    for (const name of ["id", "principal", "host", "command"]) if (!this.has(name)) throw new Error(`the document lacks ${name}`);
    /** the hosts, where one ask is about several: each is its own fields */
    this.members = this.fields.filter((f) => f.name === "member").map((f) => fields(f.value));
  }

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

/** digestOf is what an answer names. */
export async function digestOf(bytes) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${[...sum].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}
