// Session approvals: what was approved for more than one command, and how to revoke it.

import { del, get } from "./api.js";
import { button, el } from "./dom.js";
import { inline } from "./shown.js";
import { moment } from "./times.js";

/** granted makes the list of session approvals; it is hidden where there are none. */
export function granted(signal) {
  const list = el("ol", { class: "granted", "aria-label": "Session approvals" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const element = el("section", { hidden: true }, el("h2", { text: "Session approvals" }), problem, list);

  const fail = (text) => ((problem.textContent = text), (problem.hidden = !text));

  async function revoke(a, b) {
    b.disabled = true;
    fail("");
    try {
      await del(`/v1/session-approvals/${encodeURIComponent(a.id)}`);
    } catch (e) {
      if (!signal.aborted) fail(e.message);
    }
    await look();
  }

  function row(a) {
    const b = button("Revoke", () => void revoke(a, b), { class: "no" });
    return el(
      "li",
      null,
      el(
        "span",
        null,
        inline(a.principal),
        " on ",
        inline(a.host),
        " in ",
        inline(a.cwd),
        ": ",
        a.scope.startsWith("commands") ? inline(a.scope) : inline(a.command, "cut"),
        el("small", { text: ` used ${a.used} times, approved by ` }),
        inline(a.approved_by),
        el("small", null, ", ends in ", moment(a.until, "until")),
      ),
      b,
    );
  }

  async function look() {
    try {
      const { items } = await get("/v1/session-approvals", signal);
      if (signal.aborted) return;
      list.replaceChildren(...items.map(row));
      element.hidden = items.length === 0;
    } catch (e) {
      if (!signal.aborted) fail(e.message);
    }
  }
  return { element, look };
}
