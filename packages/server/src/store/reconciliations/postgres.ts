/** Passes of reconciliation in PostgreSQL. */

import type { ReconciliationStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { pageOfReconciliations, RECONCILIATION_COLUMNS, type ReconciliationRow, reconciliationValues } from "./rows.ts";

const ADD = `
  INSERT INTO reconciliations (${RECONCILIATION_COLUMNS.join(", ")})
  VALUES (${RECONCILIATION_COLUMNS.map((_, at) => `$${at + 1}`).join(", ")}) ON CONFLICT DO NOTHING`;
const LIST = `
  SELECT * FROM reconciliations WHERE environment_id = $1 AND webhook_id = $2 AND ($3::text IS NULL OR job_id < $3)
  ORDER BY job_id DESC LIMIT $4`;
const LAST_SCHEDULED = `
  SELECT started_at FROM reconciliations WHERE environment_id = $1 AND webhook_id = $2 AND scheduled = 1
  ORDER BY job_id DESC LIMIT 1`;
const RECOVERED = "SELECT coalesce(sum(recovered), 0)::bigint AS recovered FROM reconciliations WHERE environment_id = $1 AND at >= $2";
const EXPIRE = `
  DELETE FROM reconciliations WHERE (environment_id, webhook_id, job_id) IN (
    SELECT environment_id, webhook_id, job_id FROM reconciliations WHERE at <= $1 LIMIT $2) RETURNING 1`;

export function reconciliationStore(database: Database): ReconciliationStore {
  return {
    async reconciliationAdd(pass) {
      await database.query(ADD, [...reconciliationValues(pass)]);
    },
    async reconciliationList({ environmentId, webhookId, limit, after }) {
      const values = [environmentId, webhookId, after ?? null, limit + 1];
      return pageOfReconciliations(await database.read<ReconciliationRow>(LIST, values), limit);
    },
    async reconciliationLastScheduled({ environmentId, webhookId }) {
      const [row] = await database.query<{ started_at: number }>(LAST_SCHEDULED, [environmentId, webhookId]);
      return row?.started_at ?? null;
    },
    async reconciliationRecovered({ environmentId, since }) {
      const [row] = await database.query<{ recovered: number }>(RECOVERED, [environmentId, since]);
      return row?.recovered ?? 0;
    },
    async reconciliationExpireMany({ until, limit }) {
      return (await database.query(EXPIRE, [until, limit], "maintenance")).length;
    },
  };
}
