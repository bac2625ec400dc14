/** The transactions that request and decide approvals in PostgreSQL. */

import type { FunctionNo, RunId, RunNo } from "@inlet/protocol";
import {
  type ApprovalDecided,
  type ApprovalDecideParams,
  type ApprovalRequestParams,
  approvalStatus,
  approvalWaitName,
} from "../../contract/index.ts";
import { jsonRows } from "../../postgres/json-rows.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { type WriteWithEventParts, writeWithEvent } from "../../postgres/write-with-event.ts";
import { makeDue } from "../../queue/postgres/queue-entries.ts";
import { dropWaits, lockSignal } from "../../waits/postgres/waits.ts";
import { answerValue, holdsSignal, outcomeOf, statusAtEnd } from "../policy.ts";
import { type ApprovalRow, newApprovalRow, toApproval, type WaitingRunOf } from "../rows.ts";
import { endApproval, INSERT, linkApproval } from "./approval-rows.ts";

const GET = "SELECT * FROM approvals WHERE environment_id = $1 AND approval_id = $2";
const PENDING = "SELECT * FROM approvals WHERE environment_id = $1 AND wait_name = $2 AND is_pending = 1 FOR UPDATE";
const RUN = "SELECT run_no AS no, run_id AS id, function_no FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";
const DECIDE = `
  UPDATE approvals SET status = $3, ended_at = $4, decided_by = $5, comment = $6, decision_data = $7, decision_event_id = $8, is_pending = $9
  WHERE environment_id = $1 AND approval_id = $2`;

export function requestApproval(parts: WriteWithEventParts, params: ApprovalRequestParams) {
  const { approval, now, event } = params;
  const waitName = approvalWaitName(approval);
  return writeWithEvent(parts, { ...params, alone: waitName, event: event(null) }, async ({ writes, allocation, append }) => {
    const { environmentId } = writes;
    const read = async () => (await writes.rows<ApprovalRow>(GET, environmentId, approval.id)).map(toApproval)[0] ?? null;
    const written = await read();
    if (written) return { approval: written, leased: [] };
    const waiting = await lockSignal(writes, waitName, now);
    const other = (await writes.rows<ApprovalRow>(PENDING, environmentId, waitName)).map(toApproval)[0];
    if (other && holdsSignal({ ...other, isPending: true }, now)) return { approval: null, leased: [] };
    if (other) endApproval(writes, other, statusAtEnd(other, now), other.expiresAt);
    const run = waiting && (await waitingRun(writes, waiting.runNo));
    writes.send(INSERT, jsonRows([newApprovalRow(environmentId, { ...approval, stepId: waiting?.stepId ?? null }, run)]));
    await append(event(run?.id ?? null));
    if (run) writes.notices.runNos.add(run.no);
    return { approval: await read(), leased: allocation.leased };
  });
}

export async function decideApproval(parts: WriteWithEventParts, params: ApprovalDecideParams): Promise<ApprovalDecided> {
  const { environmentId, id, made, now, event } = params;
  const [known] = (await parts.database.query<ApprovalRow>(GET, [environmentId, id])).map(toApproval);
  if (!known) return { outcome: "unknown", approval: null, leased: [] };
  const waitName = approvalWaitName(known);
  return writeWithEvent(
    parts,
    { ...params, alone: waitName, event: event(known) },
    async ({ writes, allocation, append }): Promise<ApprovalDecided> => {
      const waiting = await lockSignal(writes, waitName, now);
      const read = async (lock = "") => (await writes.rows<ApprovalRow>(`${GET}${lock}`, environmentId, id)).map(toApproval)[0] ?? null;
      const approval = await read(" FOR UPDATE");
      if (!approval) return { outcome: "unknown", approval, leased: [] };
      const eventId = event(approval).events[0]?.id ?? null;
      // An earlier attempt was committed.
      if (approval.decisionEventId !== null && approval.decisionEventId === eventId) return { outcome: "decided", approval, leased: [] };
      if (approvalStatus(approval, now) !== "open") return { outcome: "ended", approval, leased: [] };
      const outcome = { value: answerValue(approval, made) };
      const due = waiting ? await makeDue(writes, [{ allocation, ...waiting, eventSequence: null, endedRunNo: null, outcome }]) : [];
      const result = outcomeOf(approval, { delivered: due.length > 0 });
      if (result === "expired") {
        endApproval(writes, approval, "expired", now);
        return { outcome: "ended", approval: await read(), leased: [] };
      }
      dropWaits(writes, due);
      const linked = waiting && (await linkApproval(writes, waitName, waiting.runNo, waiting.stepId));
      const { decision, by, comment, data } = made;
      writes.send(DECIDE, environmentId, id, decision, now, by, comment, data, eventId, result === "kept" ? 1 : 0);
      const { run } = linked ?? approval;
      await append(event(linked ?? approval));
      if (run) writes.notices.runNos.add(run.no);
      return { outcome: "decided", approval: await read(), leased: allocation.leased };
    },
  );
}

async function waitingRun(writes: PendingWrites, runNo: RunNo): Promise<WaitingRunOf | null> {
  const [row] = await writes.rows<{ no: RunNo; id: RunId; function_no: FunctionNo }>(RUN, writes.environmentId, [runNo]);
  return row ? { no: row.no, id: row.id, functionNo: row.function_no } : null;
}
