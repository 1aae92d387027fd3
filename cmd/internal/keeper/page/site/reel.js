// A long recording, of which the page holds what comes next and no more.

import { eventOf, headOf, joined } from "./cast.js";

export const most = 4 << 20; // characters of a recording that the page holds whole
const ahead = 1 << 20, // characters that are read ahead
  tries = 10,
  leap = 30; // seconds, more than which are not played but left out

/** lines reads a body line by line: next returns as many as have come, or null at the end. */
export function lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    async next() {
      const { done, value } = await reader.read();
      const all = (rest + (value ?? "")).split("\n");
      rest = done ? "" : all.pop();
      return done && !all.join("") ? null : all;
    },
    cancel: () => reader.cancel().catch(() => {}),
  };
}

/**
 * Reel plays as a Tape does, from a recording that open gets from a moment on. The screen that it begins with is drawn by the
 * first event. more is called when there is something new to show.
 */
export class Reel {
  constructor(head, open, limit, more, signal) {
    Object.assign(this, { head, open, more, signal, time: 0 });
    this.limit(limit);
    this.turn = 0;
    this.start(0);
    signal.addEventListener("abort", () => this.stop());
  }

  get length() {
    return Math.max(this.head.length, this.time);
  }

  /** limit changes how long pauses are. */
  limit(limit) {
    this.most = limit;
  }

  stop() {
    this.turn++;
    this.source?.cancel();
    this.drained?.();
  }

  /** start begins to read from a moment on. */
  start(at) {
    this.stop();
    Object.assign(this, { events: [], next: 0, held: 0, reach: 0, over: false, fresh: true, time: 0, size: null, failed: null });
    const { turn } = this;
    this.read(Math.max(0, at), turn).catch((e) => {
      if (this.signal.aborted || turn !== this.turn) return;
      Object.assign(this, { over: true, failed: e });
      this.more();
    });
  }

  /** patient opens at a moment. The first look far ahead may take the keeper longer than an answer may; it goes on where it was. */
  async patient(at, turn) {
    for (let left = tries; ; left--) {
      try {
        return await this.open(at);
      } catch (e) {
        if (e.status !== 0 || e.refused || left <= 1 || turn !== this.turn) throw e;
      }
    }
  }

  async read(at, turn) {
    const source = lines(await this.patient(at, turn));
    if (turn !== this.turn) return source.cancel();
    this.source = source;
    for (let first = true; ; ) {
      const got = await source.next();
      if (turn !== this.turn) return;
      if (!got) break;
      for (const line of got) {
        if (first) {
          first = false;
          this.size = headOf(line);
          continue;
        }
        const e = eventOf(line);
        if (!e) continue;
        this.events.push(e);
        this.held += e.data?.length ?? 0;
        this.reach = Math.max(this.reach, e.time);
      }
      this.more();
      while (this.held > ahead && turn === this.turn) await new Promise((done) => (this.drained = done));
      if (turn !== this.turn) return;
    }
    this.over = true;
    this.more();
  }

  /** seek makes ready for another moment. */
  seek(to) {
    if (to < this.time || (!this.over && to > this.reach + leap)) this.start(to);
  }

  /** until is how far one may go by now, and where a pause that is longer than the limit is left out. */
  until(before, now) {
    const e = this.events[this.next];
    if (e && now - before >= 0 && e.time - Math.max(before, this.time) > this.most) now = Math.max(now, e.time - this.most);
    return this.over ? now : Math.min(now, Math.max(before, this.reach));
  }

  at(moment) {
    if (moment < this.time) this.start(moment);
    if (!this.size) return { fresh: false, events: [] };
    const { fresh } = this;
    this.fresh = false;
    const from = this.next;
    while (this.next < this.events.length && this.events[this.next].time <= moment) {
      const e = this.events[this.next++];
      this.time = Math.max(this.time, e.time);
      this.held -= e.data?.length ?? 0;
    }
    const out = joined(this.events.slice(from, this.next));
    if (this.next > 1000) {
      this.events.splice(0, this.next);
      this.next = 0;
    }
    if (this.held <= ahead) this.drained?.();
    return { fresh, events: fresh ? [{ cols: this.size.cols, rows: this.size.rows }, ...out] : out };
  }
}
