import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, Reel } from "./site/reel.js";

const head = JSON.stringify({ version: 2, width: 80, height: 24, duration: 999 });
const text = new TextEncoder();

/** made is a long recording: an event a second from a moment on, made as it is read. */
function made(opened, bytes = 64 << 10) {
  return async (at) => {
    let i = Math.floor(at);
    const o = { at, read: 0, cancelled: false };
    opened.push(o);
    return new ReadableStream(
      {
        start: (c) => c.enqueue(text.encode(head + "\n")),
        pull(c) {
          if (i > 999) return c.close();
          o.read++;
          c.enqueue(text.encode(JSON.stringify([i, "o", `${i} ${"x".repeat(bytes)}`]) + "\n"));
          i++;
        },
        cancel: () => (o.cancelled = true),
      },
      { highWaterMark: 0 },
    );
  };
}

const soon = () => new Promise((r) => setTimeout(r));
async function until(f) {
  for (let i = 0; !f(); i++) {
    assert.ok(i < 100000, "it never came");
    await soon();
  }
}

test("a long recording is held in part", async () => {
  const opened = [];
  const life = new AbortController();
  const r = new Reel({ length: 999 }, made(opened), 2, () => {}, life.signal);
  let held = 0,
    seen = 0;
  for (let now = 0; now <= 999; now++) {
    await until(() => r.over || r.reach >= now);
    held = Math.max(held, r.held, r.events.length * 1000);
    for (const e of r.at(now).events) seen += e.data?.length ?? 0;
  }
  assert.ok(seen > 60 << 20, `${seen}`);
  assert.ok(held < 2 << 20, `${held}`);
  assert.equal(opened.length, 1);
  assert.equal(r.length, 999);
  life.abort();
});

test("seeking begins near the moment, and drops what was being read", async () => {
  const opened = [];
  const life = new AbortController();
  const r = new Reel({ length: 999 }, made(opened), 2, () => {}, life.signal);
  await until(() => r.reach >= 5);
  assert.deepEqual(r.at(0).fresh, true);
  r.seek(900);
  await until(() => r.reach >= 900);
  const { fresh, events } = r.at(900);
  assert.equal(fresh, true);
  assert.deepEqual(events[0], { cols: 80, rows: 24 });
  assert.match(events[1].data, /^900 x/);
  assert.deepEqual(
    opened.map((o) => o.at),
    [0, 900],
  );
  await until(() => opened[0].cancelled);
  r.seek(902); // which is at hand
  r.seek(899);
  await until(() => r.reach >= 899);
  assert.match(r.at(899).events[1].data, /^899 x/);
  assert.ok(opened.reduce((n, o) => n + o.read, 0) < 100);
  life.abort();
  await until(() => opened[2].cancelled);
});

test("one does not go on past what has come, nor wait for long pauses", async () => {
  const life = new AbortController();
  const body = async () =>
    new Response([head, '[1,"o","a"]', '[50,"o","b"]', '[51,"o","cut'].join("\n")).body;
  const r = new Reel({ length: 51 }, body, 2, () => {}, life.signal);
  assert.equal(r.until(0, 1), 0);
  await until(() => r.over);
  r.at(1);
  assert.equal(r.until(1, 1.1), 48);
  r.limit(Infinity);
  assert.equal(r.until(1, 1.1), 1.1);
  assert.deepEqual(r.at(51).events, [{ data: "b" }]);
  life.abort();
});

test("an answer that is late is asked for again", async () => {
  const life = new AbortController();
  let asked = 0;
  const late = async () => {
    if (++asked < 3) throw Object.assign(new Error("late"), { status: 0, refused: false });
    return new Response([head, '[1,"o","a"]', ""].join("\n")).body;
  };
  const r = new Reel({ length: 1 }, late, 2, () => {}, life.signal);
  await until(() => r.over);
  assert.equal(r.failed, null);
  assert.deepEqual(r.at(1).events[1], { data: "a" });
  const refused = async () => {
    throw Object.assign(new Error("no"), { status: 404 });
  };
  const none = new Reel({ length: 1 }, refused, 2, () => {}, life.signal);
  await until(() => none.over);
  assert.equal(none.failed.message, "no");
  life.abort();
});

test("lines are put together", async () => {
  const l = lines(new Response("a\nb").body);
  const all = [];
  for (let got; (got = await l.next()); ) all.push(...got);
  assert.deepEqual(all, ["a", "b"]);
});
