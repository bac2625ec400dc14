/**
 * The internal events that report approvals: the request, with the link that people decide by, and the decision. Each names the run that it is
 * about as its source, if there is one: by that, an erasure finds it in the archive.
 */

import type { EnvironmentId, EventIdGenerator, RunId } from "@inlet/protocol";
import type { Approval, EventBatch, MadeDecision, NewApproval, NewEvent, RunState } from "../../store/contract/index.ts";
import { APPROVAL_REQUESTED } from "../../store/contract/index.ts";
import type { AskedApproval } from "./call-response.ts";
import { emittedBy } from "./emitted-by.ts";
import { internalBatch } from "./end-events.ts";
import type { Operation } from "./operations.ts";
import { readApproval } from "./step-parameters.ts";

export const APPROVAL_DECIDED = "inlet/approval.decided";

export interface ApprovalEventsParts {
  /** Adds what the event starts. */
  plan(environmentId: EnvironmentId, event: NewEvent, now: number): NewEvent;
  eventIds: EventIdGenerator;
}

export interface AskParts extends ApprovalEventsParts {
  /** The link that decides the approval with this id. */
  url(id: string): string;
}

/** A step asks a person: its approval, and the event that reports it. A sentence if its parameters are invalid. */
export function askApproval(parts: AskParts, operation: Operation, state: RunState, now: number): AskedApproval | string {
  const fields = readApproval(operation, now);
  if (typeof fields === "string") return fields;
  const { eventIds, plan, url } = parts;
  const { environmentId, id: runId } = state.run;
  const asked = { id: eventIds.next(now) as string, signal: null, stepId: operation.id, ...fields, createdAt: now };
  const approval: NewApproval = { ...asked, requestEventId: eventIds.next(now) };
  // A function that posts links must not start itself without end by asking.
  if (state.events().some(({ name }) => name === APPROVAL_REQUESTED)) return { approval, events: [] };
  const event = { ...requestedEvent(approval, url(approval.id), runId, now), ...emittedBy(state) };
  return { approval, events: [internalBatch(environmentId, now, [plan(environmentId, event, now)])] };
}

export function requestedEvent(approval: NewApproval, url: string, runId: RunId | null, now: number): NewEvent {
  const { id, prompt, signal, expiresAt, requestEventId } = approval;
  const first = JSON.stringify({ id, url, prompt });
  const last = JSON.stringify({ signal, runId, expiresAt: new Date(expiresAt).toISOString() });
  const data = `${first.slice(0, -1)},"data":${approval.data},${last.slice(1)}`;
  return { id: requestEventId, name: APPROVAL_REQUESTED, ts: now, dedupId: null, data, extras: null, ...(runId && { sourceRun: runId }) };
}

export function decidedBatch(
  { plan }: Pick<ApprovalEventsParts, "plan">,
  { environmentId, id, run }: Approval,
  { decision, by, comment, data }: MadeDecision,
  { eventId, now }: { eventId: NewEvent["id"]; now: number },
): EventBatch {
  const first = JSON.stringify({ id, decision, by, comment });
  const text = `${first.slice(0, -1)},"data":${data},"runId":${JSON.stringify(run?.id ?? null)}}`;
  const about = run && { sourceRun: run.id };
  const event: NewEvent = { id: eventId, name: APPROVAL_DECIDED, ts: now, dedupId: null, data: text, extras: null, ...about };
  return internalBatch(environmentId, now, [plan(environmentId, event, now)]);
}
