// Output of commands that are not on a terminal, for one.

/** Lines makes a terminal's lines of a stream's: a newline alone does not go back to the margin there. */
export class Lines {
  constructor() {
    this.decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    this.cr = false;
  }

  text(stream, bytes) {
    let text = this.decoders[stream].decode(bytes, { stream: true });
    const before = this.cr;
    if (text) this.cr = text.endsWith("\r");
    text = text.replace(/\r?\n/g, "\r\n");
    return before && text.startsWith("\r\n") ? text.slice(1) : text;
  }
}
