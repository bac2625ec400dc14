/**
 * Hashes of keys that are computed from events, such as the key of a limit: stored keys can be compared, not read. HMAC-SHA-256, cut to
 * 132 bits, under a secret that is created with the store and stored encrypted. It never changes: equal keys have equal hashes on every
 * node and after a restart. Tokens of links are made under a key that is derived from the same secret: no hash of a key is ever a token.
 */

import { createHmac, createSecretKey, hkdfSync, randomBytes } from "node:crypto";
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

const TOKEN_BYTES = 16;

export interface StoreHashes {
  keyHash(key: string): string;
  /** The token of the link to an object with this id. */
  linkToken(id: string): string;
}

export function createKeyHash(box: SecretBox, sealed: string): StoreHashes {
  const secret = box.open(sealed, ownerOf("store_secrets", KEY_HASH_SECRET));
  if (secret === null) throw new Error("the secret of key hashes cannot be decrypted: it was checked when the store was opened");
  const hmacKey = createSecretKey(secret, "hex");
  const linkKey = createSecretKey(Buffer.from(hkdfSync("sha256", Buffer.from(secret, "hex"), "inlet", "tokens of links", SECRET_BYTES)));
  return {
    keyHash: (key) => createHmac("sha256", hmacKey).update(key).digest("base64url").slice(0, HASH_UNITS),
    linkToken: (id) => createHmac("sha256", linkKey).update(id).digest().subarray(0, TOKEN_BYTES).toString("base64url"),
  };
}
