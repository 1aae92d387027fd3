// Texts as elements, with as little of a document as they need.
import assert from "node:assert/strict";
import { test } from "node:test";

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [] });
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }
  append(...children) {
    this.children.push(...children);
  }
}
globalThis.document = { createElement: (tag) => new Element(tag), createTextNode: (text) => text };
const { script } = await import("./site/shown.js");

test("the lines of a long script are numbered through", () => {
  const all = script(Array.from({ length: 250 }, (_, i) => `line ${i + 1}`).join("\n"));
  const numbers = all.children.flatMap((chunk) => chunk.children.map((line) => Number(line.attributes["data-line"])));
  assert.deepEqual(
    numbers,
    Array.from({ length: 250 }, (_, i) => i + 1),
  );
});
