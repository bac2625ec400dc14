/** Lists and counts approvals, on the read thread. */

import type { DatabaseSync } from "node:sqlite";
import type { ApprovalListParams, ApprovalStore } from "../contract.ts";
import { type ApprovalRow, approvalPage, statusRanges } from "../rows.ts";

export function listApprovals(db: DatabaseSync, { environmentId, now, limit, status, after }: ApprovalListParams) {
  const ranges = statusRanges(status, now);
  const older = after === undefined ? { text: "", values: [] } : { text: "AND approval_id < ?", values: [after] };
  const selects = ranges.map(({ text }) => `SELECT * FROM approvals WHERE environment_id = ? ${older.text} AND ${text}`);
  const rows = db
    .prepare(`${selects.join(" UNION ALL ")} ORDER BY approval_id DESC LIMIT ?`)
    .all(...ranges.flatMap(({ values }) => [environmentId, ...older.values, ...values]), limit + 1) as unknown as ApprovalRow[];
  return approvalPage(rows, limit);
}

export function countOpen(db: DatabaseSync, { environmentId, now, limit }: Parameters<ApprovalStore["approvalCountOpen"]>[0]): number {
  const count = db.prepare(`
    SELECT count(*) AS open FROM (SELECT 1 FROM approvals WHERE environment_id = ? AND status = 'open' AND expires_at > ? LIMIT ?)`);
  return (count.get(environmentId, now, limit) as { open: number }).open;
}
