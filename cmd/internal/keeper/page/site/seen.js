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
 * watch calls tell with the part of element that was in view of its scroller, and where the rest begins. When it gets another
 * width it is laid out anew, so that seeing begins anew.
 */
export function watch(element, scroller, tell, signal) {
  let seen = new Seen(),
    width = 0;
  const look = () => {
    if (signal.aborted || document.visibilityState !== "visible") return;
    const e = element.getBoundingClientRect(),
      s = scroller.getBoundingClientRect();
    if (Math.abs(e.width - width) > 1) [seen, width] = [new Seen(), e.width];
    seen.add(Math.max(e.top, s.top, 0) - e.top, Math.min(e.bottom, s.bottom, innerHeight) - e.top);
    tell(seen.part(e.height), seen.missing);
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(element);
  sizes.observe(scroller);
  scroller.addEventListener("scroll", look, { signal, passive: true });
  document.addEventListener("visibilitychange", look, { signal });
  signal.addEventListener("abort", () => sizes.disconnect());
}
