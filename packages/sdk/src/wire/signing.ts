/**
 * Signatures of calls, and authentication to the service. With WebCrypto, which is available everywhere.
 *
 *   x-service-signature: t=<unix seconds>&s=<hex of HMAC-SHA256(key text without prefix, body bytes + decimal t)>
 *   authorization:       Bearer <prefix><hex of SHA-256(key decoded from hex)>
 */

const PREFIX = /^signkey-\w+-/;
const TOLERANCE_SECONDS = 300;
const encoder = new TextEncoder();

type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Imported once per key: importing costs more than a signature. */
const importedKeys = new Map<string, Promise<ImportedKey>>();

type Bytes = Uint8Array<ArrayBuffer>;

type SignatureResult = { ok: true } | { ok: false; reason: string };

/** Whether one of the keys signed these bytes, at a time within five minutes of now in either direction: clocks differ. */
export async function verifySignature(
  header: string | null | undefined,
  body: Uint8Array,
  keys: readonly string[],
  nowMs: number = Date.now(),
): Promise<SignatureResult> {
  if (!header) return { ok: false, reason: "the call is not signed" };
  const match = /^t=(\d{1,12})&s=([0-9a-fA-F]{64})$/.exec(header.trim());
  if (!match?.[1] || !match[2]) return { ok: false, reason: "the signature is malformed" };
  if (Math.abs(nowMs / 1_000 - Number(match[1])) > TOLERANCE_SECONDS) {
    return {
      ok: false,
      reason: "the time of the signature is more than five minutes from this machine's clock: synchronise the clocks of app and service",
    };
  }
  const [, seconds, signature] = match;
  for (const key of keys) if (await isSignedWith(key, signature, body, seconds)) return { ok: true };
  return { ok: false, reason: "the signature was made with another key, or the body was changed on the way" };
}

/** WebCrypto compares in constant time. */
async function isSignedWith(key: string, signature: string, body: Uint8Array, seconds: string): Promise<boolean> {
  return crypto.subtle.verify("HMAC", await importedKey(key), bytesOfHex(signature), joined(body, encoder.encode(seconds)));
}

/** The signature that the service sends: for the test kit of servers, and for our own tests. */
export async function signBody(body: Uint8Array, key: string, nowMs: number = Date.now()): Promise<string> {
  const seconds = String(Math.floor(nowMs / 1_000));
  const signature = await crypto.subtle.sign("HMAC", await importedKey(key), joined(body, encoder.encode(seconds)));
  return `t=${seconds}&s=${hexOf(new Uint8Array(signature))}`;
}

/** The bearer token of a signing key: proves knowledge of it without sending it. */
export async function bearerToken(key: string): Promise<string> {
  const prefix = PREFIX.exec(key)?.[0] ?? "";
  const hex = key.slice(prefix.length);
  if (!/^(?:[0-9a-fA-F]{2})+$/.test(hex)) {
    throw new TypeError(
      "INLET_SIGNING_KEY is not a signing key: use hexadecimal digits, with or without signkey-<environment>- before them",
    );
  }
  return prefix + hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOfHex(hex))));
}

function importedKey(key: string): Promise<ImportedKey> {
  const known = importedKeys.get(key);
  if (known) return known;
  const bytes = encoder.encode(key.replace(PREFIX, ""));
  const imported = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  importedKeys.set(key, imported);
  return imported;
}

function joined(a: Uint8Array, b: Uint8Array): Bytes {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function bytesOfHex(hex: string): Bytes {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16);
  return bytes;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
