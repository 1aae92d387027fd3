// Requests to the keeper. Each carries the token of this page; the cookie comes by itself.

import { alive } from "./life.js";
import { rest } from "./pace.js";
import { patience } from "./patience.js";

const key = "fairlead-token";
const tries = 5, // of a request that comes too fast
  briefly = 5000; // milliseconds that somebody who leaves waits
let over = () => {},
  late = () => {};

/** Problem is why a request failed. Its status is 0 where nobody answered; refused says that it was known at once. */
export class Problem extends Error {
  constructor(status, p) {
    super(p.detail || p.title || `the keeper answers ${status}`);
    this.status = status;
    this.code = p.code ?? "";
    this.refused = p.refused ?? false;
  }
}

/** onOver says what to do when the keeper does not know this page any more. */
export function onOver(f) {
  over = f;
}

/** onLate says what to do when an answer does not come in time: other connections may be dead, too. */
export function onLate(f) {
  late = f;
}

const token = () => sessionStorage.getItem(key) ?? "";

/** entered reports whether this page was let in, as far as it knows. */
export const entered = () => token() !== "";

/** enter hands a code in, and returns who acts on this page. A page that is over may do so, too. */
export async function enter(code) {
  const who = await send("/page/enter", { ...json({ code }), life: null });
  sessionStorage.setItem(key, who.token);
  sessionStorage.setItem(key + "-who", JSON.stringify({ principal: who.principal, name: who.name }));
  return who;
}

/** who acts on this page, as enter was told. */
export function who() {
  try {
    return JSON.parse(sessionStorage.getItem(key + "-who")) ?? {};
  } catch {
    return {};
  }
}

/** leave ends this page's session. */
export async function leave() {
  try {
    await send("/page/leave", { method: "POST", within: briefly, read: () => null });
  } finally {
    forget();
  }
}

/** forget drops the token, so that nobody else gets it. */
export function forget() {
  sessionStorage.removeItem(key);
}

/** send makes a request, and returns what read makes of the answer. One that comes too fast is made again when it may be. */
async function send(path, { life = alive, signal, ...init }) {
  const until = [life, signal].filter(Boolean);
  for (let left = tries; ; left--) {
    const answer = await once(path, init, until);
    if (!answer.again || left <= 1) return answer.give();
    await rest(answer.again, AbortSignal.any(until));
  }
}

/** once makes it once. */
async function once(path, { read = (r) => r.json(), within = patience.answer, ...init }, until) {
  const headers = new Headers(init.headers);
  if (token()) headers.set("Fairlead-Page-Token", token());
  const slow = new AbortController();
  const timer = setTimeout(() => slow.abort(), within);
  const signal = AbortSignal.any([slow.signal, ...until]);
  try {
    const r = await fetch(path, { ...init, headers, signal, credentials: "same-origin", cache: "no-store", redirect: "error" });
    if (r.ok) {
      const said = await read(r);
      return { give: () => said };
    }
    const problem = new Problem(r.status, await r.json().catch(() => ({}))); // whoever says something else is not the keeper
    if (r.status === 401) {
      forget();
      over();
    }
    return {
      again: r.status === 429 ? Math.min(10, Number(r.headers.get("Retry-After")) || 1) * 1000 : 0,
      give() {
        throw problem;
      },
    };
  } catch (e) {
    if (until.some((s) => s.aborted)) throw e;
    if (!slow.signal.aborted) throw new Problem(0, { detail: "the keeper does not answer", refused: true });
    late();
    throw new Problem(0, { detail: `the keeper has not answered for ${Math.ceil(within / 1000)} seconds` });
  } finally {
    clearTimeout(timer);
  }
}

/** json is what makes a request carry an object. */
const json = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** query makes the part after the question mark; what is empty is left out. */
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== "" && value !== null && value !== undefined) q.set(name, value);
  const text = q.toString();
  return text ? `?${text}` : "";
}

export const get = (path, signal) => send(path, { signal });
export const getSlow = (path, signal) => send(path, { signal, within: patience.long });
export const open = (path, { signal, headers } = {}) => send(path, { signal, headers, read: (r) => r.body });
export const openSlow = (path, { signal } = {}) => send(path, { signal, within: patience.long, read: (r) => r.body });
export const post = (path, body) => send(path, { ...json(body), within: patience.long, read: (r) => (r.status === 204 ? null : r.json()) });

export const del = (path) => send(path, { method: "DELETE", read: () => null });

/** socket opens a WebSocket. It carries the token as a protocol, for it has no headers. */
export function socket(path) {
  const s = new WebSocket(`ws://${location.host}${path}`, ["fairlead", `token.${token()}`]);
  s.binaryType = "arraybuffer";
  return s;
}
