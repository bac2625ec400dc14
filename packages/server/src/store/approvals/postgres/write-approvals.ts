/** The transactions that request and decide approvals in PostgreSQL. */

import type { FunctionNo, RunId, RunNo } from "@inlet/protocol";
import {
  type ApprovalDecided,
  type ApprovalDecideParams,
  type ApprovalRequestParams,
  approvalStatus,
  approvalWaitName,
  type EventBatch,
  type WaitRules,
} from "../../contract/index.ts";
import { appendEvents } from "../../events/postgres/append-events.ts";
import type { InternedIds } from "../../events/postgres/interned-ids.ts";
import { CommitUnknown, type Database } from "../../postgres/database.ts";
import { flushWrites } from "../../postgres/flush-writes.ts";
import { jsonRows } from "../../postgres/json-rows.ts";
import { LockSet, nameLock } from "../../postgres/locks.ts";
import { type Notices, PendingWrites } from "../../postgres/pending-writes.ts";
import { retryCollisions } from "../../postgres/retry-collisions.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { makeDue } from "../../queue/postgres/queue-entries.ts";
import { resumeRuns } from "../../waits/postgres/resume-runs.ts";
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

export interface WriteApprovalParts {
  database: Database;
  interned: InternedIds;
  rules: WaitRules;
  notify(notices: Notices): void;
}

/** What a transaction has at hand. */
interface Writing {
  writes: PendingWrites;
  allocation: LeaseAllocation;
  append(batch: EventBatch): Promise<void>;
}

export function requestApproval(parts: WriteApprovalParts, params: ApprovalRequestParams) {
  const { approval, now, event } = params;
  const waitName = approvalWaitName(approval);
  return inTransaction(parts, params, { waitName, event: event(null) }, async ({ writes, allocation, append }) => {
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

export async function decideApproval(parts: WriteApprovalParts, params: ApprovalDecideParams): Promise<ApprovalDecided> {
  const { environmentId, id, made, now, event } = params;
  const [known] = (await parts.database.query<ApprovalRow>(GET, [environmentId, id])).map(toApproval);
  if (!known) return { outcome: "unknown", approval: null, leased: [] };
  const waitName = approvalWaitName(known);
  return inTransaction(
    parts,
    params,
    { waitName, event: event(known) },
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

/** Holds the locks of the signal's name and of the event's. */
async function inTransaction<Result>(
  { database, interned, rules, notify }: WriteApprovalParts,
  { environmentId, now, lease }: Pick<ApprovalDecideParams, "environmentId" | "now" | "lease">,
  { waitName, event }: { waitName: string; event: EventBatch },
  work: (writing: Writing) => Promise<Result>,
): Promise<Result> {
  await interned.add((text, values) => database.query(text, values), [event]);
  const locks = new LockSet();
  locks.add(nameLock(environmentId, waitName), "alone");
  for (const { name } of event.events) locks.add(nameLock(environmentId, name), "shared");
  const write = () =>
    database.transaction(async (client) => {
      const writes = new PendingWrites(client, environmentId);
      const allocation = new LeaseAllocation(now, lease);
      locks.send(writes);
      const append = async (batch: EventBatch) => {
        const numbers = await interned.numbersFor(writes.read, [batch]);
        const { awaited } = await appendEvents(writes, numbers, [{ batch, allocation, mayBeWritten: false }]);
        await flushWrites(writes);
        await resumeRuns(writes, rules, awaited);
      };
      const result = await work({ writes, allocation, append });
      await writes.settle();
      return { result, notices: writes.notices };
    });
  const { result, notices } = await retryCollisions(() =>
    write().catch((error) => (error instanceof CommitUnknown ? write() : Promise.reject(error))),
  );
  notify(notices);
  return result;
}
