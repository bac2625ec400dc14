/** Decisions about failures in PostgreSQL. */

import { FAILURE_STATES_MAX, type FailureState, type FailureStateStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";

const LIST = `
  SELECT failure_key AS key, decision, decided_at AS "decidedAt", decided_by AS "decidedBy" FROM failure_states
  WHERE environment_id = $1 ORDER BY decided_at DESC LIMIT ${FAILURE_STATES_MAX}`;
const SET = `
  INSERT INTO failure_states (environment_id, failure_key, decision, decided_at, decided_by) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (environment_id, failure_key)
  DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at, decided_by = excluded.decided_by`;

export function failureStateStore(database: Database): FailureStateStore {
  return {
    failureStateList: ({ environmentId }) => database.read<FailureState>(LIST, [environmentId]),
    async failureStateSet({ environmentId, key, decision, decidedAt, decidedBy }) {
      await database.query(SET, [environmentId, key, decision, decidedAt, decidedBy]);
    },
    async failureStateDelete({ environmentId, key }) {
      await database.query("DELETE FROM failure_states WHERE environment_id = $1 AND failure_key = $2", [environmentId, key]);
    },
  };
}
