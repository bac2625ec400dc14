/**
 * Signatures on calls to functions, and the texts by which an SDK shows that it knows the signing key.
 *
 * A signing key is `signkey-<environment>-<hex>`, or the hex part alone. Calls are signed with the characters of that part, not
 * with the bytes they stand for; in a bearer text the hash of those bytes stands for it.
 */

import { createHash, createHmac } from "node:crypto";

const PREFIX = /^signkey-\w+-/;

/** The value of the signature header, for a body as it goes over the wire. */
export function signBody(body: string, signingKey: string, unixSeconds: number): string {
  const signature = createHmac("sha256", signingKey.replace(PREFIX, "")).update(body).update(String(unixSeconds)).digest("hex");
  return `t=${unixSeconds}&s=${signature}`;
}

/** What may stand behind `Bearer `: the key, its hash behind the key's prefix, and the hash alone. */
export function signingKeyBearers(signingKey: string): string[] {
  const prefix = PREFIX.exec(signingKey)?.[0] ?? "";
  const hash = createHash("sha256")
    .update(Buffer.from(signingKey.slice(prefix.length), "hex"))
    .digest("hex");
  return [...new Set([signingKey, prefix + hash, hash])];
}
