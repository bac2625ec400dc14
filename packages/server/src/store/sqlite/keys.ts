/** Keys in SQLite. Few rows, read whole; the service looks keys up in memory. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, KeyId } from "@inlet/protocol";
import type { ApiRole, Key, KeyKind, KeyStore } from "../contract/index.ts";
import { listText, parseList } from "./accept-lists.ts";
import type { GroupCommit } from "./group-commit.ts";

interface KeyRow {
  key_id: string;
  kind: string;
  name: string;
  environment_id: number | null;
  hash: string;
  prefix: string;
  secret: string | null;
  role: string | null;
  environments: string | null;
  event_names: string | null;
  ips: string | null;
  created_at: number;
  revoked_at: number | null;
}

export function keyStore(db: DatabaseSync, writer: GroupCommit): KeyStore {
  const list = db.prepare("SELECT * FROM keys ORDER BY created_at, rowid");
  const insert = db.prepare(`
    INSERT INTO keys (key_id, kind, name, environment_id, hash, prefix, secret, role, environments, event_names, ips, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING *`);
  const revoke = db.prepare("UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL RETURNING *");

  return {
    keyList: async () => (list.all() as unknown as KeyRow[]).map(toKey),
    keyInsert: (key) => writer.submit(() => maybe(insert.get(...toColumns(key)))),
    keyRevoke: ({ id, revokedAt }) => writer.submit(() => maybe(revoke.get(revokedAt, id))),
  };
}

function toColumns(key: Omit<Key, "revokedAt">) {
  const { id, kind, name, environmentId, hash, prefix, secret, role, eventNames, ips, createdAt } = key;
  const environments = key.environments && JSON.stringify(key.environments);
  return [id, kind, name, environmentId, hash, prefix, secret, role, environments, listText(eventNames), listText(ips), createdAt] as const;
}

function maybe(row: unknown): Key | null {
  return row ? toKey(row as KeyRow) : null;
}

function toKey(row: KeyRow): Key {
  return {
    id: row.key_id as KeyId,
    kind: row.kind as KeyKind,
    name: row.name,
    environmentId: row.environment_id as EnvironmentId | null,
    hash: row.hash,
    prefix: row.prefix,
    secret: row.secret,
    role: row.role as ApiRole | null,
    environments: row.environments === null ? null : JSON.parse(row.environments),
    eventNames: parseList(row.event_names),
    ips: parseList(row.ips),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
