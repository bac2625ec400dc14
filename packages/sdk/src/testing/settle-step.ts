/** What one step of a test run comes to: by its mock, by running it, or by letting time pass. */

import type { RunContext } from "../client/run-context.ts";
import { durationMs } from "../duration.ts";
import { runCall } from "../execution/run-call.ts";
import type { InletFunction } from "../functions/inlet-function.ts";
import type { CallBody } from "../wire/call-body.ts";
import type { StepOperation } from "../wire/step-operations.ts";
import { fromWireError, toWireError, type WireError } from "../wire/wire-error.ts";

/** A value, or a function of the step's input. */
export type StepMock = unknown | ((...input: never[]) => unknown);

export interface RanStep {
  id: string;
  kind: "run" | "sendEvent" | "sleep" | "waitForEvent" | "invoke";
  /** Whether a mock stood in for it. */
  mocked: boolean;
  data?: unknown;
  error?: Error;
}

export interface SettledStep {
  /** As the service would keep it. */
  memo: unknown;
  ran: RanStep;
}

interface Settling {
  mocks: Readonly<Record<string, StepMock>>;
  retries: number;
  capture: RunContext["capture"];
}

/** How long until time alone ends this step; undefined when it does not. */
export function timeLeftMs({ op, name, displayName, opts }: StepOperation, mocks: Settling["mocks"]): number | undefined {
  if (op === "Sleep") return Number.isNaN(Date.parse(name)) ? durationMs(name) : Date.parse(name) - Date.now();
  return op === "WaitForEvent" && mocks[displayName] === null ? durationMs(String(opts?.timeout)) : undefined;
}

export async function settleStep(fn: InletFunction, body: CallBody, operation: StepOperation, settling: Settling): Promise<SettledStep> {
  const kind = kindOf(operation);
  const { displayName: id } = operation;
  if (kind === "sleep") return { memo: null, ran: { id, kind, mocked: false } };
  if (Object.hasOwn(settling.mocks, id)) return settleByMock(operation, kind, settling.mocks[id]);
  if (kind === "run" || kind === "sendEvent") return settleByRunning(fn, body, operation, kind, settling);
  const example = kind === "invoke" ? "what the function returns" : "an event, or null for none in time";
  throw new Error(`Step "${id}" (${kind}) needs a mock: steps: { "${id}": … } with ${example}`);
}

async function settleByMock(operation: StepOperation, kind: RanStep["kind"], mock: StepMock): Promise<SettledStep> {
  const ran: RanStep = { id: operation.displayName, kind, mocked: true };
  try {
    const data = (typeof mock === "function" ? await (mock as (...input: unknown[]) => unknown)(...inputOf(operation)) : mock) ?? null;
    return { memo: kind === "waitForEvent" ? data : { data }, ran: { ...ran, data } };
  } catch (thrown) {
    return failed(ran, toWireError(thrown));
  }
}

async function settleByRunning(
  fn: InletFunction,
  body: CallBody,
  operation: StepOperation,
  kind: RanStep["kind"],
  { retries, capture }: Settling,
): Promise<SettledStep> {
  const ran: RanStep = { id: operation.displayName, kind, mocked: false };
  for (let attempt = 0; ; attempt++) {
    const outcome = await runCall(fn, { ...body, attempt }, { requestedStep: operation.id, capture });
    if (outcome.kind !== "ran")
      throw new Error(`Step "${ran.id}" was planned, but the function did not come to it again: is its code deterministic?`);
    const result = JSON.parse(outcome.step.text) as { data?: unknown; error?: WireError };
    if (!result.error) return { memo: { data: result.data }, ran: { ...ran, data: result.data } };
    if (outcome.step.retry?.isFinal || attempt >= retries) return failed(ran, result.error);
  }
}

function failed(ran: RanStep, error: WireError): SettledStep {
  return { memo: { error }, ran: { ...ran, error: fromWireError(error) } };
}

function kindOf({ op, opts }: StepOperation): RanStep["kind"] {
  if (op === "Sleep") return "sleep";
  if (op === "WaitForEvent") return "waitForEvent";
  if (op === "InvokeFunction") return "invoke";
  return opts?.type === "step.sendEvent" ? "sendEvent" : "run";
}

/** What a mock is called with: the arguments of a run, the data of an invocation, the event's name of a wait. */
function inputOf({ op, name, opts }: StepOperation): unknown[] {
  if (op === "InvokeFunction") return [(opts?.payload as { data?: unknown } | undefined)?.data];
  if (op === "WaitForEvent") return [name];
  return (opts?.input as unknown[] | undefined) ?? [];
}
