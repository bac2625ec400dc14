/** Sessions: people signed in to the dashboard. Known by the hash of a token only their browser holds. */

import type { KeyId, SessionId } from "@inlet/protocol";
import type { ApiRole } from "./keys.ts";

export interface Session {
  id: SessionId;
  /** SHA-256 of the token, in hex. */
  hash: string;
  /** The API key it was opened with, whose role and limits it has; null when it was opened by a login link. */
  keyId: KeyId | null;
  createdAt: number;
  lastSeenAt: number;
  expiresAt: number;
  ip: string;
  userAgent: string | null;
  /** Who signed in by OpenID Connect; absent for API keys and login links. */
  person?: SessionPerson;
}

export interface SessionPerson {
  /** By which the issuer knows the person. */
  subject: string;
  name: string;
  role: ApiRole;
}

export interface SessionStore {
  /** Newest first. */
  sessionList(): Promise<Session[]>;
  sessionFind(params: { hash: string }): Promise<Session | null>;
  sessionInsert(session: Session): Promise<void>;
  /** Nothing happens when the session has ended meanwhile. */
  sessionTouch(params: { id: SessionId; lastSeenAt: number; expiresAt: number }): Promise<void>;
  /** Null when there is no such session. */
  sessionDelete(params: { id: SessionId }): Promise<Session | null>;
  /** Removes at most `limit` sessions that expired at or before `expiredUntil`; says how many. */
  sessionExpireMany(params: { expiredUntil: number; limit: number }): Promise<number>;
}
