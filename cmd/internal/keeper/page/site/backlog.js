// Output that waits to be drawn, up to a limit. What came last counts most: it has the prompt, and the answer to what was typed.

/**
 * Backlog has draw(data) take the output in order, one piece at a time, each when its promise is done. Where more than most
 * bytes wait, the oldest are dropped, down to half of it, so that few gaps are made; missed(bytes) is what is drawn in place.
 */
export class Backlog {
  constructor({ draw, missed, most }) {
    Object.assign(this, { draw, missed, most, waiting: [], bytes: 0, dropped: 0, busy: false });
  }

  add(data) {
    this.waiting.push(data);
    this.bytes += data.length;
    if (this.bytes > this.most) this.drop();
    if (!this.busy) this.run();
  }

  drop() {
    let n = 0;
    while (this.bytes > this.most / 2 && n < this.waiting.length - 1) {
      this.bytes -= this.waiting[n].length;
      this.dropped += this.waiting[n].length;
      n++;
    }
    this.waiting.splice(0, n);
  }

  async run() {
    this.busy = true;
    while (this.waiting.length) {
      const dropped = this.dropped;
      this.dropped = 0;
      const data = this.waiting.shift();
      this.bytes -= data.length;
      for (const piece of dropped ? [this.missed(dropped), data] : [data]) await this.draw(piece).catch(() => {}); // the next may be drawn
    }
    this.busy = false;
  }
}
