// Approvals: what waits for an answer.

import { answer } from "./answer.js";
import { fetchAsk, showAsk } from "./ask.js";
import { asks, onAsks } from "./asks.js";
import { known } from "./classes.js";
import { button, el } from "./dom.js";
import { granted } from "./granted.js";
import { setKeys } from "./keys.js";
import { rows } from "./rows.js";
import { inline } from "./shown.js";
import { bytes, moment } from "./times.js";
import { asText } from "./visible.js";

export const approvals = {
  name: "approvals",
  title: "Approvals",
  list(root, { go, signal }) {
    const told = el("p", { class: "told", hidden: true });
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const list = rows({
      label: "Asks that wait",
      empty: "No pending approvals.",
      columns: [
        ["who", "Who"],
        ["host", "Host"],
        ["class", "Class"],
        ["what", "Command"],
        ["age", "Age"],
        ["left", "Left"],
      ],
      cells: (a) => [
        inline(a.principal),
        inline(a.host),
        a.class ? inline(a.class, `tag ${known(a.class)}`) : "",
        [
          a.typed ? el("small", { text: "typed at" }) : "",
          inline(a.first_line, "cut"),
          a.lines > 1 || a.bytes > 200 ? el("small", { text: `${a.lines > 1 ? `${a.lines} lines, ` : ""}${bytes(a.bytes)}` }) : "",
        ],
        a.asked ? moment(a.asked, "ago") : "",
        a.expires ? moment(a.expires, "until") : "never",
      ],
      open: (a) => go("approvals", a.id),
      beside: (a) =>
        button("Reject", () => reject(a), { class: "no", title: "Reject it without opening it (r)", "aria-label": `Reject ${asText(a.first_line)}` }),
    });
    const given = granted(signal);
    root.append(el("h1", { class: "unseen", text: "Approvals" }), told, problem, list.element, given.element);
    let failed = "";

    function tell() {
      problem.textContent = failed || (asks.error?.message ?? "");
      problem.hidden = problem.textContent === "";
      if (asks.told) told.textContent = asks.told;
      asks.told = "";
      told.hidden = told.textContent === "";
    }

    /** reject needs no look at all of an ask: a page that cannot show one must be able to get rid of it. */
    async function reject(a) {
      failed = "";
      try {
        const { ask, digest, sound } = await fetchAsk(a.id, signal);
        if (!sound) throw new Error("Digest mismatch: the request was changed. It cannot be answered here.");
        answer({ id: a.id, digest, approved: false, ask, signal, go: (_view, _id, next) => list.focus(next) });
      } catch (e) {
        if (!signal.aborted) failed = e.message;
      }
      tell();
    }

    setKeys({ r: () => list.active() && void reject(list.active()) });
    onAsks(() => {
      if (asks.known) list.update(asks.items);
      tell();
      void given.look();
    }, signal);
  },
  open: showAsk,
};
