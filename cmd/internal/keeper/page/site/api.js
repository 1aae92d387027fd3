// Requests to the keeper. Each carries the token of this page; the cookie comes by itself.

const key = "fairlead-token";
let over = () => {};

/** Problem is why a request failed. */
export class Problem extends Error {
  constructor(status, p) {
    super(p.detail || p.title || `the keeper answers ${status}`);
    this.status = status;
    this.code = p.code ?? "";
  }
}

/** onOver says what to do when the keeper does not know this page any more. */
export function onOver(f) {
  over = f;
}

const token = () => sessionStorage.getItem(key) ?? "";

/** entered reports whether this page was let in, as far as it knows. */
export const entered = () => token() !== "";

/** enter hands a code in, and returns who acts on this page. */
export async function enter(code) {
  const r = await send("/page/enter", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
  const who = await r.json();
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
    await send("/page/leave", { method: "POST" });
  } finally {
    sessionStorage.removeItem(key);
  }
}

async function send(path, init = {}) {
  const headers = new Headers(init.headers);
  if (token()) headers.set("Fairlead-Page-Token", token());
  let r;
  try {
    r = await fetch(path, { ...init, headers, credentials: "same-origin", cache: "no-store", redirect: "error" });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Problem(0, { detail: "the keeper does not answer" });
  }
  if (r.ok) return r;
  let p = {};
  try {
    p = await r.json();
  } catch {
    // whatever it says, it is no problem of the keeper's
  }
  if (r.status === 401) {
    sessionStorage.removeItem(key);
    over();
  }
  throw new Problem(r.status, p);
}

/** query makes the part after the question mark; what is empty is left out. */
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== "" && value !== null && value !== undefined) q.set(name, value);
  const text = q.toString();
  return text ? `?${text}` : "";
}

export const get = async (path, signal) => (await send(path, { signal })).json();
export const getText = async (path, signal) => (await send(path, { signal })).text();
export const open = async (path, { signal, headers } = {}) => (await send(path, { signal, headers })).body;

export async function post(path, body) {
  const r = await send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return r.status === 204 ? null : r.json();
}

/** socket opens a WebSocket. It carries the token as a protocol, for it has no headers. */
export function socket(path) {
  const s = new WebSocket(`ws://${location.host}${path}`, ["fairlead", `token.${token()}`]);
  s.binaryType = "arraybuffer";
  return s;
}
