// One ask, all of it, and the answer. What is shown is read out of the document that the answer is bound to.

import { get } from "./api.js";
import { asks, fate, onAsks } from "./asks.js";
import { answer } from "./answer.js";
import { fromBase64 } from "./decode.js";
import { Ask, becomes, digestOf, valueOf, withInput } from "./document.js";
import { button, el, facts } from "./dom.js";
import { setKeys } from "./keys.js";
import { watch } from "./seen.js";
import { cautions, inline, script } from "./shown.js";
import { known } from "./classes.js";
import { bytes, moment } from "./times.js";

/** How long an ask has to be in view before it can be answered, in ms: who types ahead has not seen it. */
const settling = 500;

/** fetchAsk gets an ask. It is sound if it is what its digest says. */
export async function fetchAsk(id, signal) {
  const shown = await get(`/v1/approvals/${encodeURIComponent(id)}`, signal);
  const doc = fromBase64(shown.document);
  const ask = new Ask(doc);
  const digest = await digestOf(doc);
  return { ask, digest, sound: digest === shown.digest && ask.text("id") === id };
}

/** showAsk shows the ask with an id in root. */
export async function showAsk(root, id, { go, signal }) {
  const { ask, digest, sound } = await fetchAsk(id, signal);
  const all = withInput(ask);
  const more = all && (await digestOf(all));
  if (signal.aborted) return;

  const must = el("section", { class: "must", "aria-label": "What is asked" }, told(ask), hostsOf(ask), typedOf(ask), commandOf(ask), stdinOf(ask));
  const scroller = el("div", { class: "scroll", tabindex: "0", "aria-label": "The ask" }, must, allFields(ask, digest));
  const note = el("p", { class: "note", role: "status" });
  const yes = button("Approve", () => confirm(true), { class: "yes", "aria-keyshortcuts": "a", disabled: true });
  const no = button("Reject", () => confirm(false), { class: "no", "aria-keyshortcuts": "r", disabled: true });
  const rest = button("Show the rest", () => next(), { "aria-keyshortcuts": "n" });
  const bar = el(
    "div",
    { class: "bar" },
    button("Back", () => go("approvals"), { "aria-keyshortcuts": "Escape" }),
    note,
    rest,
    no,
    yes,
  );
  root.classList.add("page");
  root.append(el("h1", { class: "unseen" }, "Approval for ", inline(ask.value("principal")), " on ", inline(ask.value("host"))), scroller, bar);
  scroller.focus({ preventScroll: true });

  let part = 0,
    missing = 0,
    over = "",
    settled = false,
    timer = 0,
    asking = null;
  const gone = () => `It does not wait any more: ${over}.`;
  const next = () => scroller.scrollTo({ top: must.offsetTop - scroller.offsetTop + missing - 40, behavior: "instant" });
  const page = (by) => scroller.scrollBy({ top: by * scroller.clientHeight * 0.85, behavior: "instant" });
  const arm = () => {
    yes.disabled = !settled || !sound || part < 1 || over !== "";
    no.disabled = !settled || !sound || over !== "";
    rest.hidden = !sound || part === 1 || over !== "";
    note.classList.toggle("problem", !sound);
    note.textContent = !sound
      ? "Digest mismatch: the request was changed. It cannot be answered here."
      : over
        ? gone()
        : part < 1
          ? `${Math.floor(part * 100)} % shown. Scroll through all of it to approve.`
          : "";
  };
  const settle = () => {
    settled = true;
    arm();
  };
  const saw = (p, m) => {
    [part, missing] = [p, m];
    timer ||= setTimeout(settle, settling); // from when it is in view
    arm();
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  watch(must, scroller, must.querySelectorAll(".lines"), saw, signal);
  onAsks(() => {
    if (!asks.known || over || asks.items.some((a) => a.id === id)) return;
    over = fate(id) || "answered elsewhere, or taken back";
    arm();
    asking?.refuse(gone());
  }, signal);

  function confirm(approved) {
    if (signal.aborted || over || (approved ? yes : no).disabled) return;
    asking = answer({ id, digest, more, approved, ask, go, signal });
  }
  setKeys({
    a: () => confirm(true),
    r: () => confirm(false),
    n: () => next(),
    Escape: () => go("approvals"),
    j: () => scroller.scrollBy(0, 60),
    k: () => scroller.scrollBy(0, -60),
    " ": (e) => page(e.shiftKey ? -1 : 1),
    PageDown: () => page(1),
    PageUp: () => page(-1),
  });
}

/** told is who asks for what, and why. */
function told(ask) {
  const field = (name) => (ask.value(name).length ? inline(ask.value(name)) : "");
  return facts([
    ["Who", field("principal")],
    ["Where", [field("host"), place(ask.fields)]],
    ["Tier", field("tier")],
    ["Directory", field("dir")],
    ["Shell", field("shell")],
    ...shaping(ask.fields),
    ["Why, as the asker says", field("reason")],
    ["Class", ask.value("class").length ? inline(ask.value("class"), `tag ${known(ask.text("class"))}`) : ""],
    ["Why it is asked", field("because")],
    ["Hint", field("hint")],
    ["Rule", field("rule")],
    ["Proof needed", ask.text("least-proof") === "unproven" ? "none but the answer" : field("least-proof")],
    ["On a terminal", ask.text("interactive") === "yes" && !ask.has("typed") ? "yes: it can be typed at" : ""],
    ["Asked", ask.text("asked") ? [moment(ask.text("asked"), "ago"), " ago"] : ""],
    ["Time left", ask.text("expires") ? moment(ask.text("expires"), "until") : "no limit"],
  ]);
}

/** place is how a host is reached. */
function place(fields) {
  const text = (name) => new TextDecoder().decode(valueOf(fields, name));
  const [user, addr, port, transport] = ["user", "addr", "port", "transport"].map(text);
  const way = `${user && `${user}@`}${addr}${port && port !== "0" ? `:${port}` : ""}`;
  const via = fields.filter((f) => f.name === "via").map((f) => new TextDecoder().decode(f.value));
  const all = [transport, way, via.length ? `via ${via.join(", ")}` : ""].filter(Boolean).join(", ");
  return all ? [" ", inline(`(${all})`, "dim")] : [];
}

/** shaping is what else of a host changes what a command does there, and as whom. */
function shaping(fields) {
  const all = (name) => fields.filter((f) => f.name === name && f.value.length).map((f) => el("div", null, inline(f.value)));
  const yes = (name, text) => (new TextDecoder().decode(valueOf(fields, name)) === "yes" ? text : "");
  return [
    ["Becomes", becomes(fields) && [inline(becomes(fields)), yes("become-by-call", ", as the asker requests")]],
    ["Host's shell", all("host-shell")],
    ["Login", yes("login", "the account's profile is read first")],
    ["Environment", all("env")],
    ["Reached by", all("argv")],
    ["Key", all("identity")],
    ["Other keys", yes("identity-only", "none is offered")],
    ["SSH configuration", all("ssh-config")],
    ["Account", yes("sandboxed", "it can do no more than the sandboxes, its operator says")],
  ];
}

function hostsOf(ask) {
  if (!ask.members.length) return "";
  return el(
    "section",
    null,
    el("h2", { text: `On ${ask.members.length} hosts` }),
    el(
      "ol",
      { class: "hosts" },
      ask.members.map((m) =>
        el("li", null, inline(valueOf(m, "host")), place(m), valueOf(m, "tier").length ? [" ", inline(valueOf(m, "tier"), "tag")] : [], shapes(m)),
      ),
    ),
  );
}

/** shapes lists shaping of a member; null where there is none. */
function shapes(member) {
  const list = facts(shaping(member));
  return list.firstChild && list;
}

/** typedOf is what is to be typed at a command that runs. */
function typedOf(ask) {
  if (!ask.has("typed")) return "";
  const typed = ask.value("typed");
  return el("section", null, el("h2", null, "To be typed ", el("small", { text: bytes(typed.length) })), cautions(typed), script(typed));
}

function commandOf(ask) {
  const command = ask.value("command"),
    title = ask.has("typed") ? "At the command " : "Command ";
  return el("section", null, el("h2", null, title, el("small", { text: bytes(command.length) })), cautions(command), script(command, "command"));
}

function stdinOf(ask) {
  if (!ask.value("stdin-sha256").length) return "";
  const head = ask.value("stdin-head"),
    size = Number(ask.text("stdin-bytes"));
  return el(
    "section",
    null,
    el("h2", null, "Standard input ", el("small", { text: size > head.length ? `${bytes(size)}, and this is the beginning` : bytes(size) })),
    cautions(head),
    script(head),
  );
}

const above = new Set(["command", "typed", "stdin-head", "member"]);

/** allFields is the document field by field. */
function allFields(ask, digest) {
  const list = (fields) =>
    el(
      "dl",
      { class: "fields" },
      fields.map((f) =>
        el(
          "div",
          null,
          el("dt", { text: f.name }),
          el(
            "dd",
            null,
            above.has(f.name) && f.value.length
              ? el("i", { text: `${bytes(f.value.length)}, above` })
              : f.value.length
                ? inline(f.value)
                : el("i", { text: "empty" }),
          ),
        ),
      ),
    );
  const fields = ask.fields.filter((f, i, all) => f.name !== "member" || all.findIndex((o) => o.name === "member") === i);
  return el(
    "section",
    { class: "signed" },
    el("h2", { text: "What you are approving" }),
    el("p", { class: "dim" }, "Digest ", el("code", { class: "digest", text: digest })),
    list(fields),
    ask.members.map((m) => el("details", null, el("summary", null, inline(valueOf(m, "host"))), list(m))),
  );
}
