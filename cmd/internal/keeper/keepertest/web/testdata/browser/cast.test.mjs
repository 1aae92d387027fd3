import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, shorten, Tape } from "./site/cast.js";

const cast = (...events) =>
  parse([JSON.stringify({ version: 2, width: 80, height: 24, title: "t" }), ...events.map((e) => JSON.stringify(e))].join("\n"));

test("a recording is read up to where it was cut off, without what was typed", () => {
  const c = parse('{"version":2,"width":100,"height":30}\n[0.5,"o","a"]\n[1,"i","secret"]\n[2,"r","120x40"]\n[3,"x","?"]\n[4,"r","x"]\n[5,"o","cut');
  assert.deepEqual(c.events, [
    { time: 0.5, data: "a" },
    { time: 2, cols: 120, rows: 40 },
  ]);
  assert.deepEqual([c.cols, c.rows], [100, 30]);
  assert.throws(() => parse('{"version":1}'));
  assert.throws(() => parse(""));
});

test("pauses are shortened, and time does not go back", () => {
  assert.deepEqual(shorten([{ time: 1 }, { time: 11 }, { time: 10 }, { time: 12 }], 2), [1, 3, 3, 4]);
  assert.deepEqual(shorten([{ time: 1 }, { time: 11 }]), [1, 11]);
  assert.deepEqual(shorten([]), []);
});

test("going back begins anew, going on does not", () => {
  const t = new Tape(cast([1, "o", "a"], [2, "o", "b"], [3, "r", "90x20"], [4, "o", "c"]), 2);
  assert.equal(t.length, 4);
  assert.deepEqual(t.at(0), { fresh: false, events: [] });
  assert.deepEqual(t.at(2.5), { fresh: false, events: [{ data: "ab" }] });
  assert.deepEqual(t.at(4), { fresh: false, events: [{ time: 3, cols: 90, rows: 20 }, { data: "c" }] });
  assert.deepEqual(t.at(4), { fresh: false, events: [] });
  assert.deepEqual(t.at(1), { fresh: true, events: [{ data: "a" }] });
  assert.equal(t.time, 1);
  assert.deepEqual(t.at(0), { fresh: true, events: [] });
  assert.deepEqual(t.at(1), { fresh: false, events: [{ data: "a" }] });
});
