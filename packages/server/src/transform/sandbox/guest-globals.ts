/**
 * JavaScript that runs inside the sandbox before any user code: it adds `console`, `hmac` and `sha256`, and makes `Math.random` differ
 * from request to request, because restored memory would otherwise repeat it. `SharedArrayBuffer` is removed, since nothing shares
 * memory here.
 *
 * It keeps its own references to the built-ins it uses, so user code that patches them cannot break it. The host functions stay
 * in its closure. The host computes hashes: texts are passed unchanged, bytes as hexadecimal text. It returns a function that resets the
 * seed, called once the top level of a transform has run.
 */

export const GUEST_GLOBALS_SOURCE = `(function (log, seed, hash) {
  "use strict";
  const { stringify } = JSON;
  const { defineProperty } = Object;
  const toText = String;
  const isError = (value) => value instanceof Error;
  delete globalThis.SharedArrayBuffer;

  const bigIntAsText = (key, value) => (typeof value === "bigint" ? toText(value) + "n" : value);
  const show = (value) => {
    if (typeof value === "string") return value;
    try {
      if (typeof value !== "object" || value === null || isError(value)) return toText(value);
      const text = stringify(value, bigIntAsText);
      return text === undefined ? toText(value) : text;
    } catch {
      return "[cannot be shown]";
    }
  };
  const write = (...values) => {
    let line = "";
    for (let i = 0; i < values.length; i++) line += (i > 0 ? " " : "") + show(values[i]);
    log(line);
  };
  const console = {};
  for (const name of ["log", "info", "warn", "error", "debug"]) {
    console[name] = { [name](...values) { write(...values); } }[name];
  }
  defineProperty(globalThis, "console", { value: console, writable: true, configurable: true, enumerable: false });

  // xoshiro128**, seeded by the host on first use in each request.
  let a, b, c, d, seeded = false;
  const next = () => {
    if (!seeded) {
      seeded = true;
      a = seed() | 0; b = seed() | 0; c = seed() | 0; d = seed() | 1;
    }
    const e = b * 5 | 0;
    const result = ((e << 7 | e >>> 25) * 9) >>> 0;
    const t = b << 9;
    c ^= a; d ^= b; b ^= c; a ^= d; c ^= t;
    d = d << 11 | d >>> 21;
    return result;
  };
  const random = { random() { return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992; } }.random;
  defineProperty(Math, "random", { value: random, writable: true, configurable: true, enumerable: false });

  const toWellFormed = String.prototype.toWellFormed;
  const { apply, getPrototypeOf } = Reflect;
  const Bytes = Uint8Array;
  const Buffers = ArrayBuffer;
  const TypedArray = getPrototypeOf(Bytes);
  const getter = (name) => Object.getOwnPropertyDescriptor(TypedArray.prototype, name).get;
  const [bufferOf, startOf, lengthOf] = ["buffer", "byteOffset", "byteLength"].map(getter);
  const DIGITS = "0123456789abcdef";
  const hexOf = (bytes) => {
    let text = "";
    const length = apply(lengthOf, bytes, []);
    for (let i = 0; i < length; i++) text += DIGITS[bytes[i] >> 4] + DIGITS[bytes[i] & 15];
    return text;
  };
  const bytesFor = (value, what) => {
    if (typeof value === "string") return "t" + apply(toWellFormed, value, []);
    if (value instanceof Buffers) return "x" + hexOf(new Bytes(value));
    if (value instanceof TypedArray) {
      return "x" + hexOf(new Bytes(apply(bufferOf, value, []), apply(startOf, value, []), apply(lengthOf, value, [])));
    }
    throw new TypeError(what + " must be a string or bytes");
  };
  const encodingFor = (encoding) => {
    if (encoding === "hex" || encoding === "base64") return encoding;
    throw new TypeError('the encoding must be "hex" or "base64"');
  };
  const hmac = { hmac(algorithm, secret, text, encoding = "hex") {
    if (algorithm !== "sha1" && algorithm !== "sha256" && algorithm !== "sha512") {
      throw new TypeError('the algorithm must be "sha1", "sha256" or "sha512"');
    }
    return hash(algorithm, bytesFor(secret, "the secret"), bytesFor(text, "the text"), encodingFor(encoding));
  } }.hmac;
  const sha256 = { sha256(text, encoding = "hex") {
    return hash("sha256", "", bytesFor(text, "the text"), encodingFor(encoding));
  } }.sha256;
  for (const value of [hmac, sha256]) {
    defineProperty(globalThis, value.name, { value, writable: true, configurable: true, enumerable: false });
  }

  return () => { seeded = false; };
})`;
