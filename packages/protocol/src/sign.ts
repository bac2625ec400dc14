/**
 * Signatures on calls to functions, and the texts by which an SDK shows that it knows the signing key.
 *
 * A signing key is `signkey-<environment>-<hex>`, or the hex part alone. Calls are signed with the characters of that part, not
 * with the bytes they stand for; in a bearer text the hash of those bytes stands for it.
 */

import { createHash, hash } from "node:crypto";

const PREFIX = /^signkey-\w+-/;
/** Of SHA-256, in bytes. */
const [BLOCK, HASH] = [64, 32];

/** The value of the signature header, for a body as it goes over the wire. */
export function signBody(body: string, signingKey: string, unixSeconds: number): string {
  return `t=${unixSeconds}&s=${hmacSha256(keyPads(signingKey), body + unixSeconds)}`;
}

interface KeyPads {
  inner: Buffer;
  /** With room for the inner hash. */
  outer: Buffer;
}

/**
 * HMAC by its definition (RFC 2104), from Node's hashes in one call: an object of `createHmac` costs twice as much, most of it when it
 * is collected, and every call to an app is signed.
 */
function hmacSha256({ inner, outer }: KeyPads, text: string): string {
  const padded = Buffer.allocUnsafe(BLOCK + Buffer.byteLength(text));
  padded.set(inner);
  padded.write(text, BLOCK);
  outer.write(hash("sha256", padded, "hex"), BLOCK, "hex");
  return hash("sha256", outer, "hex");
}

const padsOf = new Map<string, KeyPads>();
/** A service has a few keys. */
const PADS_MAX = 100;

function keyPads(signingKey: string): KeyPads {
  const known = padsOf.get(signingKey);
  if (known) return known;
  const key = Buffer.from(signingKey.replace(PREFIX, ""));
  const block = Buffer.concat([key.length > BLOCK ? createHash("sha256").update(key).digest() : key], BLOCK);
  const padded = (pad: number) => block.map((byte) => byte ^ pad);
  const pads: KeyPads = { inner: Buffer.from(padded(0x36)), outer: Buffer.concat([padded(0x5c)], BLOCK + HASH) };
  if (padsOf.size >= PADS_MAX) padsOf.clear();
  padsOf.set(signingKey, pads);
  return pads;
}

/** What may stand behind `Bearer `: the key, its hash behind the key's prefix, and the hash alone. */
export function signingKeyBearers(signingKey: string): string[] {
  const prefix = PREFIX.exec(signingKey)?.[0] ?? "";
  const hash = createHash("sha256")
    .update(Buffer.from(signingKey.slice(prefix.length), "hex"))
    .digest("hex");
  return [...new Set([signingKey, prefix + hash, hash])];
}
