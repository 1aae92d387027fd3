// Recordings: terminals as they were.

import { get, openSlow } from "./api.js";
import { headOf, parse } from "./cast.js";
import { lines, most as whole } from "./reel.js";
import { button, el, land } from "./dom.js";
import { setKeys } from "./keys.js";
import { listen } from "./live.js";
import { paced } from "./pace.js";
import { player } from "./player.js";
import { rows } from "./rows.js";
import { inline } from "./shown.js";
import { bytes, clock, moment } from "./times.js";

const most = 200;

export const recordings = {
  name: "recordings",
  title: "Recordings",
  list(root, { go, signal }) {
    const problem = el("p", { class: "problem", role: "alert", hidden: true });
    const list = rows({
      label: "Recordings, the newest first",
      empty: "Nothing has been recorded.",
      columns: [
        ["when", "When"],
        ["who", "Who"],
        ["host", "Host"],
        ["long", "Length"],
        ["size", "Size"],
        ["state", ""],
      ],
      cells: (r) => [
        r.started ? moment(r.started) : "",
        inline(r.principal),
        inline(r.host),
        clock(r.seconds ?? 0),
        bytes(r.bytes ?? 0),
        r.live ? el("span", { class: "tag live", text: "live" }) : "",
      ],
      open: (r) => go("recordings", r.id),
    });
    root.append(el("h1", { class: "unseen", text: "Recordings" }), problem, list.element);
    const look = paced(async () => {
      try {
        list.update((await get(`/v1/recordings?limit=${most}`, signal)).items);
        problem.hidden = true;
      } catch (e) {
        if (signal.aborted) return;
        problem.textContent = e.message;
        problem.hidden = false;
      }
    }, signal);
    listen((e) => e.kind === "connected" && look(), signal);
    look();
  },
  async open(root, id, { go, signal }) {
    const open = (at) => openSlow(`/v1/recordings/${encodeURIComponent(id)}?at=${at}`, { signal });
    const { cast, long } = await beginning(await open(0));
    if (signal.aborted) return;
    const title = el("h1", null, inline(cast.title || id));
    root.classList.add("page");
    root.append(
      el(
        "div",
        { class: "bar above" },
        button("Back", () => go("recordings"), { "aria-keyshortcuts": "Escape" }),
        title,
        cast.timestamp ? moment(new Date(cast.timestamp * 1000).toISOString()) : "",
      ),
    );
    land(title);
    setKeys({ ...player(root, cast, signal, long ? open : null), Escape: () => go("recordings") });
  },
};

/** beginning reads a recording whole, or the head of a long one. */
async function beginning(body) {
  const source = lines(body);
  const all = [];
  for (let size = 0, got; (got = await source.next()); ) {
    for (const line of got) {
      all.push(line);
      size += line.length;
    }
    if (size > whole) {
      source.cancel();
      return { cast: headOf(all[0]), long: true };
    }
  }
  return { cast: parse(all.join("\n")), long: false };
}
