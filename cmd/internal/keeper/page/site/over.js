// The end of the page: why, and how to come back. Terminals that go on are shown until they have ended.

import { button, el } from "./dom.js";
import { goingOn, showTerminal } from "./terminal.js";
import { asText } from "./visible.js";

/** showOver shows it in main; id is of the terminal that is shown first. */
export function showOver(main, why, id) {
  const open = goingOn();
  const how = ["Run ", el("code", { text: "fairlead web" }), " again, and open the link that it gives."];
  if (!open.length) {
    main.replaceChildren(el("section", { class: "over" }, el("h1", { text: why }), el("p", null, how)));
    main.focus({ preventScroll: true });
    return;
  }
  const now = open.find((t) => t.id === id) ?? open[0];
  const away = new AbortController();
  const another = (id) => {
    away.abort();
    showOver(main, why, id);
  };
  const goes = open.length === 1 ? "This terminal stays open until it is hung up." : "These terminals stay open until they are hung up.";
  const bar = el(
    "div",
    { class: "bar above last", role: "alert", tabindex: "-1" },
    el("p", null, el("b", { text: why }), ` ${goes} `, how),
    open.length > 1 ? open.map((t) => button(asText(t.host), () => another(t.id), { "aria-pressed": String(t === now) })) : "",
  );
  const root = el("div", { class: "view" }, bar);
  main.replaceChildren(root);
  showTerminal(root, now.id, { signal: away.signal, go: () => (now.ended ? another("") : bar.focus()) });
}
