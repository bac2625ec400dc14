/** Converts a row of the keys table to the contract's Key, and back. */

import type { EnvironmentId, KeyId } from "@inlet/protocol";
import type { ApiRole, Key, KeyChanges, KeyKind } from "../contract/index.ts";
import { ownerOf } from "../secrets/rows/sealed-rows.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { listText, parseList } from "../shared/accept-lists.ts";

export interface KeyRow {
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

export function keyColumns(box: SecretBox, key: Omit<Key, "revokedAt">) {
  const { id, kind, name, environmentId, hash, prefix, role, eventNames, ips, createdAt } = key;
  const secret = key.secret === null ? null : box.seal(key.secret, ownerOf("keys", id));
  const environments = key.environments && JSON.stringify(key.environments);
  return [id, kind, name, environmentId, hash, prefix, secret, role, environments, listText(eventNames), listText(ips), createdAt] as const;
}

/** The columns that a change writes, with their values. */
export function changedColumns({ name, role, environments, eventNames, ips }: KeyChanges): [column: string, value: string | null][] {
  return [
    ...(name === undefined ? [] : [["name", name] as [string, string]]),
    ...(role === undefined ? [] : [["role", role] as [string, string | null]]),
    ...(environments === undefined ? [] : [["environments", environments && JSON.stringify(environments)] as [string, string | null]]),
    ...(eventNames === undefined ? [] : [["event_names", listText(eventNames)] as [string, string | null]]),
    ...(ips === undefined ? [] : [["ips", listText(ips)] as [string, string | null]]),
  ];
}

export function toKey(box: SecretBox, row: KeyRow): Key {
  return {
    id: row.key_id as KeyId,
    kind: row.kind as KeyKind,
    name: row.name,
    environmentId: row.environment_id as EnvironmentId | null,
    hash: row.hash,
    prefix: row.prefix,
    secret: row.secret === null ? null : box.open(row.secret, ownerOf("keys", row.key_id)),
    role: row.role as ApiRole | null,
    environments: row.environments === null ? null : JSON.parse(row.environments),
    eventNames: parseList(row.event_names),
    ips: parseList(row.ips),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
