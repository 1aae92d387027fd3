// How far an approval reaches: one command, or more of the session.

import { el } from "./dom.js";

const classes = new Set(["read-only", "sensitive-read", "network-read", "write", "unknown"]); // others are approved each time
const plain = /^[A-Za-z0-9_./:,+@%=-]+$/; // a word that no shell reads as anything else

/** mayLast says whether an ask may be approved for its session. */
export const mayLast = (ask) =>
  !!(ask.text("session") || ask.text("sandbox")) &&
  !ask.has("typed") &&
  !ask.members.length &&
  !!ask.value("dir").length &&
  !ask.value("stdin-sha256").length &&
  classes.has(ask.text("class"));

/** wordsOf reads the words of a prefix. */
export function wordsOf(text) {
  const words = text.trim().split(/ +/).filter(Boolean);
  if (words.length < 2) throw new Error("A prefix is a program and at least one more word.");
  if (!words.every((w) => plain.test(w))) throw new Error("Words with quotes or other shell syntax: use fairlead approvals approve --session-prefix.");
  return words;
}

/** scopes makes the part of a dialog in which a person chooses. chosen is null for one command; changed is called when it changes. */
export function scopes(ask, changed) {
  const how = el(
    "select",
    { name: "scope" },
    el("option", { value: "once", text: "Once" }),
    el("option", { value: "exact", text: "For the session: this exact command" }),
    ask.text("interactive") === "yes" ? "" : el("option", { value: "prefix", text: "For the session: commands that begin with …" }),
  );
  const prefix = el("input", { type: "text", name: "prefix", maxlength: 1000, placeholder: "systemctl restart", autocomplete: "off", spellcheck: "false" });
  const time = el(
    "select",
    { name: "for" },
    ["0", "1800", "3600", "28800"].map((s) =>
      el("option", { value: s, text: { 0: "until the session ends, at most 24 hours", 1800: "30 minutes", 3600: "1 hour", 28800: "8 hours" }[s] }),
    ),
  );
  const words = el("label", { hidden: true }, "First words ", prefix),
    long = el("label", { hidden: true }, "How long ", time);
  const update = () => {
    words.hidden = how.value !== "prefix";
    long.hidden = how.value === "once";
    changed();
  };
  how.addEventListener("change", update);
  time.addEventListener("change", update);
  prefix.addEventListener("input", update);
  return {
    element: [el("label", null, "Approve ", how), words, long],
    chosen() {
      if (how.value === "once") return null;
      return { words: how.value === "prefix" ? wordsOf(prefix.value) : [], seconds: Number(time.value) };
    },
  };
}

/** said is a scope as the API takes it. */
export function said({ words, seconds }) {
  const s = {};
  if (words.length) s.prefix = words.join(" ");
  if (seconds) s.for_s = seconds;
  return s;
}
