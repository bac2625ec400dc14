/** Leadership in PostgreSQL: if several nodes request the same leadership at the same time, one gets it. */

import type { LeadershipStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";

const TAKE = `
  INSERT INTO leaders AS l (work, node, until) VALUES ($1, $2, $4)
  ON CONFLICT (work) DO UPDATE SET node = excluded.node, until = excluded.until WHERE l.node = excluded.node OR l.until <= $3
  RETURNING 1`;

export function leadershipStore(database: Database): LeadershipStore {
  return {
    leadershipTake: async ({ work, node, now, until }) => (await database.query(TAKE, [work, node, now, until])).length > 0,
    async leadershipResign({ work, node }) {
      await database.query("DELETE FROM leaders WHERE work = $1 AND node = $2", [work, node]);
    },
  };
}
