/** Converts a row of the audit log to the contract's AuditEntry. */

import type { ActorKind, AuditEntry } from "../contract/index.ts";

export interface AuditRow {
  sequence: number;
  at: number;
  actor_kind: string;
  actor_id: string;
  actor_name: string;
  action: string;
  target_kind: string;
  target_id: string;
  target_name: string;
  environment: string | null;
  details: string;
}

export function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    sequence: row.sequence,
    at: row.at,
    actor: { kind: row.actor_kind as ActorKind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
    environment: row.environment,
    details: row.details,
  };
}
