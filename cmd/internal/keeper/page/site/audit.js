// Audit: what was asked, decided and done.

import { getSlow, query } from "./api.js";
import { button, el, say } from "./dom.js";
import { setKeys } from "./keys.js";
import { ends } from "./life.js";
import { rows } from "./rows.js";
import { inline, script } from "./shown.js";
import { local, moment } from "./times.js";
import { how } from "./watching.js";

const few = 50;
const nothing = { values: {}, query: {}, items: [], cursor: "", asked: false };
const last = { ...nothing }; // what was found stays while one of it is looked at
ends(() => Object.assign(last, nothing));

export const audit = {
  name: "audit",
  title: "Audit",
  list(root, { go, signal }) {
    const field = (name, label, props) =>
      el(
        "label",
        null,
        el("span", { text: label }),
        el("input", { name, type: "text", autocomplete: "off", spellcheck: "false", value: last.values[name] ?? "", ...props }),
      );
    const form = el(
      "form",
      { class: "search", role: "search", onsubmit: (e) => (e.preventDefault(), search()) },
      field("text", "Text", { type: "search", placeholder: "in the command", class: "wide" }),
      field("host", "Host", { placeholder: "web-*" }),
      field("principal", "Who", { placeholder: "agent/*" }),
      choice("verdict", "Verdict", ["allow", "ask", "deny"]),
      field("status", "Status", { placeholder: "ok, exit, denied…" }),
      field("exit", "Exit", { inputmode: "numeric", pattern: "[0-9]*", class: "narrow" }),
      field("since", "Since", { type: "datetime-local" }),
      field("until", "Until", { type: "datetime-local" }),
      el(
        "span",
        { class: "choices" },
        el("button", { type: "submit", text: "Search", class: "yes" }),
        button("Verify", () => verify(), { title: "Check that nothing in the audit log was changed" }),
      ),
    );
    const verified = el("div", { role: "status" });
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const list = rows({
      label: "Found, the newest first",
      empty: "Nothing was found.",
      columns: [
        ["when", "When"],
        ["who", "Who"],
        ["host", "Host"],
        ["what", "What"],
        ["verdict", "Verdict"],
        ["state", "Outcome"],
      ],
      cells: (i) => [
        moment(i.time),
        inline(i.principal ?? ""),
        inline(i.host ?? ""),
        i.command ? inline(i.command.slice(0, 300), "cut") : el("span", { class: "dim" }, inline(i.kind)),
        i.verdict ? el("span", { class: `tag ${verdicts.has(i.verdict) ? i.verdict : ""}` }, inline(i.verdict)) : "",
        i.status ? el("span", { class: i.status === "ok" ? "" : "bad" }, how(i)) : "",
      ],
      open: (i) => go("audit", i.id),
    });
    const more = button("More", () => find(last.items, last.cursor), { class: "more", hidden: true });
    root.append(el("h1", { class: "unseen", text: "Audit" }), form, verified, problem, list.element, more);
    setKeys({ "/": () => form.elements.text.focus() });

    function draw() {
      if (!last.asked) return;
      list.update(last.items);
      more.hidden = !last.cursor;
    }

    function showProblem(text) {
      problem.textContent = text;
      problem.hidden = false;
    }

    let going = new AbortController();
    signal.addEventListener("abort", () => going.abort());

    /** search gives up what is still looked for. What was found before stays until there is something else. */
    async function search() {
      const values = Object.fromEntries(new FormData(form));
      const q = { ...values };
      for (const name of ["since", "until"]) if (q[name]) q[name] = new Date(q[name]).toISOString();
      Object.assign(last, { values, query: q, asked: false });
      more.hidden = true;
      await find([], "");
    }

    /** find adds what it finds, from a cursor on, to what was found by the same search before. */
    async function find(before, cursor) {
      going.abort();
      going = new AbortController();
      const { signal: ours } = going;
      problem.hidden = true;
      more.disabled = true;
      try {
        const found = await getSlow(`/v1/audit/search${query({ ...last.query, limit: few, cursor })}`, ours);
        if (ours.aborted) return;
        const items = new Map([...before, ...found.items.map(named)].map((i) => [i.id, i]));
        Object.assign(last, { items: [...items.values()], cursor: found.next_cursor ?? "", asked: true });
        if (found.unreadable) showProblem(`${found.unreadable} lines of the record are no records: they were passed over. “Verify” says more.`);
        draw();
        say(`${last.items.length || "Nothing"} found${last.cursor ? ", and there is more" : ""}.`);
      } catch (e) {
        if (!ours.aborted) showProblem(e.message);
      } finally {
        if (!ours.aborted) more.disabled = false;
      }
    }

    async function verify() {
      verified.replaceChildren(el("p", { class: "note", text: "Checking the whole audit log…" }));
      try {
        const v = await getSlow("/v1/audit/verify", signal);
        verified.replaceChildren(
          el("p", {
            class: v.ok ? "good" : "problem",
            text: v.ok
              ? `The record is whole: ${v.records} records.`
              : `The record is not whole: ${v.problems.length} problems in ${v.records} records.`,
          }),
          v.head ? el("p", { class: "dim" }, "Head ", el("code", { class: "digest", text: v.head })) : "",
          el(
            "ul",
            { class: "problems" },
            v.problems.map((p) => el("li", null, inline(p))),
          ),
        );
      } catch (e) {
        if (!signal.aborted) verified.replaceChildren(el("p", { class: "problem", text: e.message }));
      }
    }

    draw();
    if (!last.asked) search();
  },
  async open(root, id, { go }) {
    const item = last.items.find((i) => i.id === id);
    setKeys({ Escape: () => go("audit") });
    root.classList.add("page");
    const scroller = el("div", { class: "scroll", tabindex: "0", "aria-label": "Records" });
    root.append(
      el(
        "div",
        { class: "bar above" },
        button("Back", () => go("audit"), { "aria-keyshortcuts": "Escape" }),
        el("h1", null, item ? inline(item.id) : "It is not among what was found."),
      ),
      scroller,
    );
    for (const e of item?.events ?? []) scroller.append(record(e));
    scroller.focus({ preventScroll: true });
  },
};

/** named gives what was found a name of its own: not all of it is about a command, which has one. */
const named = (i) => ({ ...i, id: `${i.kind} ${i.id || `at ${i.events?.[0]?.seq ?? i.time}`}` });

const verdicts = new Set(["allow", "ask", "deny"]);

function choice(name, label, values) {
  const s = el(
    "select",
    { name },
    el("option", { value: "", text: "any" }),
    values.map((v) => el("option", { value: v, text: v })),
  );
  s.value = last.values[name] ?? "";
  return el("label", null, el("span", { text: label }), s);
}

/** record shows all of one. */
function record(e) {
  const { kind, time, command, ...rest } = e;
  return el(
    "section",
    { class: "record" },
    el("h2", null, inline(kind), " ", el("small", { text: time ? local(time) : "" })),
    command ? script(command, "command") : "",
    el(
      "dl",
      { class: "fields" },
      Object.entries(rest).map(([name, value]) => el("div", null, el("dt", null, inline(name)), el("dd", null, valueOf(value)))),
    ),
  );
}

function valueOf(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.includes("\n") ? script(text) : inline(text);
}
