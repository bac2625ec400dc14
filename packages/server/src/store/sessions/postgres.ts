/** Sessions in PostgreSQL. Few rows; looked up by hash on every request with the cookie. */

import type { SessionStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { type SessionRow, toSession } from "./rows.ts";

export function sessionStore(database: Database): SessionStore {
  const one = async (text: string, values: readonly unknown[]) => {
    const [row] = await database.query<SessionRow>(text, values);
    return row ? toSession(row) : null;
  };
  return {
    sessionList: async () =>
      (await database.query<SessionRow>("SELECT * FROM sessions ORDER BY created_at DESC, session_id DESC")).map(toSession),
    sessionFind: ({ hash }) => one("SELECT * FROM sessions WHERE hash = $1", [hash]),
    async sessionInsert({ id, hash, keyId, createdAt, lastSeenAt, expiresAt, ip, userAgent, person }) {
      await database.query(
        `INSERT INTO sessions (session_id, hash, key_id, created_at, last_seen_at, expires_at, ip, user_agent, person)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [id, hash, keyId, createdAt, lastSeenAt, expiresAt, ip, userAgent, person ? JSON.stringify(person) : null],
      );
    },
    async sessionTouch({ id, lastSeenAt, expiresAt }) {
      await database.query("UPDATE sessions SET last_seen_at = $1, expires_at = $2 WHERE session_id = $3", [lastSeenAt, expiresAt, id]);
    },
    sessionDelete: ({ id }) => one("DELETE FROM sessions WHERE session_id = $1 RETURNING *", [id]),
    async sessionExpireMany({ expiredUntil, limit }) {
      const rows = await database.query(
        `WITH old AS MATERIALIZED (SELECT session_id FROM sessions WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
         DELETE FROM sessions WHERE session_id IN (SELECT * FROM old) RETURNING 1`,
        [expiredUntil, limit],
        "maintenance",
      );
      return rows.length;
    },
  };
}
