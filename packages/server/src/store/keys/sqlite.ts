/** Keys in SQLite. Few rows, read whole; the service looks keys up in memory. */

import type { DatabaseSync } from "node:sqlite";
import type { Key, KeyChanges, KeyStore } from "../contract/index.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { changedColumns, type KeyRow, keyColumns, toKey } from "./rows.ts";

export function keyStore(db: DatabaseSync, writer: GroupCommit, box: SecretBox): KeyStore {
  const list = db.prepare("SELECT * FROM keys ORDER BY created_at, rowid");
  const insert = db.prepare(`
    INSERT INTO keys (key_id, kind, name, environment_id, hash, prefix, secret, role, environments, event_names, ips, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING *`);
  const revoke = db.prepare("UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL RETURNING *");
  const maybe = (row: unknown): Key | null => (row ? toKey(box, row as KeyRow) : null);
  const find = db.prepare("SELECT * FROM keys WHERE key_id = ? AND revoked_at IS NULL");

  function update(id: Key["id"], changes: KeyChanges): Key | null {
    const columns = changedColumns(changes);
    if (columns.length === 0) return maybe(find.get(id));
    const sets = columns.map(([column]) => `${column} = ?`).join(", ");
    const values = columns.map(([, value]) => value);
    return maybe(db.prepare(`UPDATE keys SET ${sets} WHERE key_id = ? AND revoked_at IS NULL RETURNING *`).get(...values, id));
  }

  return {
    keyList: async () => (list.all() as unknown as KeyRow[]).map((row) => toKey(box, row)),
    keyInsert: (key) => writer.submit(() => maybe(insert.get(...keyColumns(box, key)))),
    keyUpdate: ({ id, changes }) => writer.submit(() => update(id, changes)),
    keyRevoke: ({ id, revokedAt }) => writer.submit(() => maybe(revoke.get(revokedAt, id))),
  };
}
