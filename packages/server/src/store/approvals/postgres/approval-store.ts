/**
 * Approvals in PostgreSQL. Requests, decisions and waits of one signal hold the lock of its name, so they follow one another. A decision,
 * the step that it answers and the event that reports it are one transaction. If the response to its commit is lost, it is done again, and
 * finds out whether it was written.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { ApprovalListParams, ApprovalStore } from "../../contract/index.ts";
import { Conditions } from "../../postgres/conditions.ts";
import type { Database } from "../../postgres/database.ts";
import type { WriteWithEventParts } from "../../postgres/write-with-event.ts";
import { type ApprovalRow, approvalPage, endedCondition, statusRanges, toApproval } from "../rows.ts";
import { decideApproval, requestApproval } from "./write-approvals.ts";

const GET = "SELECT * FROM approvals WHERE environment_id = $1 AND approval_id = $2";
const FIND = "SELECT * FROM approvals WHERE (environment_id, approval_id) IN (SELECT environment_id, $1::text FROM environments)";
const COUNT_OPEN = `
  SELECT count(*)::integer AS open
  FROM (SELECT FROM approvals WHERE environment_id = $1 AND status = 'open' AND expires_at > $2 LIMIT $3) AS counted`;
const OF_RUN = "SELECT * FROM approvals WHERE environment_id = $1 AND run_id = $2 ORDER BY approval_id";

export function approvalStore(parts: WriteWithEventParts): ApprovalStore {
  const { database } = parts;
  return {
    approvalRequest: (params) => requestApproval(parts, params),
    approvalDecide: (params) => decideApproval(parts, params),
    async approvalGet({ environmentId, id }) {
      const [row] = await database.query<ApprovalRow>(GET, [environmentId, id]);
      return row ? toApproval(row) : null;
    },
    async approvalFind({ id }) {
      const [row] = await database.query<ApprovalRow>(FIND, [id]);
      return row ? toApproval(row) : null;
    },
    approvalList: (params) => listApprovals(database, params),
    async approvalCountOpen({ environmentId, now, limit }) {
      const [row] = await database.read<{ open: number }>(COUNT_OPEN, [environmentId, now, limit]);
      return row?.open ?? 0;
    },
    approvalsOfRun: async ({ environmentId, runId }) => (await database.query<ApprovalRow>(OF_RUN, [environmentId, runId])).map(toApproval),
    approvalExpireMany: (params) => expireApprovals(database, params),
  };
}

async function listApprovals(database: Database, { environmentId, now, limit, status, after }: ApprovalListParams) {
  const values: unknown[] = [];
  const selects = statusRanges(status, now).map((range) => {
    const where = new Conditions(values);
    where.add("environment_id = ?", environmentId);
    if (after !== undefined) where.add("approval_id < ?", after);
    where.add(range.text, ...range.values);
    return `SELECT * FROM approvals WHERE ${where.text}`;
  });
  const rows = await database.read<ApprovalRow>(`${selects.join(" UNION ALL ")} ORDER BY approval_id DESC LIMIT ${limit + 1}`, values);
  return approvalPage(rows, limit);
}

async function expireApprovals(
  database: Database,
  { environmentId, until, limit }: { environmentId?: EnvironmentId; until: number; limit: number },
): Promise<number> {
  const where = new Conditions();
  const { text: ofEnded, values } = endedCondition(until);
  where.add(ofEnded, ...values);
  if (environmentId !== undefined) where.add("environment_id = ?", environmentId);
  const ended = `SELECT environment_id, approval_id FROM approvals WHERE ${where.text} LIMIT ${limit}`;
  const text = `DELETE FROM approvals WHERE (environment_id, approval_id) IN (${ended}) RETURNING 1`;
  return (await database.query(text, where.values, "maintenance")).length;
}
