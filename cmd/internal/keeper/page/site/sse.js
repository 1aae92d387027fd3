// Server-sent events out of a stream of bytes. EventSource cannot send the token.

import { patience } from "./patience.js";

/**
 * events yields {event, id, data} of each event as it comes; data is parsed JSON. It throws where nothing at all comes for a
 * while, not even a sign of life: a connection may be dead without having been closed.
 */
export async function* events(body, silence = patience.silence) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "",
    one = fresh();
  try {
    for (;;) {
      const { value, done } = await heard(reader, silence);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line !== "") {
          field(one, line);
          continue;
        }
        if (one.data.length) yield { event: one.event, id: one.id, data: JSON.parse(one.data.join("\n")) };
        one = fresh();
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // which nobody waits for: the other end may be gone
  }
}

/** heard is the next read of a reader, if it comes in time. */
function heard(reader, silence) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("nothing came for too long")), silence);
    reader
      .read()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

const fresh = () => ({ event: "message", id: "", data: [] });

function field(one, line) {
  const colon = line.indexOf(":");
  if (colon <= 0) return; // a comment, or a name alone
  const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  switch (line.slice(0, colon)) {
    case "event":
      one.event = value;
      break;
    case "id":
      one.id = value;
      break;
    case "data":
      one.data.push(value);
  }
}
