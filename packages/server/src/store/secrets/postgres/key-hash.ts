/** Finds or creates the secret of key hashes. Of nodes that start at the same time, all use the one that was stored first. */

import type { Database } from "../../postgres/database.ts";
import { createKeyHash, KEY_HASH_SECRET, newKeyHashSecret, type StoreHashes } from "../rows/key-hash.ts";
import type { SecretBox } from "../rows/secret-box.ts";

export async function openKeyHash(database: Database, box: SecretBox): Promise<StoreHashes> {
  const created = [KEY_HASH_SECRET, newKeyHashSecret(box)];
  await database.query("INSERT INTO store_secrets (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING", created);
  const [row] = await database.query<{ secret: string }>("SELECT secret FROM store_secrets WHERE name = $1", [KEY_HASH_SECRET]);
  return createKeyHash(box, (row as { secret: string }).secret);
}
