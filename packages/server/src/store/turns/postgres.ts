/** Turns in PostgreSQL: if several nodes request the same turn at the same time, one gets it. */

import type { TurnStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";

const TAKE = `
  INSERT INTO turns AS t (work, node, until) VALUES ($1, $2, $4)
  ON CONFLICT (work) DO UPDATE SET node = excluded.node, until = excluded.until WHERE t.node = excluded.node OR t.until <= $3
  RETURNING 1`;

export function turnStore(database: Database): TurnStore {
  return {
    turnTake: async ({ work, node, now, until }) => (await database.query(TAKE, [work, node, now, until])).length > 0,
    async turnGive({ work, node }) {
      await database.query("DELETE FROM turns WHERE work = $1 AND node = $2", [work, node]);
    },
  };
}
