// The answer to an ask: what somebody is asked before it is given.

import { post } from "./api.js";
import { answered } from "./asks.js";
import { el, facts, say } from "./dom.js";
import { digestOf, forSession, withInput } from "./document.js";
import { dialog } from "./keys.js";
import { mayLast, said as scopeSaid, scopes } from "./scope.js";
import { inline } from "./shown.js";
import { asText } from "./visible.js";

const most = 200; // characters of a command that a dialog shows

/** firstLine is how a command begins, in few words. */
export function firstLine(command) {
  const text = new TextDecoder().decode(command);
  const [line, ...rest] = text.split("\n", 2);
  return line.length > most ? `${line.slice(0, most)}…` : rest.length ? `${line} …` : line;
}

/** signatureIn is what of a text is a signature; "" where there is none. */
export function signatureIn(text) {
  return /-----BEGIN SSH SIGNATURE-----[^-]*-----END SSH SIGNATURE-----/.exec(text)?.[0] ?? "";
}

/**
 * answer asks whether an ask is to be approved or rejected, and does it. more is the digest of a yes to what is typed, too; null
 * where there is none. It returns the dialog.
 */
export function answer({ id, digest, more, approved, ask, go, signal }) {
  const reason = el("input", {
    type: "text",
    maxlength: 4096,
    "data-first": true,
    placeholder: approved ? "optional" : "why not",
    autocomplete: "off",
  });
  const signature = el("textarea", { rows: 4, spellcheck: "false", placeholder: "-----BEGIN SSH SIGNATURE-----", autocomplete: "off" });
  const proof = ask.text("least-proof");
  const begins = firstLine(ask.value(ask.has("typed") ? "typed" : "command"));
  const named = el("code", { class: "digest" });
  const signs = el("pre", { class: "copy" });
  const input = el("input", { type: "checkbox" });
  const scope = approved && mayLast(ask) ? scopes(ask, () => name()) : null;
  const one = () => (input.checked ? { digest: more, with_input: true } : { digest });
  /** says is the answer: what was chosen, with the digest of the document that says so. */
  const says = async () => {
    const chosen = scope?.chosen();
    if (!chosen) return one();
    const all = forSession(input.checked ? withInput(ask) : ask.bytes, chosen);
    return { ...one(), digest: await digestOf(all), for_session: scopeSaid(chosen) };
  };
  const tell = (digest) => {
    named.textContent = digest || "…";
    signs.textContent = digest ? `printf %s ${digest} | ssh-keygen -Y sign -n approve@fairlead -f KEY` : "";
  };
  let latest = 0;
  const name = () => {
    const mine = ++latest;
    let chosen = null;
    try {
      chosen = scope?.chosen();
    } catch {
      return tell(""); // it says why when the answer is given
    }
    if (!chosen) return tell(one().digest);
    says().then((s) => mine === latest && tell(s.digest));
  };
  input.addEventListener("change", name);
  name();
  const signing = el(
    "details",
    { open: approved && (proof === "passphrase" || proof === "touch") },
    el("summary", { text: "Sign it with an enrolled key" }),
    el("p", { text: "Run this where the key is, and paste what it prints:" }),
    signs,
    el("label", null, "Signature ", signature),
  );
  let sent = false,
    missed = "";
  const asking = dialog(
    approved ? "Approve this?" : "Reject this?",
    [
      facts([
        [ask.has("typed") ? "To be typed" : "Command", inline(begins)],
        ["Who", inline(ask.value("principal"))],
        ["Where", inline(ask.value("host"))],
        ["Digest", named],
      ]),
      approved && more ? el("label", { class: "check" }, input, " and whatever is typed at it while it runs") : "",
      scope ? scope.element : "",
      el("label", null, "Reason ", reason),
      approved ? signing : "",
    ],
    [
      {
        text: approved ? "Approve" : "Reject",
        class: approved ? "yes" : "no",
        does: async () => {
          const said = await says();
          if (reason.value) said.reason = reason.value;
          if (approved && signature.value.trim()) {
            Object.assign(said, { signature: signatureIn(signature.value), proof: "passphrase" });
            if (!said.signature) throw new Error("The pasted text has no complete signature, from BEGIN SSH SIGNATURE to END.");
          }
          sent = true;
          try {
            await post(`/v1/approvals/${encodeURIComponent(id)}/${approved ? "approve" : "reject"}`, said);
          } finally {
            sent = false;
            if (missed) asking.refuse(missed);
          }
          const told = `${approved ? "Approved" : "Rejected"}: ${asText(begins)}`;
          const next = answered(id, approved ? "approved" : "rejected", told);
          asking.close();
          say(told);
          if (!signal.aborted) go("approvals", "", next);
        },
        failed: (e) => {
          if (e.code === "proof") signing.open = true;
        },
      },
      { text: "Cancel" },
    ],
    signal,
  );
  // What this page is answering itself is told by the answer.
  return { refuse: (why) => (sent ? (missed = why) : asking.refuse(why)) };
}
