/** Converts a row of the sessions table to the contract's Session. */

import type { KeyId, SessionId } from "@inlet/protocol";
import type { Session, SessionPerson } from "../contract/index.ts";

export interface SessionRow {
  session_id: string;
  hash: string;
  key_id: string | null;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  ip: string;
  user_agent: string | null;
  /** JSON text. */
  person: string | null;
}

export function toSession(row: SessionRow): Session {
  return {
    id: row.session_id as SessionId,
    hash: row.hash,
    keyId: row.key_id as KeyId | null,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    ip: row.ip,
    userAgent: row.user_agent,
    ...(row.person !== null && { person: JSON.parse(row.person) as SessionPerson }),
  };
}
