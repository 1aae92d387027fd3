// A cable between a browser and the keeper, which can be held: then nothing passes, and nobody is told.

import net from "node:net";

/** cable listens as a SOCKS5 proxy without a password. */
export async function cable() {
  const ends = new Set();
  let held = false;
  const join = (a, b) => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      ends.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => (ends.delete(from), to.destroy()));
      if (held) from.pause();
    }
  };
  const server = net.createServer((s) => {
    s.on("error", () => {});
    s.once("data", () => {
      s.write(Buffer.from([5, 0]));
      s.once("data", (ask) => {
        const host = ask[3] === 1 ? [...ask.subarray(4, 8)].join(".") : ask.subarray(5, 5 + ask[4]).toString();
        const far = net.connect(ask.readUInt16BE(ask.length - 2), host, () => {
          s.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          join(s, far);
        });
        far.on("error", () => s.destroy());
      });
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    address: `socks5://127.0.0.1:${server.address().port}`,
    hold(on) {
      held = on;
      for (const s of ends) on ? s.pause() : s.resume();
    },
    /** drop ends all connections; others can be made. */
    drop() {
      for (const s of ends) s.destroy();
    },
    cut() {
      server.close();
      this.drop();
    },
  };
}
