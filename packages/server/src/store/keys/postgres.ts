/** Keys in PostgreSQL. Few rows, read whole; the service looks keys up in memory. */

import type { KeyStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { changedColumns, type KeyRow, keyColumns, toKey } from "./rows.ts";

const INSERT = `
  INSERT INTO keys (key_id, kind, name, environment_id, hash, prefix, secret, role, environments, event_names, ips, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  ON CONFLICT DO NOTHING RETURNING *`;
const FIND = "SELECT * FROM keys WHERE key_id = $1 AND revoked_at IS NULL";
const REVOKE = "UPDATE keys SET revoked_at = $1 WHERE key_id = $2 AND revoked_at IS NULL RETURNING *";

export function keyStore(database: Database, announced: Announced, box: SecretBox): KeyStore {
  const one = async (text: string, values: readonly unknown[]) => {
    const [row] = await announced("directory", (client) => client.query<KeyRow>(text, [...values]).then(({ rows }) => rows));
    return row ? toKey(box, row) : null;
  };
  return {
    keyList: async () => (await database.query<KeyRow>("SELECT * FROM keys ORDER BY created_at, key_no")).map((row) => toKey(box, row)),
    keyInsert: (key) => one(INSERT, keyColumns(box, key)),
    keyUpdate: ({ id, changes }) => {
      const columns = changedColumns(changes);
      if (columns.length === 0) return one(FIND, [id]);
      const sets = columns.map(([column], at) => `${column} = $${at + 2}`).join(", ");
      const update = `UPDATE keys SET ${sets} WHERE key_id = $1 AND revoked_at IS NULL RETURNING *`;
      return one(update, [id, ...columns.map(([, value]) => value)]);
    },
    keyRevoke: ({ id, revokedAt }) => one(REVOKE, [revokedAt, id]),
  };
}
