// Finds secrets in the bytes of files, as the command line does.

const latin1 = new TextDecoder("latin1");
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// checksum returns the last 6 characters of a Vitrine secret: the CRC-32 of those before.
function checksum(text) {
  let crc = -1;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return Array.from({ length: 6 }, (_, i) => digits[Math.floor((~crc >>> 0) / 62 ** (5 - i)) % 62]).join("");
}

// Finder searches bytes that come in pieces. It ignores NUL bytes, so that it also finds ASCII in UTF-16.
export class Finder {
  held = "";
  found = ""; // the kind of the first secret

  constructor({ token, head, header, gap, body, ...most }) {
    const leading = (expression) => new RegExp(`^${expression}`);
    Object.assign(this, most, { token: new RegExp(token, "g"), head: new RegExp(head, "g") });
    Object.assign(this, { header: leading(header), gap: leading(gap), body: leading(body) });
  }

  add(bytes) {
    this.held += latin1.decode(bytes).replaceAll("\0", "");
    this.search(this.held.length - this.secret_bytes);
    this.held = this.held.slice(-this.secret_bytes);
  }

  // end returns the kind of the first secret, empty if there is none.
  end() {
    this.search(this.held.length);
    return this.found;
  }

  // search searches for secrets that begin before end.
  search(end) {
    const each = (pattern, kind, holds) => {
      pattern.lastIndex = 0;
      for (let m; !this.found && (m = pattern.exec(this.held)) && m.index < end; pattern.lastIndex = m.index + 1) {
        if (holds(m[0], m.index)) this.found = kind(m[0]);
      }
    };
    each(this.token, (text) => `a secret of Vitrine (${text.slice(0, 6)}...)`, (text) =>
      checksum(text.slice(0, -6)) === text.slice(-6));
    each(this.head, () => "a private key", (head, at) =>
      this.isKey(this.held.slice(at, at + this.secret_bytes), head.length));
  }

  // isKey reports whether a text in which the head of a private key ends has optional headers and a body, too.
  isKey(text, at) {
    const part = (pattern) => text.slice(at, at + this.part_bytes).match(pattern)?.[0].length;
    for (let left = this.headers, n = 0; n !== undefined && left >= 0; left--) {
      at += n;
      at += part(this.gap);
      n = part(this.header);
    }
    return part(this.body) !== undefined;
  }
}
