/** Sessions: people signed in to the dashboard. Identified by the hash of a token that only their browser has. */

import type { KeyId, SessionId } from "@inlet/protocol";

export interface Session {
  id: SessionId;
  /** SHA-256 of the token, in hex. */
  hash: string;
  /** The API key it was opened with, whose role and restrictions it has; null if it was opened by a login link. */
  keyId: KeyId | null;
  createdAt: number;
  lastSeenAt: number;
  expiresAt: number;
  ip: string;
  userAgent: string | null;
  /** The person who signed in with OpenID Connect; absent for API keys and login links. */
  person?: SessionPerson;
}

/** Their role is not stored: it follows from the claims and the rules in force. */
export interface SessionPerson {
  issuer: string;
  /** The issuer and its id of the person. */
  subject: string;
  name: string;
  /** The values of each claim that is a text or a list of texts. */
  claims: Readonly<Record<string, readonly string[]>>;
}

export interface SessionStore {
  /** Newest first. */
  sessionList(): Promise<Session[]>;
  sessionFind(params: { hash: string }): Promise<Session | null>;
  sessionInsert(session: Session): Promise<void>;
  /** No effect if the session has ended. */
  sessionTouch(params: { id: SessionId; lastSeenAt: number; expiresAt: number }): Promise<void>;
  /** Null if there is no such session. */
  sessionDelete(params: { id: SessionId }): Promise<Session | null>;
  /** Removes at most `limit` sessions that expired at or before `expiredUntil`. Returns how many. */
  sessionExpireMany(params: { expiredUntil: number; limit: number }): Promise<number>;
}
