/** Saved filters in PostgreSQL. People who save at the same time on several nodes may exceed the limit by a few. */

import { SAVED_FILTERS_MAX, type SavedFilter, type SavedFilterStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";

const LIST = `
  SELECT list, name, search, saved_by AS "savedBy", saved_at AS "savedAt" FROM saved_filters WHERE environment_id = $1 ORDER BY list, name`;
const SET = `
  INSERT INTO saved_filters (environment_id, list, name, search, saved_by, saved_at)
  SELECT $1::integer, $2::text, $3::text, $4::text, $5::text, $6::bigint
  WHERE (SELECT count(*) FROM saved_filters WHERE environment_id = $1 AND list = $2 AND name <> $3) < ${SAVED_FILTERS_MAX}
  ON CONFLICT (environment_id, list, name)
  DO UPDATE SET search = excluded.search, saved_by = excluded.saved_by, saved_at = excluded.saved_at
  RETURNING 1`;
const REMOVE = "DELETE FROM saved_filters WHERE environment_id = $1 AND list = $2 AND name = $3 RETURNING 1";

export function savedFilterStore(database: Database): SavedFilterStore {
  return {
    savedFilterList: ({ environmentId }) => database.read<SavedFilter>(LIST, [environmentId]),
    savedFilterSet: async ({ environmentId, list, name, search, savedBy, savedAt }) =>
      (await database.query(SET, [environmentId, list, name, search, savedBy, savedAt])).length > 0,
    savedFilterDelete: async ({ environmentId, list, name }) => (await database.query(REMOVE, [environmentId, list, name])).length > 0,
  };
}
