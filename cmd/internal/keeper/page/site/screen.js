// A terminal's screen: xterm.js, in the colours of the page, and deaf to what output could make it do elsewhere.

import { Terminal } from "./vendor/xterm.mjs";
import { isTold, onTold, toggleTold } from "./reader.js";
import { isDark, onChange } from "./theme.js";

const dark = {
  background: "#14181b",
  foreground: "#d7dde0",
  cursor: "#7fd1b9",
  cursorAccent: "#14181b",
  selectionBackground: "#35525c",
  black: "#2b3236",
  red: "#f07f78",
  green: "#8ccf7e",
  yellow: "#e0b96a",
  blue: "#7fb4ea",
  magenta: "#cf9be3",
  cyan: "#72cbc9",
  white: "#c9d1d5",
  brightBlack: "#7b878d",
  brightRed: "#ff9f97",
  brightGreen: "#a9e39b",
  brightYellow: "#f3d08a",
  brightBlue: "#a3caf5",
  brightMagenta: "#e0b7f0",
  brightCyan: "#93e0de",
  brightWhite: "#f2f5f6",
};
const light = {
  background: "#ffffff",
  foreground: "#22292d",
  cursor: "#1f6f5c",
  cursorAccent: "#ffffff",
  selectionBackground: "#bcdcd4",
  black: "#22292d",
  red: "#b3261e",
  green: "#2c7a1f",
  yellow: "#855f00",
  blue: "#1d5fa8",
  magenta: "#8a3aa3",
  cyan: "#0f6f73",
  white: "#6d787e",
  brightBlack: "#5c676d",
  brightRed: "#c4382f",
  brightGreen: "#35842a",
  brightYellow: "#8a6500",
  brightBlue: "#2b6fba",
  brightMagenta: "#9a49b3",
  brightCyan: "#167c80",
  brightWhite: "#3b4449",
};
const font = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace';
const largest = 13,
  smallest = 6;

/**
 * Screen is a terminal in an element. What is written is taken in order; write returns when it is. Links are not followed,
 * and what a program asks of the terminal gets no answer unless typed listens to its data.
 */
export class Screen {
  constructor({ parent, rows = 24, cols = 80, typed = null, label, signal }) {
    this.parent = parent;
    this.term = new Terminal({
      rows,
      cols,
      fontFamily: font,
      fontSize: largest,
      lineHeight: 1.15,
      scrollback: 5000,
      allowProposedApi: false,
      disableStdin: !typed,
      screenReaderMode: isTold(),
      cursorBlink: false,
      cursorInactiveStyle: typed ? "outline" : "none",
      minimumContrastRatio: 4.5,
      linkHandler: { activate() {}, hover() {}, leave() {} },
      theme: isDark() ? dark : light,
    });
    this.term.open(parent);
    this.term.textarea?.setAttribute("aria-label", label);
    if (!typed) this.term.textarea?.setAttribute("tabindex", "-1");
    if (typed) this.term.onData(typed);
    this.tail = Promise.resolve();
    onChange(() => (this.term.options.theme = isDark() ? dark : light), signal);
    onTold(() => (this.term.options.screenReaderMode = isTold()), signal);
    signal.addEventListener("abort", () => this.term.dispose());
    this.signal = signal;
  }

  write(data) {
    return this.then(() => new Promise((taken) => this.term.write(data, taken)));
  }

  /** then does something once all that was written before is taken. */
  then(f) {
    const done = this.tail.then(() => (this.signal.aborted ? undefined : f()));
    this.tail = done.catch(() => {}); // what fails keeps nothing else from the screen
    return done;
  }

  /** still ends what a program has left behind: colours, modes, another screen. */
  async still() {
    await this.write("\x1b[!p\x1b[m");
    await this.then(() => this.term.buffer.active.type === "alternate" && new Promise((taken) => this.term.write("\x1b[?1049l", taken)));
    await this.then(() => this.term.buffer.active.cursorX > 0 && new Promise((taken) => this.term.write("\r\n", taken)));
  }

  resize(cols, rows) {
    const within = (n) => Math.max(1, Math.min(1000, n | 0));
    return this.then(() => {
      this.term.resize(within(cols), within(rows));
      this.scale();
    });
  }

  /** scale makes the letters as large as lets all columns be seen. In an element that fits they are as large as ever. */
  scale() {
    if (!this.scales) return;
    const screen = this.parent.querySelector(".xterm-screen");
    const room = this.parent.clientWidth,
      size = this.term.options.fontSize;
    if (!screen || !room) return;
    const perPixel = screen.offsetWidth / size;
    const next = Math.max(smallest, Math.min(largest, Math.floor((room / perPixel) * 2) / 2));
    if (next !== size) this.term.options.fontSize = next;
  }

  /** keys scroll what nobody types at, by steps, pages, or to an end. */
  keys() {
    const { term, parent } = this;
    const page = (by) => () => {
      const before = parent.scrollTop; // where the screen itself is larger than its element
      parent.scrollBy({ top: by * parent.clientHeight * 0.85, behavior: "instant" });
      if (Math.abs(parent.scrollTop - before) < largest) term.scrollPages(by);
    };
    const line = (by) => () => term.scrollLines(by);
    return {
      PageUp: page(-1),
      PageDown: page(1),
      ArrowUp: line(-1),
      ArrowDown: line(1),
      k: line(-1),
      j: line(1),
      Home: () => term.scrollToTop(),
      End: () => term.scrollToBottom(),
      s: toggleTold,
    };
  }

  /** scaled keeps it so while the room changes, or ends that. */
  scaled(on = true) {
    this.scales = on;
    if (!on) this.term.options.fontSize = largest;
    if (this.sizes) return;
    this.sizes = new ResizeObserver(() => this.scale());
    this.sizes.observe(this.parent);
    this.signal.addEventListener("abort", () => this.sizes.disconnect());
  }
}
