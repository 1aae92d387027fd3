// Pieces of text as elements.

import { el } from "./dom.js";
import { lines, pieces, warnings } from "./visible.js";

function piece(p) {
  if (p.kind === "plain") return document.createTextNode(p.text);
  const e = el("span", { class: p.kind, title: p.title, text: p.text });
  if (p.kind === "alike") e.append(el("small", { text: p.title.split(",")[0] }));
  return e;
}

/** inline shows a text on one line, exactly. */
export function inline(text, cls = "") {
  return el("bdo", { dir: "ltr", class: `exact ${cls}`.trim() }, pieces(text ?? "", { multiline: false }).map(piece));
}

const some = 100; // lines that are laid out together, when they come near to view

/** script shows a text with all its lines, numbered. */
export function script(text, cls = "") {
  const all = lines(pieces(text));
  const wide = String(all.length).length;
  const chunks = [];
  for (let at = 0; at < all.length; at += some) {
    const few = all.slice(at, at + some);
    chunks.push(
      el(
        "div",
        { class: "lines", style: `--lines:${few.length}` },
        few.map((line, i) => el("bdo", { dir: "ltr", class: "line exact", "data-line": at + i + 1 }, line.map(piece))), // a counter would begin anew in each chunk
      ),
    );
  }
  return el("div", { class: `script ${cls}`.trim(), style: `--digits:${wide}ch` }, chunks);
}

/** cautions are the warnings about a text; null where there are none. */
export function cautions(text) {
  const found = warnings(pieces(text));
  return found.length
    ? el(
        "ul",
        { class: "cautions" },
        found.map((w) => el("li", { text: w })),
      )
    : null;
}
