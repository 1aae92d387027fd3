// A list that keeps its place: rows stay the elements that they are while what they tell changes.

import { el } from "./dom.js";

/**
 * rows makes a list of things to open. columns are [class, title] each; cells gives the nodes or texts of an item for them.
 * update shows items, which have ids; empty says what to show where there are none. beside makes what else stands in a row, if
 * anything. active is the item that has the focus, and focus gives it to another.
 */
export function rows({ label, columns, cells, open, empty, beside = () => null }) {
  const head = el(
    "div",
    { class: "row head", "aria-hidden": "true" },
    columns.map(([cls, title]) => el("span", { class: cls, text: title })),
  );
  const list = el("ol", { class: "rows", "aria-label": label });
  const none = el("p", { class: "empty", text: empty, hidden: true, tabindex: "-1" });
  const known = new Map();
  const element = el("div", { class: "list" }, head, list, none);
  head.hidden = true;

  function rowOf(item) {
    let row = known.get(item.id);
    if (!row) {
      const b = el("button", { type: "button", class: "row", onclick: () => open(row.item) });
      b.dataset.id = item.id;
      row = { li: el("li", null, b, beside(item)), button: b, told: "" };
      known.set(item.id, row);
    }
    const told = JSON.stringify(item);
    if (told !== row.told) {
      row.item = item;
      row.told = told;
      const texts = cells(item);
      row.button.replaceChildren(...columns.map(([cls], i) => el("span", { class: cls }, texts[i])));
    }
    return row;
  }

  const focused = () => known.get(document.activeElement?.closest?.("li")?.querySelector(".row")?.dataset.id);

  return {
    element,
    list,
    active: () => focused()?.item ?? null,
    focus: (id) => (known.get(id)?.button ?? none).focus(),
    update(items) {
      const active = focused();
      const place = active ? [...list.children].indexOf(active.li) : -1;
      const ids = new Set(items.map((i) => i.id));
      for (const [id, row] of known) {
        if (ids.has(id)) continue;
        row.li.remove();
        known.delete(id);
      }
      items.map(rowOf).forEach(({ li }, i) => {
        if (list.children[i] !== li) list.insertBefore(li, list.children[i] ?? null);
      });
      none.hidden = items.length > 0;
      head.hidden = items.length === 0;
      if (active && !ids.has(active.item.id)) (list.children[Math.min(place, list.children.length - 1)]?.firstChild ?? none).focus();
    },
  };
}

/** move puts the focus on another row of those in root: by steps, or on the first or last. */
export function move(root, by) {
  const all = [...root.querySelectorAll("ol.rows > li > .row")];
  if (!all.length) return;
  const at = all.indexOf(document.activeElement?.closest?.("li")?.querySelector(".row"));
  const to = by === "first" ? 0 : by === "last" ? all.length - 1 : at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by));
  all[to].focus();
  all[to].scrollIntoView({ block: "nearest" });
}
