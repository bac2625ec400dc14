/** Leadership in PostgreSQL: if several nodes request the same leadership at the same time, one gets it. */

import type { LeadershipStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";

const TAKE = `
  INSERT INTO leaders AS l (work, node, until) VALUES ($1, $2, $4)
  ON CONFLICT (work) DO UPDATE SET node = excluded.node, until = excluded.until WHERE l.node = excluded.node OR l.until <= $3
  RETURNING 1`;

export function leadershipStore(database: Database): LeadershipStore {
  /** A node that stops resigns everything it could lead: what it never requested needs no statement. */
  const requested = new Set<string>();
  const keyOf = (work: string, node: string) => `${node} ${work}`;
  return {
    async leadershipTake({ work, node, now, until }) {
      requested.add(keyOf(work, node));
      return (await database.query(TAKE, [work, node, now, until])).length > 0;
    },
    async leadershipResign({ work, node }) {
      if (!requested.has(keyOf(work, node))) return;
      await database.query("DELETE FROM leaders WHERE work = $1 AND node = $2", [work, node]);
    },
  };
}
