import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines } from "./site/lines.js";
import { paced } from "./site/pace.js";
import { Parts, Seen } from "./site/seen.js";
import { events } from "./site/sse.js";

const stream = (...parts) =>
  new ReadableStream({
    start(c) {
      parts.forEach((p) => c.enqueue(p));
      c.close();
    },
  });

test("events come whole, however their bytes come", async () => {
  const text = 'event: a\nid: k-1\ndata: {"x":"ä"}\n\n: \n\nevent: b\r\ndata: {"y":\r\ndata: 2}\r\n\r\ndata: 3\n\nevent: torn\ndata: 4\n';
  const want = [
    { event: "a", id: "k-1", data: { x: "ä" } },
    { event: "b", id: "", data: { y: 2 } },
    { event: "message", id: "", data: 3 },
  ];
  const all = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, all.length]) {
    const parts = [];
    for (let i = 0; i < all.length; i += size) parts.push(all.slice(i, i + size));
    const got = [];
    for await (const e of events(stream(...parts))) got.push(e);
    assert.deepEqual(got, want, `${size} at a time`);
  }
});

test("a line's end goes back to the margin, once", () => {
  const l = new Lines(),
    bytes = (t) => new TextEncoder().encode(t);
  assert.equal(l.text("stdout", bytes("a\nb\r\nc\r")), "a\r\nb\r\nc\r");
  assert.equal(l.text("stdout", bytes("\nd")), "\nd");
  assert.equal(l.text("stderr", bytes("ä").slice(0, 1)), "");
  assert.equal(l.text("stderr", bytes("ä\n").slice(1)), "ä\r\n");
});

test("all was seen when nothing between was not", () => {
  const s = new Seen();
  assert.equal(s.part(100), 0);
  s.add(0, 40);
  s.add(60, 100);
  assert.ok(s.part(100) < 1);
  assert.equal(s.missing, 40);
  s.add(30, 61);
  assert.equal(s.part(100), 1);
  s.add(10, 5);
  assert.equal(s.part(100), 1);
  assert.ok(s.part(200) < 1, "it has grown");
});

test("what turns out to be another height when it is drawn was not seen", () => {
  const p = new Parts();
  p.look([10, 110, 210, 215], 0, 120);
  p.look([10, 110, 210, 215], 150, 215);
  assert.equal(p.missing, 120);
  p.look([10, 110, 310, 315], 115, 200);
  assert.ok(p.part < 1);
  assert.equal(p.missing, 110, "the last but one is twice as high");
  p.look([10, 110, 310, 315], 105, 315);
  assert.equal(p.part, 1);
  p.look([10, 110, 310, 315, 400], 0, 0);
  assert.ok(p.part < 1, "there is more");
  assert.equal(new Parts().part, 0);
});

/** settle lets everything that can go on without a timer do so. */
const settle = () => new Promise((done) => setImmediate(done));

test("a stream that says nothing at all is over, and one that says it lives is not", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let c;
  const body = new ReadableStream({ start: (controller) => (c = controller) });
  const next = events(body, 1000).next();
  const failed = assert.rejects(next, /nothing came/);
  for (let i = 0; i < 5; i++) {
    t.mock.timers.tick(900);
    c.enqueue(new TextEncoder().encode(": \n\n"));
    await settle();
  }
  t.mock.timers.tick(999);
  assert.equal(await Promise.race([failed.then(() => "over"), settle().then(() => "lives")]), "lives");
  t.mock.timers.tick(1);
  await failed;
});

test("however often a look is asked for, there is one at a time, and then a pause", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let looks = 0,
    end;
  const ends = new AbortController();
  const look = paced(() => (looks++, new Promise((done) => (end = done))), ends.signal, 300);
  look();
  look();
  look();
  assert.equal(looks, 1, "the first at once");
  end();
  await settle();
  look();
  t.mock.timers.tick(299);
  await settle();
  assert.equal(looks, 1, "the next not yet");
  t.mock.timers.tick(1);
  await settle();
  assert.equal(looks, 2, "all that was asked for meanwhile is one");
  end();
  await settle();
  t.mock.timers.tick(300);
  await settle();
  assert.equal(looks, 2);
  look();
  assert.equal(looks, 3, "at once after a rest");
  ends.abort();
  end();
  look();
  await settle();
  assert.equal(looks, 3);
});
