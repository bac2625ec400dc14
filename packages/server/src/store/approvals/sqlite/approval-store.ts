/** Approvals in SQLite: a decision, the step that it answers and the event that reports it are one unit of the writer. */

import type { DatabaseSync } from "node:sqlite";
import type { EventId } from "@inlet/protocol";
import {
  type ApprovalDecided,
  type ApprovalDecideParams,
  type ApprovalRequestParams,
  type ApprovalStore,
  approvalStatus,
  approvalWaitName,
  type EventBatch,
} from "../../contract/index.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { Reader } from "../../sqlite/reader.ts";
import type { RunParts } from "../../sqlite/run-parts.ts";
import { answerValue, holdsSignal, outcomeOf, statusAtEnd } from "../policy.ts";
import { type ApprovalRow, endedCondition, toApproval } from "../rows.ts";

export interface ApprovalStoreParts extends Pick<RunParts, "approvals" | "waits" | "entries" | "states" | "append" | "changed"> {
  writer: GroupCommit;
  reader: Reader;
}

export function approvalStore(db: DatabaseSync, parts: ApprovalStoreParts): ApprovalStore {
  const { writer, reader, approvals } = parts;
  const ofRun = db.prepare("SELECT * FROM approvals WHERE environment_id = ? AND run_id = ? ORDER BY approval_id");
  const all = (rows: unknown) => (rows as ApprovalRow[]).map(toApproval);
  return {
    approvalRequest: (params) => writer.submit(() => request(parts, params), 4),
    approvalDecide: (params) => writer.submit(() => decide(parts, params), 4),
    async approvalGet({ environmentId, id }) {
      const approval = approvals.get(id);
      return approval?.environmentId === environmentId ? approval : null;
    },
    approvalFind: async ({ id }) => approvals.get(id),
    approvalList: (params) => reader.read("approvalList", params),
    approvalCountOpen: (params) => reader.read("approvalCountOpen", params),
    approvalsOfRun: async ({ environmentId, runId }) => all(ofRun.all(environmentId, runId)),
    approvalExpireMany: (params) => writer.submit(() => expire(db, params), params.limit),
  };
}

function request(parts: ApprovalStoreParts, { environmentId, approval, now, lease, event }: ApprovalRequestParams) {
  const { approvals, waits, states, append } = parts;
  const allocation = new LeaseAllocation(now, lease);
  const waitName = approvalWaitName(approval);
  const other = approvals.pending(environmentId, waitName);
  if (other && holdsSignal({ ...other, isPending: true }, now)) return { approval: null, leased: [] };
  if (other) approvals.end(other, statusAtEnd(other, now), other.expiresAt);
  const waiting = waits.findSignal(environmentId, waitName, now);
  const run = waiting && states.run(waiting.runNo);
  approvals.insert(environmentId, { ...approval, stepId: waiting?.stepId ?? null }, run);
  append(allocation, event(run?.id ?? null));
  if (run) parts.changed.note(run.no);
  return { approval: approvals.get(approval.id), leased: allocation.leased };
}

function decide(parts: ApprovalStoreParts, { environmentId, id, made, now, lease, event }: ApprovalDecideParams): ApprovalDecided {
  const { approvals, waits, entries, states, append, changed } = parts;
  const approval = approvals.get(id);
  if (approval?.environmentId !== environmentId) return { outcome: "unknown", approval: null, leased: [] };
  if (approvalStatus(approval, now) !== "open") return { outcome: "ended", approval, leased: [] };
  const allocation = new LeaseAllocation(now, lease);
  const waiting = waits.findSignal(environmentId, approvalWaitName(approval), now);
  const value = answerValue(approval, made);
  const delivered = waiting !== null && entries.makeDue(allocation, waiting.runNo, waiting.stepId, { outcome: { value } });
  const outcome = outcomeOf(approval, { delivered });
  if (outcome === "expired") {
    approvals.end(approval, "expired", now);
    return { outcome: "ended", approval: approvals.get(id), leased: [] };
  }
  if (waiting && delivered) waits.dropStep(waiting.runNo, waiting.stepId);
  const run = waiting && states.run(waiting.runNo);
  if (run && waiting) approvals.link(approval, run, waiting.stepId);
  const batch = event(approvals.get(id) ?? approval);
  approvals.decide(approval, made, { at: now, eventId: eventIdOf(batch), isKept: outcome === "kept" });
  append(allocation, batch);
  const runNo = run?.no ?? approval.run?.no;
  if (runNo !== undefined) changed.note(runNo);
  return { outcome: "decided", approval: approvals.get(id), leased: allocation.leased };
}

function eventIdOf({ events }: EventBatch): EventId {
  const [event] = events;
  if (!event) throw new Error("a decision is reported by one event");
  return event.id;
}

function expire(db: DatabaseSync, { environmentId, until, limit }: Parameters<ApprovalStore["approvalExpireMany"]>[0]): number {
  const { text, values } = endedCondition(until);
  const where = environmentId === undefined ? text : `${text} AND environment_id = ?`;
  const ended = `SELECT approval_id FROM approvals WHERE ${where} LIMIT ?`;
  const remove = db.prepare(`DELETE FROM approvals WHERE approval_id IN (${ended})`);
  return Number(remove.run(...values, ...(environmentId === undefined ? [] : [environmentId]), limit).changes);
}
