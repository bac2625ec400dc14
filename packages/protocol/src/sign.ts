/**
 * Signatures on calls to functions, and the texts by which an SDK shows that it knows the signing key.
 *
 * A signing key is `signkey-<environment>-<hex>`, or the hex part alone. Calls are signed with the characters of that part, not
 * with the bytes they stand for; in a bearer text the hash of those bytes stands for it. So a key that is not hexadecimal has no hash
 * of its own: it is refused wherever keys come in, and no bearer text stands for it.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = /^signkey-\w+-/;
/** At least 128 bits. */
const SIGNING_KEY = /^(signkey-\w+-)?((?:[0-9a-fA-F]{2}){16,})$/;

/** Completes a sentence that begins with what was given. */
export const SIGNING_KEY_RULE =
  'must be "signkey-<environment>-<hex>" or <hex>, with at least 32 hexadecimal digits; make one with "inlet keys new --kind signing" or "openssl rand -hex 32"';

export function isSigningKey(text: string): boolean {
  return SIGNING_KEY.test(text);
}

/** The value of the signature header, for a body as it goes over the wire. */
export function signBody(body: string, signingKey: string, unixSeconds: number): string {
  const signature = createHmac("sha256", signingKey.replace(PREFIX, "")).update(body).update(String(unixSeconds)).digest("hex");
  return `t=${unixSeconds}&s=${signature}`;
}

/** Whether a signature header is one of this body by this key. Some SDKs write a line end behind what they signed. Its time is not looked at. */
export function isSignatureOf(header: string, body: string, signingKey: string): boolean {
  const unixSeconds = /^t=(\d{1,12})&s=[0-9a-f]{64}$/.exec(header)?.[1];
  if (unixSeconds === undefined) return false;
  const expected = [body, body.trimEnd()].map((text) => signBody(text, signingKey, Number(unixSeconds)));
  return expected.filter((text) => timingSafeEqual(sha256(text), sha256(header))).length > 0;
}

/** What may stand behind `Bearer `: the key, its hash behind the key's prefix, and the hash alone. None for what is no signing key. */
export function signingKeyBearers(signingKey: string): string[] {
  const [, prefix = "", hex] = SIGNING_KEY.exec(signingKey) ?? [];
  if (hex === undefined) return [];
  const hash = createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
  return [...new Set([signingKey, prefix + hash, hash])];
}

/** Takes the same time whatever the bearer text is: hashes are compared, all of them, in constant time. */
export function isBearerOf(signingKey: string, bearer: string): boolean {
  const given = sha256(bearer);
  return signingKeyBearers(signingKey).filter((accepted) => timingSafeEqual(sha256(accepted), given)).length > 0;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
