// Moments and how long things take, in few characters.

/** span is a number of seconds in words. */
export function span(s) {
  s = Math.max(0, Math.floor(s));
  if (s < 60) return `${s} s`;
  if (s < 3600) return s < 600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d`;
}

/** took is a duration in milliseconds in words. */
export function took(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : span(ms / 1000);
}

/** clock is minutes and seconds. */
export function clock(s) {
  s = Math.max(0, Math.floor(s));
  const h = Math.floor(s / 3600),
    m = Math.floor((s % 3600) / 60);
  return `${h ? `${h}:${String(m).padStart(2, "0")}` : m}:${String(s % 60).padStart(2, "0")}`;
}

/** local is a moment as a calendar and a clock here say it. */
export function local(text) {
  const d = new Date(text),
    two = (n) => String(n).padStart(2, "0");
  if (isNaN(d)) return String(text);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** bytes is an amount in words. */
export function bytes(n) {
  return n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}

/** moment makes an element that tells a moment: when it was, how long ago, or how long until then. */
export function moment(text, how) {
  const e = document.createElement("time");
  e.dateTime = text;
  if (how) e.dataset.how = how;
  if (how) e.title = local(text);
  tell(e);
  return e;
}

const soon = 60;

function tell(e) {
  const s = (new Date(e.dateTime) - Date.now()) / 1000;
  switch (e.dataset.how) {
    case "ago":
      e.textContent = span(-s);
      break;
    case "until":
      e.textContent = s <= 0 ? "over" : span(s);
      e.classList.toggle("soon", s < soon);
      break;
    default:
      e.textContent = local(e.dateTime);
  }
}

/** tick goes on with all of them, every second. */
export function tick() {
  setInterval(() => document.querySelectorAll("time[data-how]").forEach(tell), 1000);
}
