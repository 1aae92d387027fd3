// Recordings in the asciicast format, version 2.

/** headOf reads the first line of a recording. */
export function headOf(line) {
  const head = JSON.parse(line);
  if (head?.version !== 2) throw new Error("this recording has a format that cannot be played here");
  return { cols: head.width || 80, rows: head.height || 24, title: String(head.title ?? ""), timestamp: head.timestamp ?? 0, length: head.duration || 0 };
}

/** eventOf reads another one; null where it is nothing to show: cut off, as by a crash, or typed input ("i"). */
export function eventOf(line) {
  if (!line) return null;
  let e;
  try {
    e = JSON.parse(line);
  } catch {
    return null;
  }
  const [time, code, data] = e;
  if (typeof time !== "number" || typeof data !== "string") return null;
  if (code === "o") return { time, data };
  const size = code === "r" ? /^([0-9]{1,4})x([0-9]{1,4})$/.exec(data) : null;
  return size && { time, cols: Number(size[1]), rows: Number(size[2]) };
}

/** parse reads a recording. */
export function parse(text) {
  const lines = text.split("\n");
  const head = headOf(lines[0]);
  return { ...head, events: lines.slice(1).map(eventOf).filter(Boolean) };
}

/** shorten returns the moments of events where no pause is longer than limit seconds. */
export function shorten(events, limit = Infinity) {
  let before = 0,
    now = 0;
  return events.map((e) => {
    now += Math.min(limit, Math.max(0, e.time - before));
    before = Math.max(before, e.time);
    return now;
  });
}

/**
 * Tape is a recording that is played. It has no clock: whoever plays says which moment it is. at returns what is to be done
 * to get there: {fresh, events}, where fresh says that the screen begins anew.
 */
export class Tape {
  constructor(cast, limit) {
    this.cast = cast;
    this.next = 0;
    this.limit(limit);
  }

  /** limit changes how long pauses are. */
  limit(limit) {
    this.times = shorten(this.cast.events, limit);
    this.length = this.times[this.times.length - 1] ?? 0;
  }

  /** time is the moment of the last event that was shown. */
  get time() {
    return this.next ? this.times[this.next - 1] : 0;
  }

  at(moment) {
    const fresh = this.next > 0 && this.times[this.next - 1] > moment;
    const from = fresh ? 0 : this.next;
    let to = from;
    while (to < this.times.length && this.times[to] <= moment) to++;
    this.next = to;
    return { fresh, events: joined(this.cast.events.slice(from, to)) };
  }
}

/** joined puts output that follows output into one event. */
export function joined(events) {
  const out = [];
  let run = [];
  const close = () => {
    if (run.length) out.push({ data: run.join("") });
    run = [];
  };
  for (const e of events) {
    if (e.data !== undefined) run.push(e.data);
    else {
      close();
      out.push(e);
    }
  }
  close();
  return out;
}
