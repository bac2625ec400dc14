/** Decisions about failures in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import { FAILURE_STATES_MAX, type FailureState, type FailureStateStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";

export function failureStateStore(db: DatabaseSync, writer: GroupCommit): FailureStateStore {
  const list = db.prepare(`
    SELECT failure_key AS key, decision, decided_at AS decidedAt, decided_by AS decidedBy FROM failure_states
    WHERE environment_id = ? ORDER BY decided_at DESC LIMIT ${FAILURE_STATES_MAX}`);
  const set = db.prepare(`
    INSERT INTO failure_states (environment_id, failure_key, decision, decided_at, decided_by) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at, decided_by = excluded.decided_by`);
  const remove = db.prepare("DELETE FROM failure_states WHERE environment_id = ? AND failure_key = ?");
  return {
    failureStateList: async ({ environmentId }) => list.all(environmentId).map((row) => ({ ...row }) as unknown as FailureState),
    failureStateSet: ({ environmentId, key, decision, decidedAt, decidedBy }) =>
      writer.submit(() => void set.run(environmentId, key, decision, decidedAt, decidedBy)),
    failureStateDelete: ({ environmentId, key }) => writer.submit(() => void remove.run(environmentId, key)),
  };
}
