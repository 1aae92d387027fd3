import assert from "node:assert/strict";
import { test } from "node:test";
import { firstLine, signatureIn } from "./site/answer.js";

test("of what is pasted only the signature is sent", () => {
  const whole = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAA+/=\nAAAA\n-----END SSH SIGNATURE-----";
  for (const text of [whole, `Signing data on standard input\n${whole}\n$ `, `\r\n  ${whole}\n`, `${whole}\n${whole}`]) assert.equal(signatureIn(text), whole);
  for (const text of ["", "x", whole.slice(0, -5), whole.slice(5)]) assert.equal(signatureIn(text), "");
});

test("a dialog tells how a command begins", () => {
  const first = (text) => firstLine(new TextEncoder().encode(text));
  assert.equal(first("touch x"), "touch x");
  assert.equal(first("touch x\nrm y\nrm z"), "touch x …");
  assert.equal(first(`touch ${"x".repeat(300)}`), `touch ${"x".repeat(194)}…`);
  assert.equal(first("\n\n"), " …");
});
