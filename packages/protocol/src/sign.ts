/**
 * Signatures of calls to functions, and the bearer tokens by which an SDK proves that it knows the signing key.
 *
 * A signing key is `signkey-<environment>-<hex>`, or the hex part alone. Calls are signed with the characters of that part, not
 * with the bytes they encode; a bearer token contains the hash of those bytes. A key that is not hexadecimal therefore has no hash
 * of its own: it is refused wherever keys are accepted, and it has no bearer token.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = /^signkey-\w+-/;
/** At least 128 bits. */
const SIGNING_KEY = /^(signkey-\w+-)?((?:[0-9a-fA-F]{2}){16,})$/;

/** Completes a sentence that begins with the given text. */
export const SIGNING_KEY_RULE =
  'must be "signkey-<environment>-<hex>" or <hex>, with at least 32 hexadecimal digits; make one with "inlet keys new --kind signing" or "openssl rand -hex 32"';

export function isSigningKey(text: string): boolean {
  return SIGNING_KEY.test(text);
}

/** The value of the signature header, for a body as sent. */
export function signBody(body: string, signingKey: string, unixSeconds: number): string {
  const signature = createHmac("sha256", signingKey.replace(PREFIX, "")).update(body).update(String(unixSeconds)).digest("hex");
  return `t=${unixSeconds}&s=${signature}`;
}

/** Whether a signature header is valid for this body and key. Some SDKs append a line end to what they signed. The time is not checked. */
export function isSignatureOf(header: string, body: string, signingKey: string): boolean {
  const unixSeconds = /^t=(\d{1,12})&s=[0-9a-f]{64}$/.exec(header)?.[1];
  if (unixSeconds === undefined) return false;
  const expected = [body, body.trimEnd()].map((text) => signBody(text, signingKey, Number(unixSeconds)));
  return expected.filter((text) => timingSafeEqual(sha256(text), sha256(header))).length > 0;
}

/** The valid texts after `Bearer `: the key, its hash with the key's prefix, and the hash alone. None if it is not a signing key. */
export function signingKeyBearers(signingKey: string): string[] {
  const [, prefix = "", hex] = SIGNING_KEY.exec(signingKey) ?? [];
  if (hex === undefined) return [];
  const hash = createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
  return [...new Set([signingKey, prefix + hash, hash])];
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
