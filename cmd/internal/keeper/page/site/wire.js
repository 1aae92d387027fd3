// What goes over a terminal's WebSocket.

import { socket } from "./api.js";
import { patience } from "./patience.js";

const window = 256 << 10; // bytes that are typed beyond what was taken: far less than the keeper bears
const frame = 32 << 10;

/** Wire is a connection to a terminal. on has output(bytes), said(object), opened() and gone(). It is late where nobody answered. */
export class Wire {
  constructor({ host, rows, cols, confirm }, on) {
    this.typed = this.taken = 0;
    this.waiting = [];
    const q = new URLSearchParams({ host, rows, cols, ...(confirm ? { confirm: "true" } : {}) });
    this.ws = socket(`/v1/terminals?${q}`);
    this.late = false;
    const timer = setTimeout(() => ((this.late = true), this.ws.close()), patience.long);
    this.ws.onopen = () => (clearTimeout(timer), on.opened());
    this.ws.onclose = () => (clearTimeout(timer), on.gone());
    this.ws.onmessage = ({ data }) => {
      if (typeof data !== "string") return on.output(new Uint8Array(data));
      const says = JSON.parse(data);
      if (says.taken !== undefined) {
        this.taken = says.taken;
        this.flush();
      }
      on.said(says);
    };
  }

  /** type sends bytes as fast as the program takes them. */
  type(bytes) {
    for (let i = 0; i < bytes.length; i += frame) this.waiting.push(bytes.subarray(i, i + frame));
    this.flush();
  }

  flush() {
    while (this.waiting.length && this.ws.readyState === WebSocket.OPEN && this.typed - this.taken < window) {
      const piece = this.waiting.shift();
      this.ws.send(piece);
      this.typed += piece.length;
    }
  }

  say(what) {
    if (this.ws.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify(what));
  }

  close() {
    this.ws.close();
  }
}
