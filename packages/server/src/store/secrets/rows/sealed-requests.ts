/**
 * Requests of open steps (`step.fetch`, `step.ai.infer`) in their rows: the part that may be shown is stored in plain text; the whole
 * request, with the credentials in its headers, is encrypted. When the step or its run ends, the encrypted part is removed.
 */

import { type GatewayRequest, type RunNo, type StepId, shownRequest } from "@inlet/protocol";
import type { RunChange, RunState, StepKind, StepRequest, StepWrite } from "../../contract/index.ts";
import type { SecretBox } from "./secret-box.ts";

export interface RequestRow {
  kind: StepKind;
  detail: string;
}

/** The prefix of a detail with an encrypted request. */
const SEALED = '{"sealed":';
const REQUEST_KINDS: ReadonlySet<StepKind> = new Set(["fetch", "infer"]);

/** The same decision, with its requests encrypted. */
export function sealingRequests(box: SecretBox, decide: (state: RunState) => RunChange): (state: RunState) => RunChange {
  return (state) => {
    const change = decide(state);
    if (!change.steps?.some(isUnsealed)) return change;
    return { ...change, steps: change.steps.map((step) => (isUnsealed(step) ? sealed(box, state.run.no, step) : step)) };
  };
}

/** A request that waits for its next attempt is already encrypted. */
function isUnsealed(step: StepWrite): step is StepWrite & { detail: string } {
  return REQUEST_KINDS.has(step.kind) && step.endedAt === null && step.detail !== null && !step.detail.startsWith(SEALED);
}

function sealed(box: SecretBox, runNo: RunNo, step: StepWrite & { detail: string }): StepWrite {
  const text = box.seal(step.detail, ownerOf(runNo, step.id));
  return { ...step, detail: JSON.stringify({ sealed: text, ...shownRequest(step.detail) }) };
}

/** Null if the run has ended: the request was removed with it, while a call of the step may still have its entry. */
export function toStepRequest(box: SecretBox, { runNo, stepId }: { runNo: RunNo; stepId: StepId }, row: RequestRow): StepRequest | null {
  if (!row.detail.startsWith(SEALED)) return null;
  const text = box.open(sealedIn(row.detail), ownerOf(runNo, stepId));
  if (text === null) throw new Error(`the request of the step ${stepId} is encrypted with a key that is not here`);
  return { kind: row.kind, request: JSON.parse(text) as GatewayRequest };
}

/** The detail encrypted with the first key; null if it already is, or cannot be decrypted. */
export function resealedDetail(box: SecretBox, { runNo, stepId }: { runNo: RunNo; stepId: StepId }, detail: string): string | null {
  if (!detail.startsWith(SEALED) || box.isCurrent(sealedIn(detail))) return null;
  const text = box.open(sealedIn(detail), ownerOf(runNo, stepId));
  return text === null ? null : JSON.stringify({ ...JSON.parse(detail), sealed: box.seal(text, ownerOf(runNo, stepId)) });
}

function sealedIn(detail: string): string {
  return (JSON.parse(detail) as { sealed: string }).sealed;
}

function ownerOf(runNo: RunNo, stepId: StepId): string {
  return `steps/${runNo}/${stepId}`;
}
