/**
 * Synchronous SHA-1 of a string: WebCrypto only offers an asynchronous one, and a step's id is needed before the function continues.
 * It only names steps: no secret depends on it. Edge runtimes and browsers have no `node:crypto`, so a function of our own is needed in
 * any case; used everywhere, there is one.
 */

const CACHED_MAX = 2_000;
const hexById = new Map<string, string>();

/** The id of a step in the wire protocol. Functions use the same few ids repeatedly, so they are cached. */
export function hashStepId(id: string): string {
  const known = hexById.get(id);
  if (known !== undefined) return known;
  const hex = Array.from(sha1(id), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hexById.size >= CACHED_MAX) hexById.clear();
  hexById.set(id, hex);
  return hex;
}

export function sha1(text: string): Uint8Array {
  const words = paddedWords(new TextEncoder().encode(text));
  const state = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  const schedule = new Int32Array(80);
  for (let at = 0; at < words.length; at += 16) addBlock(state, schedule, words, at);
  const digest = new DataView(new ArrayBuffer(20));
  for (let i = 0; i < 5; i++) digest.setInt32(i * 4, state[i] as number);
  return new Uint8Array(digest.buffer);
}

function paddedWords(bytes: Uint8Array): Int32Array {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const view = new DataView(new ArrayBuffer(blocks * 64));
  new Uint8Array(view.buffer).set(bytes);
  view.setUint8(bytes.length, 0x80);
  view.setUint32(blocks * 64 - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(blocks * 64 - 4, (bytes.length << 3) >>> 0);
  return Int32Array.from({ length: blocks * 16 }, (_, i) => view.getInt32(i * 4));
}

function addBlock(state: Int32Array, w: Int32Array, words: Int32Array, at: number): void {
  for (let i = 0; i < 80; i++) {
    w[i] =
      i < 16
        ? (words[at + i] as number)
        : rotate((w[i - 3] as number) ^ (w[i - 8] as number) ^ (w[i - 14] as number) ^ (w[i - 16] as number), 1);
  }
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let i = 0; i < 80; i++) {
    const next = (rotate(a, 5) + mix(i, b, c, d) + e + (w[i] as number)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  [a, b, c, d, e].forEach((value, i) => {
    state[i] = (state[i] as number) + value;
  });
}

/** The round's function and constant. */
function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
