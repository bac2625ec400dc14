/**
 * Hashes of keys that are computed from events, such as the key of a limit: stored keys can be compared, not read. HMAC-SHA-256, cut to
 * 132 bits, under a secret that is created with the store and stored encrypted. It never changes: equal keys have equal hashes on every
 * node and after a restart.
 */

import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { ownerOf } from "./sealed-rows.ts";
import type { SecretBox } from "./secret-box.ts";

/** The row of `store_secrets`. */
export const KEY_HASH_SECRET = "key-hash";

const SECRET_BYTES = 32;
const HASH_UNITS = 22;

/** The encrypted secret of a new store. */
export function newKeyHashSecret(box: SecretBox): string {
  return box.seal(randomBytes(SECRET_BYTES).toString("hex"), ownerOf("store_secrets", KEY_HASH_SECRET));
}

export function createKeyHash(box: SecretBox, sealed: string): (key: string) => string {
  const secret = box.open(sealed, ownerOf("store_secrets", KEY_HASH_SECRET));
  if (secret === null) throw new Error("the secret of key hashes cannot be decrypted: it was checked when the store was opened");
  const hmacKey = createSecretKey(secret, "hex");
  return (key) => createHmac("sha256", hmacKey).update(key).digest("base64url").slice(0, HASH_UNITS);
}
