// Text as it is, to the byte: whatever cannot be seen, or shows as something else, is written as a marked escape.

import { decode, encoded } from "./decode.js";
import { deceives, isForeign, standsFor } from "./alike.js";

/**
 * A piece is {kind, text, title}. Its kind is "plain", "hidden" (text is an escape, as in a string of Go), "alike" (a
 * character that looks like others of ASCII), "foreign" (another one outside of it) or "newline", which is an escape too where
 * all stands on one line.
 */

const names = new Map([
  [0x00, "NUL"],
  [0x07, "bell"],
  [0x08, "backspace"],
  [0x09, "tab"],
  [0x0b, "vertical tab"],
  [0x0c, "form feed"],
  [0x0d, "carriage return"],
  [0x1b, "escape"],
  [0x20, "a space at the end"],
  [0x7f, "delete"],
  [0x85, "next line"],
  [0x9b, "control sequence introducer"],
  [0xa0, "no-break space"],
  [0xad, "soft hyphen"],
  [0x61c, "Arabic letter mark"],
  [0x115f, "Hangul filler"],
  [0x1160, "Hangul filler"],
  [0x180e, "Mongolian vowel separator"],
  [0x200b, "zero-width space"],
  [0x200c, "zero-width non-joiner"],
  [0x200d, "zero-width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x2028, "line separator"],
  [0x2029, "paragraph separator"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "pop directional formatting"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x202f, "narrow no-break space"],
  [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2068, "first strong isolate"],
  [0x2069, "pop directional isolate"],
  [0x2800, "empty Braille pattern"],
  [0x3000, "ideographic space"],
  [0x3164, "Hangul filler"],
  [0xfeff, "byte order mark"],
  [0xfffc, "object replacement"],
  [0xfffd, "replacement character"],
  [0xffa0, "Hangul filler"],
]);

// Controls, formats, private use, unassigned, separators that are no space, what is drawn as nothing, and marks that would
// change how a letter of another script looks.
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800\ufffc\ufffd]|(?! )\p{Zs}|(?=\p{M})[\p{Script=Inherited}\p{Script=Common}]/u;

const hex = (n, width) => n.toString(16).padStart(width, "0");

/** escape is how a character is written that is not shown. */
function escape(code) {
  if (code === 0x09) return "\\t";
  if (code === 0x0d) return "\\r";
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

const point = (code) => `U+${hex(code, 4).toUpperCase()}`;

function hiddenPiece(code) {
  const name = names.get(code) ?? (/\p{M}/u.test(String.fromCodePoint(code)) ? "combining mark" : "");
  return { kind: "hidden", text: escape(code), title: name ? `${point(code)}, ${name}` : point(code) };
}

// Scripts with marks of their own. One belongs on a letter of its script: on another it changes what that looks like.
const marked = [
  "Adlam Ahom Arabic Armenian Balinese Batak Bengali Bhaiksuki Brahmi Buginese Buhid Chakma Cham Cyrillic Devanagari Duployan Ethiopic Grantha",
  "Gujarati Gurmukhi Han Hanifi_Rohingya Hanunoo Hebrew Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khmer Khojki Khudawadi Lao Lepcha",
  "Limbu Mahajani Malayalam Manichaean Marchen Masaram_Gondi Meetei_Mayek Mende_Kikakui Modi Mongolian Myanmar Newa Nko Oriya",
  "Pahawh_Hmong Phags_Pa Rejang Samaritan Saurashtra Sharada Siddham Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le",
  "Tai_Tham Tai_Viet Takri Tamil Telugu Thaana Thai Tibetan Tifinagh Tirhuta",
]
  .join(" ")
  .split(" ")
  .map((name) => new RegExp(`\\p{Script=${name}}`, "u"));
const stacked = 4; // marks on one letter; more would lie over what is beside it

/** isAstray reports whether the character at i is a mark that does not stand on a letter of its own script, or on too many marks. */
function isAstray(all, i) {
  if (!/\p{M}/u.test(all[i].char)) return false;
  let base = i - 1;
  while (base >= 0 && i - base < stacked && /\p{M}/u.test(all[base].char ?? "")) base--;
  const on = all[base]?.char ?? "";
  return !/\p{L}/u.test(on) || !marked.some((s) => s.test(all[i].char) && s.test(on));
}

const isWord = (c) => /[\p{L}\p{N}_]/u.test(c);

/** pieces returns what bytes, or a text, consist of, for many lines or one. */
export function pieces(text, { multiline = true } = {}) {
  const all = [...decode(encoded(text))];
  const out = [];
  const plain = (char) => {
    const last = out[out.length - 1];
    if (last?.kind === "plain") last.text += char;
    else out.push({ kind: "plain", text: char, title: "" });
  };
  const trailing = blanksBefore(all);
  let foreign = false,
    end = 0;
  all.forEach((c, i) => {
    if (c.bad !== undefined) out.push({ kind: "hidden", text: `\\x${hex(c.bad, 2)}`, title: "a byte that is not UTF-8" });
    else if (c.code === 0x0a) out.push({ kind: "newline", text: multiline ? "\n" : "\\n", title: "a new line" });
    else if (c.code === 0x20 && trailing.has(i)) out.push(hiddenPiece(c.code));
    else if (c.code >= 0x20 && c.code < 0x7f) plain(c.char);
    else if (unseen.test(c.char) || isAstray(all, i)) out.push(hiddenPiece(c.code));
    else {
      if (i >= end) [foreign, end] = wordAt(all, i);
      const ascii = deceives(c.char, foreign);
      out.push({
        kind: ascii ? "alike" : "foreign",
        text: c.char,
        title: ascii ? `${point(c.code)}, looks like ${standsFor(c.char)}` : point(c.code),
      });
    }
  });
  return out;
}

/** blanksBefore are the places of spaces that only blanks follow on their line. */
function blanksBefore(all) {
  const found = new Set();
  let ends = true;
  for (let i = all.length - 1; i >= 0; i--) {
    const { code } = all[i];
    if (code === 0x20 && ends) found.add(i);
    else ends = code === 0x0a || code === 0x0d || (code === 0x09 && ends);
  }
  return found;
}

/** wordAt tells whether the character at i stands in a word that is foreign, and where that ends. */
function wordAt(all, i) {
  let from = i,
    to = i + 1;
  if (!isWord(all[i].char)) return [false, to];
  while (from > 0 && all[from - 1].char && isWord(all[from - 1].char)) from--;
  while (to < all.length && all[to].char && isWord(all[to].char)) to++;
  return [
    isForeign(
      all
        .slice(from, to)
        .map((c) => c.char)
        .join(""),
    ),
    to,
  ];
}

/** lines splits pieces at their newlines. A newline at the very end makes one more line, which is empty. */
export function lines(all) {
  const out = [[]];
  for (const p of all) {
    if (p.kind === "newline") out.push([]);
    else out[out.length - 1].push(p);
  }
  return out;
}

/** asText writes pieces as one text without marks: for titles, and for what only takes text. */
export function asText(text) {
  return pieces(text, { multiline: false })
    .map((p) => p.text)
    .join("");
}

/** warnings says in words what of the pieces deserves a second look. */
export function warnings(all) {
  const out = [];
  const hidden = all.filter((p) => p.kind === "hidden");
  if (hidden.length) out.push(`${counted(hidden)} that cannot be seen, written as marked escapes: ${named(hidden)}`);
  const alike = all.filter((p) => p.kind === "alike");
  if (alike.length) out.push(`${counted(alike)} that may be taken for another: ${named(alike, (p) => `${p.text} ${p.title}`)}`);
  return out;
}

const most = 8;

const counted = (some) => (some.length === 1 ? "1 character" : `${some.length} characters`);

function named(some, as = (p) => p.title) {
  const all = [...new Set(some.map(as))];
  return all.slice(0, most).join("; ") + (all.length > most ? "; …" : "");
}
