/** Finds or creates the secret of key hashes. */

import type { DatabaseSync } from "node:sqlite";
import { createKeyHash, KEY_HASH_SECRET, newKeyHashSecret, type StoreHashes } from "../rows/key-hash.ts";
import type { SecretBox } from "../rows/secret-box.ts";

export function openKeyHash(db: DatabaseSync, box: SecretBox): StoreHashes {
  const stored = db.prepare("SELECT secret FROM store_secrets WHERE name = ?").get(KEY_HASH_SECRET);
  const secret = (stored?.secret as string | undefined) ?? newKeyHashSecret(box);
  if (!stored) db.prepare("INSERT INTO store_secrets (name, secret) VALUES (?, ?)").run(KEY_HASH_SECRET, secret);
  return createKeyHash(box, secret);
}
