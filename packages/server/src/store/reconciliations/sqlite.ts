/** Passes of reconciliation in SQLite. */

import type { DatabaseSync } from "node:sqlite";
import type { ReconciliationStore } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { pageOfReconciliations, RECONCILIATION_COLUMNS, type ReconciliationRow, reconciliationValues } from "./rows.ts";

export function reconciliationStore(db: DatabaseSync, writer: GroupCommit): ReconciliationStore {
  const add = db.prepare(`
    INSERT INTO reconciliations (${RECONCILIATION_COLUMNS.join(", ")}) VALUES (${RECONCILIATION_COLUMNS.map(() => "?").join(", ")})
    ON CONFLICT DO NOTHING`);
  const list = db.prepare(`
    SELECT * FROM reconciliations WHERE environment_id = ?1 AND webhook_id = ?2 AND (?3 IS NULL OR job_id < ?3)
    ORDER BY job_id DESC LIMIT ?4`);
  const lastScheduled = db.prepare(`
    SELECT started_at FROM reconciliations WHERE environment_id = ? AND webhook_id = ? AND scheduled = 1
    ORDER BY job_id DESC LIMIT 1`);
  const recovered = db.prepare(
    "SELECT coalesce(sum(recovered), 0) AS recovered FROM reconciliations INDEXED BY reconciliations_by_age WHERE environment_id = ? AND at >= ?",
  );
  const environments = db.prepare("SELECT environment_id FROM environments");
  const expire = db.prepare(`
    DELETE FROM reconciliations WHERE (environment_id, webhook_id, job_id) IN (
      SELECT environment_id, webhook_id, job_id FROM reconciliations INDEXED BY reconciliations_by_age
      WHERE environment_id = ? AND at <= ? LIMIT ?)`);

  function expireMany(until: number, limit: number): number {
    let removed = 0;
    for (const { environment_id } of environments.all() as { environment_id: number }[]) {
      if (removed < limit) removed += Number(expire.run(environment_id, until, limit - removed).changes);
    }
    return removed;
  }

  return {
    reconciliationAdd: (pass) =>
      writer.submit(() => {
        add.run(...reconciliationValues(pass));
      }),
    reconciliationList: async ({ environmentId, webhookId, limit, after }) =>
      pageOfReconciliations(list.all(environmentId, webhookId, after ?? null, limit + 1) as unknown as ReconciliationRow[], limit),
    reconciliationLastScheduled: async ({ environmentId, webhookId }) =>
      (lastScheduled.get(environmentId, webhookId)?.started_at as number | undefined) ?? null,
    reconciliationRecovered: async ({ environmentId, since }) => recovered.get(environmentId, since)?.recovered as number,
    reconciliationExpireMany: ({ until, limit }) => writer.submit(() => expireMany(until, limit), limit),
  };
}
