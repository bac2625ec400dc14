/** Saved filters in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import { SAVED_FILTERS_MAX, type SavedFilter, type SavedFilterStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";

export function savedFilterStore(db: DatabaseSync, writer: GroupCommit): SavedFilterStore {
  const list = db.prepare(`
    SELECT list, name, search, saved_by AS savedBy, saved_at AS savedAt FROM saved_filters WHERE environment_id = ? ORDER BY list, name`);
  const others = db.prepare("SELECT count(*) AS count FROM saved_filters WHERE environment_id = ? AND list = ? AND name <> ?");
  const set = db.prepare(`
    INSERT INTO saved_filters (environment_id, list, name, search, saved_by, saved_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET search = excluded.search, saved_by = excluded.saved_by, saved_at = excluded.saved_at`);
  const remove = db.prepare("DELETE FROM saved_filters WHERE environment_id = ? AND list = ? AND name = ?");
  return {
    savedFilterList: async ({ environmentId }) => list.all(environmentId).map((row) => ({ ...row }) as unknown as SavedFilter),
    savedFilterSet: ({ environmentId, list: page, name, search, savedBy, savedAt }) =>
      writer.submit(() => {
        const { count } = others.get(environmentId, page, name) as { count: number };
        if (count >= SAVED_FILTERS_MAX) return false;
        set.run(environmentId, page, name, search, savedBy, savedAt);
        return true;
      }),
    savedFilterDelete: ({ environmentId, list: page, name }) =>
      writer.submit(() => Number(remove.run(environmentId, page, name).changes) > 0),
  };
}
