// UTF-8, byte by byte: what is none stays visible as the bytes that it is.

/** decode yields {char, code} for each character of bytes, and {bad} for each byte that is part of none. */
export function* decode(bytes) {
  for (let i = 0; i < bytes.length;) {
    const n = size(bytes, i);
    if (n === 0) {
      yield { bad: bytes[i++] };
      continue;
    }
    let code = n === 1 ? bytes[i] : bytes[i] & (0xff >> (n + 1));
    for (let k = 1; k < n; k++) code = (code << 6) | (bytes[i + k] & 0x3f);
    yield { char: String.fromCodePoint(code), code };
    i += n;
  }
}

/** size is how many bytes the character at i has; 0 if there is none. Overlong forms and surrogates are none. */
function size(bytes, i) {
  const b = bytes[i];
  if (b < 0x80) return 1;
  const n = b >= 0xc2 && b <= 0xdf ? 2 : b >= 0xe0 && b <= 0xef ? 3 : b >= 0xf0 && b <= 0xf4 ? 4 : 0;
  if (n === 0 || i + n > bytes.length) return 0;
  const low = { 0xe0: 0xa0, 0xf0: 0x90 }[b] ?? 0x80,
    high = { 0xed: 0x9f, 0xf4: 0x8f }[b] ?? 0xbf;
  if (bytes[i + 1] < low || bytes[i + 1] > high) return 0;
  for (let k = 2; k < n; k++) if ((bytes[i + k] & 0xc0) !== 0x80) return 0;
  return n;
}

/** encoded is text as bytes; bytes stay what they are. */
export function encoded(text) {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

/** fromBase64 is what a text in base64 stands for. */
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
