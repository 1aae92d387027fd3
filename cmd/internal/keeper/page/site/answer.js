// The answer to an ask: what somebody is asked before it is given.

import { post } from "./api.js";
import { answered } from "./asks.js";
import { el, facts, say } from "./dom.js";
import { dialog } from "./keys.js";
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

/** answer asks whether an ask is to be approved or rejected, and does it. It returns the dialog. */
export function answer({ id, digest, approved, ask, go, signal }) {
  const reason = el("input", {
    type: "text",
    maxlength: 4096,
    "data-first": true,
    placeholder: approved ? "optional" : "why not",
    autocomplete: "off",
  });
  const signature = el("textarea", { rows: 4, spellcheck: "false", placeholder: "-----BEGIN SSH SIGNATURE-----", autocomplete: "off" });
  const proof = ask.text("least-proof");
  const begins = firstLine(ask.value("command"));
  const signing = el(
    "details",
    { open: approved && (proof === "passphrase" || proof === "touch") },
    el("summary", { text: "Sign it with an enrolled key" }),
    el("p", { text: "Run this where the key is, and paste what it prints:" }),
    el("pre", { class: "copy", text: `printf %s ${digest} | ssh-keygen -Y sign -n approve@fairlead -f KEY` }),
    el("label", null, "Signature ", signature),
  );
  let sent = false,
    missed = "";
  const asking = dialog(
    approved ? "Approve this?" : "Reject this?",
    [
      facts([
        ["Command", inline(begins)],
        ["Who", inline(ask.value("principal"))],
        ["Where", inline(ask.value("host"))],
        ["Digest", el("code", { class: "digest", text: digest })],
      ]),
      el("label", null, "Reason ", reason),
      approved ? signing : "",
    ],
    [
      {
        text: approved ? "Approve" : "Reject",
        class: approved ? "yes" : "no",
        does: async () => {
          const says = { digest };
          if (reason.value) says.reason = reason.value;
          if (approved && signature.value.trim()) {
            Object.assign(says, { signature: signatureIn(signature.value), proof: "passphrase" });
            if (!says.signature) throw new Error("What was pasted holds no whole signature, from BEGIN SSH SIGNATURE to END.");
          }
          sent = true;
          try {
            await post(`/v1/approvals/${encodeURIComponent(id)}/${approved ? "approve" : "reject"}`, says);
          } finally {
            sent = false;
            if (missed) asking.refuse(missed);
          }
          const said = `${approved ? "Approved" : "Rejected"}: ${asText(begins)}`;
          const next = answered(id, approved ? "approved" : "rejected", said);
          asking.close();
          say(said);
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
