// A recording on a screen: play, pause, and go where one likes.

import { Tape } from "./cast.js";
import { Reel } from "./reel.js";
import { button, el } from "./dom.js";
import { readerButton } from "./reader.js";
import { Screen } from "./screen.js";
import { clock } from "./times.js";

const pauses = 2,
  step = 5;
const speeds = [0.5, 1, 2, 4, 8, 16];

/** player plays a recording in root, and returns the keys for it. open gets a long one from a moment on, bit by bit. */
export function player(root, cast, signal, open = null) {
  const box = el("div", { class: "tty scaled" });
  const play = button("Play", () => toggle(), { class: "play", "aria-keyshortcuts": "Space" });
  const range = el("input", { type: "range", min: 0, step: "any", value: 0, "aria-label": "Position", oninput: () => seek(Number(range.value)) });
  const time = el("output", { class: "clock" });
  const speed = el(
    "select",
    { "aria-label": "Speed", onchange: () => (rate = Number(speed.value)) },
    speeds.map((s) => el("option", { value: s, text: `${s}×` })),
  );
  const short = el("input", { type: "checkbox", onchange: () => limit() });
  short.checked = true;
  root.append(
    box,
    el(
      "div",
      { class: "bar player" },
      play,
      range,
      time,
      speed,
      el("label", { title: `Shorten pauses to ${pauses} seconds (i)` }, short, " short pauses"),
      readerButton(signal, { "aria-keyshortcuts": "s" }),
    ),
  );
  const screen = new Screen({ parent: box, rows: cast.rows, cols: cast.cols, label: "Recording", signal });
  screen.scaled();

  let now = 0,
    rate = 1,
    playing = false,
    before = 0,
    frame = 0;
  const tape = open ? new Reel(cast, open, pauses, () => !playing && draw(), signal) : new Tape(cast, pauses);
  speed.value = "1";

  function draw() {
    const { fresh, events } = tape.at(now);
    if (fresh) {
      screen.then(() => screen.term.reset());
      screen.resize(cast.cols, cast.rows);
    }
    for (const e of events) e.data === undefined ? screen.resize(e.cols, e.rows) : screen.write(e.data);
    tell();
  }

  function tell() {
    range.max = tape.length;
    range.value = now;
    time.textContent = tape.failed ? tape.failed.message : `${clock(now)} / ${clock(tape.length)}`;
    range.setAttribute("aria-valuetext", `${clock(now)} of ${clock(tape.length)}`);
    play.textContent = playing ? "Pause" : now >= tape.length && tape.length ? "Again" : "Play";
  }

  function turn(at) {
    if (!playing || signal.aborted) return;
    const then = Math.min(tape.length, now + (Math.max(0, at - before) / 1000) * rate); // a frame may be older than the key
    now = tape.until ? Math.min(tape.length, tape.until(now, then)) : then;
    before = at;
    if (now >= tape.length) playing = false;
    draw();
    if (playing) frame = requestAnimationFrame(turn);
  }

  function toggle() {
    playing = !playing;
    cancelAnimationFrame(frame);
    if (playing) {
      if (now >= tape.length) (now = 0), tape.seek?.(0);
      before = performance.now();
      frame = requestAnimationFrame(turn);
    }
    draw();
  }

  function seek(to) {
    now = Math.max(0, Math.min(tape.length, to));
    tape.seek?.(now);
    draw();
  }

  function limit() {
    if (open) return tape.limit(short.checked ? pauses : Infinity);
    const part = tape.time && now >= tape.length ? 1 : 0,
      at = tape.time;
    tape.limit(short.checked ? pauses : Infinity);
    now = part ? tape.length : at ? tape.time : 0;
    tell();
  }

  function faster(by) {
    rate = speeds[Math.max(0, Math.min(speeds.length - 1, speeds.indexOf(rate) + by))];
    speed.value = String(rate);
  }

  signal.addEventListener("abort", () => cancelAnimationFrame(frame));
  draw();
  toggle();
  return {
    ...screen.keys(),
    " ": toggle,
    ArrowLeft: () => seek(now - step),
    ArrowRight: () => seek(now + step),
    Home: () => seek(0),
    End: () => seek(tape.length),
    "+": () => faster(1),
    "=": () => faster(1),
    "-": () => faster(-1),
    i: () => ((short.checked = !short.checked), limit()),
  };
}
