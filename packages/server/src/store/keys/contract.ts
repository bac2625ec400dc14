/** Keys: event and signing keys of one environment, signing keys of every environment, API keys of the installation. */

import type { AcceptList, EnvironmentId, KeyId } from "@inlet/protocol";

export const KEY_KINDS = ["event", "api", "signing"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** `read` is an older name of `viewer`. */
export const API_ROLES = ["owner", "admin", "operator", "viewer", "metrics", "read", "ingest-admin"] as const;
export type ApiRole = (typeof API_ROLES)[number];

export interface Key {
  id: KeyId;
  kind: KeyKind;
  name: string;
  /** Of event and signing keys. Null for API keys, and for a signing key that is valid in every environment. */
  environmentId: EnvironmentId | null;
  /** SHA-256 of the key, in hex. Keys are looked up by it. */
  hash: string;
  /** The first characters, by which people recognise it. */
  prefix: string;
  /** Signing keys only: the key itself, because signing requires it. */
  secret: string | null;
  /** API keys only. */
  role: ApiRole | null;
  /** API keys only: the names of the environments it is restricted to, or null for all. */
  environments: readonly string[] | null;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  createdAt: number;
  revokedAt: number | null;
}

/** Of a key that works: what can be changed without a new key. */
export type KeyChanges = Partial<Pick<Key, "name" | "role" | "environments" | "eventNames" | "ips">>;

export interface KeyStore {
  /** Every key, including revoked ones: they still name the source of their events. Oldest first. */
  keyList(): Promise<Key[]>;
  /** Null if a key of this kind with this hash already exists. */
  keyInsert(params: Omit<Key, "revokedAt">): Promise<Key | null>;
  /** Changes the fields given. Null if there is no such key or it is already revoked. */
  keyUpdate(params: { id: KeyId; changes: KeyChanges }): Promise<Key | null>;
  /** Null if there is no such key or it is already revoked. */
  keyRevoke(params: { id: KeyId; revokedAt: number }): Promise<Key | null>;
}
