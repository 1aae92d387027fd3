import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Ask, becomes, digestOf, valueOf, withInput } from "./site/document.js";

// What the keeper wrote: a document, and what is in it.
const bytes = new Uint8Array(readFileSync("ask.bin"));
const want = JSON.parse(readFileSync("ask.json"));
const text = (b) => Buffer.from(b).toString("base64");

test("a document is read to the byte", async () => {
  const ask = new Ask(bytes);
  assert.equal(await digestOf(bytes), want.digest);
  assert.equal(ask.text("id"), want.id);
  assert.equal(text(ask.value("command")), want.command);
  assert.equal(text(ask.value("stdin-head")), want.stdin_head);
  assert.deepEqual(
    ask.members.map((m) => text(valueOf(m, "host"))),
    want.members,
  );
  assert.deepEqual(ask.members.map(becomes), want.becomes);
  assert.equal(becomes(ask.fields), "");
  assert.deepEqual(
    ask.fields.filter((f) => f.name === "via").map((f) => text(f.value)),
    want.via,
  );
  const again = Buffer.concat([
    Buffer.from("fairlead-approval-v1\n"),
    ...ask.fields.flatMap((f) => [Buffer.from(`${f.name} ${f.value.length}\n`), f.value, Buffer.from("\n")]),
  ]);
  assert.deepEqual(new Uint8Array(again), bytes, "all of it is in its fields");
});

test("a yes to what is typed, too, has a digest of its own", async () => {
  const read = (name) => new Ask(new Uint8Array(readFileSync(name)));
  assert.equal(await digestOf(withInput(read("sat.bin"))), readFileSync("sat.txt", "utf8"));
  assert.equal(withInput(new Ask(bytes)), null, "nobody sits at it");
  const typed = read("typed.bin");
  assert.equal(new TextDecoder().decode(typed.value("typed")), "print(1)\x04");
  assert.equal(withInput(typed), null, "that is asked about by itself");
});

test("what is no document is refused", () => {
  const refuse = (b) => assert.throws(() => new Ask(new Uint8Array(b)), Error);
  const all = Buffer.from(bytes);
  refuse([]);
  refuse(Buffer.from("fairlead-approval-v2\n"));
  for (let n = 1; n < all.length; n += 7) refuse(all.subarray(0, all.length - n));
  refuse(Buffer.concat([all, Buffer.from("x")]));
  refuse(Buffer.concat([all, Buffer.from("command 1\nx\n")]));
  refuse(Buffer.concat([all, Buffer.from("other 01\nx\n")]));
  refuse(Buffer.concat([all, Buffer.from("other -1\nx\n")]));
  refuse(Buffer.concat([all, Buffer.from("other 5\nx\n")]));
});
