import assert from "node:assert/strict";
import { test } from "node:test";
import { asText, lines, pieces, warnings } from "./site/visible.js";

const marks = (text) =>
  pieces(text)
    .filter((p) => p.kind === "hidden")
    .map((p) => p.text)
    .join("");
const alike = (text) =>
  pieces(text)
    .filter((p) => p.kind === "alike")
    .map((p) => p.text)
    .join("");

test("whatever cannot be seen is an escape", () => {
  for (const [text, want] of [
    [`grep '\\.log' "x"`, ""],
    ["a\nb\n", ""],
    ["echo ä→漢", ""],
    ["a\tb", "\\t"],
    ["\x1b[2J", "\\x1b"],
    ["rm -rf x\rls   ", "\\r\\x20\\x20\\x20"],
    ["a \nb", "\\x20"],
    ["a  b", ""],
    ["a \t ", "\\x20\\t\\x20"],
    ["\x00\x7f", "\\x00\\x7f"],
    ["\u009b2J", "\\u009b"],
    ["\ufffd", "\\ufffd"],
    ["a\u202eb\u2066", "\\u202e\\u2066"],
    ["a\u200bb\u200d\ufeff", "\\u200b\\u200d\\ufeff"],
    ["a\u00a0b\u3000\u2009", "\\u00a0\\u3000\\u2009"],
    ["\u3164\u115f\uffa0\u2800", "\\u3164\\u115f\\uffa0\\u2800"],
    ["a\u{e0041}\u{e0100}\ufe0f", "\\U000e0041\\U000e0100\\ufe0f"],
    ["e\u0301", "\\u0301"],
    ["ls\u0489 a\u05bf", "\\u0489\\u05bf"],
    ["\u0e49x\u0e49", "\\u0e49\\u0e49"],
    ["а\u05bf", "\\u05bf"],
    ["ก\u0e49\u0e49\u0e49\u0e49\u0e49", "\\u0e49"],
    ["ภาษาไทย हिन्दी தமிழ் עִבְרִית བོད་སྐད", ""],
    ["\u2028\u2029", "\\u2028\\u2029"],
    ["\ue000\u{10ffff}\u0378", "\\ue000\\U0010ffff\\u0378"],
  ])
    assert.equal(marks(text), want, JSON.stringify(text));
});

test("bytes that are no UTF-8 stay bytes", () => {
  for (const [bytes, want] of [
    [[0x61, 0xff, 0xc2, 0x9b], "\\xff\\u009b"],
    [[0xc0, 0xaf], "\\xc0\\xaf"],
    [[0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"],
    [[0xe2, 0x82], "\\xe2\\x82"],
    [[0xf4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"],
    [[0xf0, 0x9f, 0x98, 0x80], ""],
    [[0xe0, 0x80, 0xaf], "\\xe0\\x80\\xaf"],
    [[0x80], "\\x80"],
  ])
    assert.equal(marks(new Uint8Array(bytes)), want);
});

test("letters that may be taken for others are marked, and words of another script are not", () => {
  for (const [text, want] of [
    ["rаm", "а"],
    ["ѕudо", "ѕо"],
    ["а", "а"],
    ["раураl", "раура"],
    ["Привет, это мы", ""],
    ["ｒｍ", "ｒｍ"],
    ["ls –la", "–"],
    ["echo “x”", "“”"],
    ["a⁄b", "⁄"],
    ["𝗋𝗆", "𝗋𝗆"],
    ["ﬁ", "ﬁ"],
    ["日本語 ελληνικά ä é", ""],
    ["a；b", "；"],
    ["x＞y", "＞"],
  ])
    assert.equal(alike(text), want, text);
});

test("nothing is left out, and a newline at the end is a line", () => {
  assert.deepEqual(
    lines(pieces("a\n\nb\n")).map((l) => l.map((p) => p.text).join("")),
    ["a", "", "b", ""],
  );
  assert.equal(asText("a\nb\u202e"), "a\\nb\\u202e");
  assert.deepEqual(warnings(pieces("plain")), []);
  assert.deepEqual(warnings(pieces("\x07\x07а")), [
    "2 characters that cannot be seen, written as marked escapes: U+0007, bell",
    "1 character that may be taken for another: а U+0430, looks like a",
  ]);
});

test("a large text of one kind takes no time to speak of", () => {
  for (const char of ["а", "ж", "\u202e", " ", "a", "\n"]) assert.ok(pieces(char.repeat(1 << 17)).length > 0);
});
