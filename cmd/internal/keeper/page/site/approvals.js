// Approvals: what waits for an answer.

import { asks, onAsks } from "./asks.js";
import { known } from "./classes.js";
import { el } from "./dom.js";
import { rows } from "./rows.js";
import { inline } from "./shown.js";
import { bytes, moment } from "./times.js";
import { showAsk } from "./ask.js";

export const approvals = {
  name: "approvals",
  title: "Approvals",
  list(root, { go, signal }) {
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const list = rows({
      label: "Asks that wait",
      empty: "Nothing waits for an answer.",
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
          inline(a.first_line, "cut"),
          a.lines > 1 || a.bytes > 200 ? el("small", { text: `${a.lines > 1 ? `${a.lines} lines, ` : ""}${bytes(a.bytes)}` }) : "",
        ],
        a.asked ? moment(a.asked, "ago") : "",
        a.expires ? moment(a.expires, "until") : "never",
      ],
      open: (a) => go("approvals", a.id),
    });
    root.append(el("h1", { class: "unseen", text: "Approvals" }), problem, list.element);
    onAsks(() => {
      problem.hidden = !asks.error;
      problem.textContent = asks.error?.message ?? "";
      if (asks.known) list.update(asks.items);
    }, signal);
  },
  open: showAsk,
};
