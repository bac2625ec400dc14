/** Sessions in SQLite. Few rows; looked up by hash on every request with the cookie. */

import type { DatabaseSync } from "node:sqlite";
import type { Session, SessionStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { type SessionRow, toSession } from "./rows.ts";

export function sessionStore(db: DatabaseSync, writer: GroupCommit): SessionStore {
  const list = db.prepare("SELECT * FROM sessions ORDER BY created_at DESC, session_id DESC");
  const find = db.prepare("SELECT * FROM sessions WHERE hash = ?");
  const insert = db.prepare(`
    INSERT INTO sessions (session_id, hash, key_id, created_at, last_seen_at, expires_at, ip, user_agent, person)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const touch = db.prepare("UPDATE sessions SET last_seen_at = ?, expires_at = ? WHERE session_id = ?");
  const remove = db.prepare("DELETE FROM sessions WHERE session_id = ? RETURNING *");
  const expire = db.prepare(`
    DELETE FROM sessions WHERE session_id IN (SELECT session_id FROM sessions WHERE expires_at <= ? LIMIT ?)`);

  return {
    sessionList: async () => (list.all() as unknown as SessionRow[]).map(toSession),
    sessionFind: async ({ hash }) => maybe(find.get(hash)),
    sessionInsert: ({ id, hash, keyId, createdAt, lastSeenAt, expiresAt, ip, userAgent, person }) =>
      writer.submit(() => {
        const who = person ? JSON.stringify(person) : null;
        insert.run(id, hash, keyId, createdAt, lastSeenAt, expiresAt, ip, userAgent, who);
      }),
    sessionTouch: ({ id, lastSeenAt, expiresAt }) => writer.submit(() => void touch.run(lastSeenAt, expiresAt, id)),
    sessionDelete: ({ id }) => writer.submit(() => maybe(remove.get(id))),
    sessionExpireMany: ({ expiredUntil, limit }) => writer.submit(() => Number(expire.run(expiredUntil, limit).changes), limit),
  };
}

function maybe(row: unknown): Session | null {
  return row ? toSession(row as SessionRow) : null;
}
