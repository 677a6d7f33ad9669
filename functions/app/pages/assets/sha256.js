// Computes the SHA-256 of files and finds secrets in them, in a worker of its own, slice by slice, so that no file has
// to fit into memory and the page stays responsive. crypto.subtle takes whole messages only.

import { Finder } from "./leak.js";

const sliceBytes = 1 << 20;

// The constants are the first 32 bits of the fractional parts of roots of the first primes.
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
const fraction = (root) => ((root % 1) * 2 ** 32) | 0;
const rounds = Int32Array.from(primes, (p) => fraction(Math.cbrt(p)));
const start = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)));

class Sha256 {
  state = start.slice();
  words = new Int32Array(64);
  block = new Uint8Array(64); // begins with the bytes that fill no block yet
  length = 0;

  update(bytes) {
    const used = this.length % 64;
    let at = 0;
    this.length += bytes.length;
    if (used) {
      at = Math.min(64 - used, bytes.length);
      this.block.set(bytes.subarray(0, at), used);
      if (used + at === 64) this.mix(new DataView(this.block.buffer), 0);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (; at + 64 <= bytes.length; at += 64) this.mix(view, at);
    if (at < bytes.length) this.block.set(bytes.subarray(at));
  }

  // mix takes one block. It runs for each 64 bytes, so it makes no objects.
  mix(view, at) {
    const { words: w, state } = this;
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let a = state[0];
    let b = state[1];
    let c = state[2];
    let d = state[3];
    let e = state[4];
    let f = state[5];
    let g = state[6];
    let h = state[7];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t = (h + s1 + ((e & f) ^ (~e & g)) + rounds[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const u = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t) | 0;
      d = c;
      c = b;
      b = a;
      a = (t + u) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }

  hex() {
    const bits = this.length * 8;
    const end = new Uint8Array(((119 - (this.length % 64)) % 64) + 9);
    end[0] = 0x80;
    new DataView(end.buffer).setBigUint64(end.length - 8, BigInt(bits));
    this.update(end);
    return Array.from(this.state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

async function digest({ id, file, secrets }) {
  try {
    const sum = new Sha256();
    const finder = new Finder(secrets);
    for (let at = 0; at < file.size; at += sliceBytes) {
      const slice = new Uint8Array(await file.slice(at, at + sliceBytes).arrayBuffer());
      sum.update(slice);
      finder.add(slice);
      postMessage({ id, read: slice.length });
    }
    postMessage({ id, sha256: sum.hex(), secret: finder.end() });
  } catch {
    postMessage({ id, failed: true }); // the file was changed or removed
  }
}

let queue = Promise.resolve();
addEventListener("message", ({ data }) => (queue = queue.then(() => digest(data))));
