// Whether somebody had all of a thing before their eyes.

/** Seen joins stretches of a height, in pixels, that were in view. */
export class Seen {
  constructor() {
    this.stretches = [];
  }

  add(from, to) {
    if (to <= from) return;
    const all = [...this.stretches, [from, to]].sort((a, b) => a[0] - b[0]);
    this.stretches = [all[0]];
    for (const [f, t] of all.slice(1)) {
      const last = this.stretches[this.stretches.length - 1];
      if (f <= last[1] + 1) last[1] = Math.max(last[1], t);
      else this.stretches.push([f, t]);
    }
  }

  /** part is how much of a height was seen, from 0 to 1; 1 only if it was all. */
  part(height) {
    if (height <= 0) return 0;
    if (this.stretches.length === 1 && this.stretches[0][0] <= 1 && this.stretches[0][1] >= height - 1) return 1;
    const sum = this.stretches.reduce((n, [f, t]) => n + Math.min(t, height) - Math.max(f, 0), 0);
    return Math.min(0.99, sum / height);
  }

  /** missing is where the first stretch begins that was not seen. */
  get missing() {
    const [first] = this.stretches;
    return first && first[0] <= 1 ? first[1] : 0;
  }
}

/**
 * Parts are pieces of a height, one below the other, each with what was seen of it. What a piece is high is known for certain
 * only once it is drawn: one that turns out to be another height was not seen.
 */
export class Parts {
  constructor() {
    this.all = [];
  }

  /** look takes the places where pieces end, from the top, and the stretch of them all that is in view. */
  look(ends, from, to) {
    this.all.length = Math.min(this.all.length, ends.length);
    ends.forEach((end, i) => {
      const top = i ? ends[i - 1] : 0,
        height = end - top;
      if (!this.all[i] || Math.abs(this.all[i].height - height) > 1) this.all[i] = { height, seen: new Seen() };
      const part = this.all[i];
      part.top = top;
      part.seen.add(Math.max(from - top, 0), Math.min(to - top, height));
    });
  }

  /** part is how much of it all was seen, from 0 to 1; 1 only if it was all. */
  get part() {
    const high = this.all.filter((p) => p.height > 1);
    if (!high.length) return 0;
    let sum = 0,
      seen = 0;
    for (const p of high) [sum, seen] = [sum + p.height, seen + p.height * p.seen.part(p.height)];
    return high.every((p) => p.seen.part(p.height) === 1) ? 1 : Math.min(0.99, seen / sum);
  }

  /** missing is where the first stretch begins that was not seen. */
  get missing() {
    const p = this.all.find((p) => p.height > 1 && p.seen.part(p.height) < 1);
    return p ? p.top + p.seen.missing : 0;
  }
}

/**
 * watch calls tell with the part of element that was in view of its scroller, and where the rest begins. Pieces are elements
 * in it that are drawn only when they come near to view. When it gets another width it is laid out anew, so that seeing
 * begins anew.
 */
export function watch(element, scroller, pieces, tell, signal) {
  let parts = new Parts(),
    width = 0;
  const look = () => {
    if (signal.aborted || document.visibilityState !== "visible") return;
    const e = element.getBoundingClientRect(),
      s = scroller.getBoundingClientRect();
    if (Math.abs(e.width - width) > 1) [parts, width] = [new Parts(), e.width];
    const ends = [];
    for (const p of pieces) {
      const r = p.getBoundingClientRect();
      ends.push(r.top - e.top, r.bottom - e.top);
    }
    parts.look([...ends, e.height], Math.max(e.top, s.top, 0) - e.top, Math.min(e.bottom, s.bottom, innerHeight) - e.top);
    tell(parts.part, parts.missing);
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(element);
  sizes.observe(scroller);
  scroller.addEventListener("scroll", look, { signal, passive: true });
  document.addEventListener("visibilitychange", look, { signal });
  signal.addEventListener("abort", () => sizes.disconnect());
}
