/** The audit log: who changed what, and when. Append-only. */

import type { EventCursor } from "../contract/event-cursor.ts";

/** Who can be named as the author of an entry. `service`: a part of the service itself; `link`: whoever has the link of an approval. */
export const ACTOR_KINDS = ["api-key", "session", "signing-key", "event-key", "service", "link", "dev"] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export interface NewAuditEntry {
  at: number;
  actor: { kind: ActorKind; id: string; name: string };
  /** `<noun>.<what happened to it>`, such as `webhook.updated`. */
  action: string;
  target: { kind: string; id: string; name: string };
  /** The name of the environment; null: the change concerns the installation. */
  environment: string | null;
  /** JSON text of an object with further details. Never contains a secret. */
  details: string;
}

export interface AuditEntry extends NewAuditEntry {
  sequence: number;
}

export interface AuditListParams {
  limit: number;
  /** Continue after this cursor; its `receivedAt` is the entry's `at`. */
  after?: EventCursor;
  from?: number;
  to?: number;
  /** The id of an actor, or a kind of actor. */
  actor?: string;
  /** An exact action, or one that ends in `*`. */
  action?: string;
  /** Only entries of these environments; absent: all entries, those without an environment included. */
  environments?: readonly string[];
}

export interface AuditStore {
  auditAppend(entry: NewAuditEntry): Promise<void>;
  /** Removes at most `limit` entries of one action, dated `until` or earlier. Returns how many. */
  auditExpireMany(params: { action: string; until: number; limit: number }): Promise<number>;
  /** Newest first. */
  auditList(params: AuditListParams): Promise<{ entries: AuditEntry[]; next: EventCursor | null }>;
}
