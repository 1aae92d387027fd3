import assert from "node:assert/strict";
import { test } from "node:test";
import { Backlog } from "./site/backlog.js";

/** slow is a screen that takes a piece when it is told to. */
function slow(most) {
  const drawn = [];
  let taken = null;
  const b = new Backlog({
    most,
    missed: (n) => `(${n})`,
    draw: (data) => (drawn.push(data), new Promise((r) => (taken = r))),
  });
  const soon = () => new Promise((r) => setTimeout(r));
  return {
    drawn,
    add: (...pieces) => pieces.forEach((p) => b.add(p)),
    async takes() {
      taken();
      await soon();
    },
    async all() {
      for (let n = -1; n !== drawn.length;) {
        n = drawn.length;
        await this.takes();
      }
      return drawn;
    },
  };
}

test("what can be drawn is, in order", async () => {
  const s = slow(10);
  s.add("a", "bb", "ccc");
  assert.deepEqual(s.drawn, ["a"]);
  assert.deepEqual(await s.all(), ["a", "bb", "ccc"]);
  s.add("d");
  assert.deepEqual(await s.all(), ["a", "bb", "ccc", "d"]);
});

test("of a flood the end is drawn, and where it has a gap", async () => {
  const s = slow(10);
  s.add("first");
  for (let i = 0; i < 1000; i++) s.add("yyy");
  s.add("last");
  const drawn = await s.all();
  assert.equal(drawn[0], "first");
  assert.match(drawn[1], /^\(\d+\)$/);
  assert.equal(drawn.at(-1), "last");
  const shown = drawn.filter((d) => d !== drawn[1]).join("").length;
  assert.ok(shown <= 20, `${shown} bytes`);
  assert.equal(shown + Number(drawn[1].slice(1, -1)), 5 + 3000 + 4, "no byte is lost untold");
});

test("a piece that is larger than may wait is drawn", async () => {
  const s = slow(10);
  s.add("one", "x".repeat(50));
  assert.deepEqual(await s.all(), ["one", "x".repeat(50)]);
  s.add("two", "three", "y".repeat(50));
  assert.deepEqual((await s.all()).slice(2), ["two", "(5)", "y".repeat(50)]);
});

test("while a flood goes on, gaps are few", async () => {
  const s = slow(100);
  for (let i = 0; i < 1000; i++) {
    s.add("yyyy", "yyyy");
    if (i % 2) await s.takes();
  }
  const gaps = s.drawn.filter((d) => d.startsWith("(")).length;
  assert.ok(gaps > 0 && gaps < s.drawn.length / 4, `${gaps} gaps in ${s.drawn.length}`);
});

test("what cannot be drawn keeps nothing else from being drawn", async () => {
  const drawn = [];
  const b = new Backlog({
    most: 10,
    missed: (n) => `(${n})`,
    draw: async (data) => {
      drawn.push(data);
      if (data === "bad") throw new Error("no");
    },
  });
  b.add("bad");
  b.add("good");
  await new Promise((r) => setTimeout(r));
  assert.deepEqual(drawn, ["bad", "good"]);
});
