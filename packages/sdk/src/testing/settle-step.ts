/** The outcome of one step of a test run: from its mock, by running it, or by letting time pass. */

import type { RunContext } from "../client/run-context.ts";
import { durationMs } from "../duration.ts";
import { runCall } from "../execution/run-call.ts";
import type { InletFunction } from "../functions/inlet-function.ts";
import type { CallBody } from "../wire/call-body.ts";
import type { StepOperation } from "../wire/step-operations.ts";
import { fromWireError, toWireError, type WireError } from "../wire/wire-error.ts";

/** A value, or a function of the step's input, for all steps with an id; or `inOrder` with one for each of them. */
export type StepMock = unknown | ((...input: never[]) => unknown);

class MocksInOrder {
  readonly mocks: readonly StepMock[];
  constructor(mocks: readonly StepMock[]) {
    this.mocks = mocks;
  }
}

/** Mocks for the steps of a loop that have the same id, in the order in which the function comes to them. Further ones have no mock. */
export function inOrder(...mocks: StepMock[]): StepMock {
  return new MocksInOrder(mocks);
}

/** Undefined if the step has no mock. */
function mockOf({ displayName, userland }: StepOperation, mocks: Settling["mocks"]): { mock: StepMock } | undefined {
  if (!Object.hasOwn(mocks, displayName)) return undefined;
  const mock = mocks[displayName];
  if (!(mock instanceof MocksInOrder)) return { mock };
  const index = userland.index;
  return index < mock.mocks.length ? { mock: mock.mocks[index] } : undefined;
}

export type StepKind =
  | "run"
  | "sendEvent"
  | "sleep"
  | "waitForEvent"
  | "waitForSignal"
  | "waitForApproval"
  | "sendSignal"
  | "fetch"
  | "ai.infer"
  | "ai.wrap"
  | "invoke"
  | "realtime.publish";

export interface RanStep {
  id: string;
  kind: StepKind;
  /** Whether a mock was used. */
  mocked: boolean;
  data?: unknown;
  error?: Error;
}

export interface SettledStep {
  /** As the service would store it. */
  memo: unknown;
  ran: RanStep;
}

interface Settling {
  mocks: Readonly<Record<string, StepMock>>;
  retries: number;
  capture: RunContext["capture"];
}

const WAITS: ReadonlySet<StepOperation["op"]> = new Set(["WaitForEvent", "WaitForSignal", "WaitForApproval"]);

/** When time alone ends this step, if it begins at `nowMs`; undefined if it does not. */
export function dueMs(operation: StepOperation, mocks: Settling["mocks"], nowMs: number): number | undefined {
  const { op, name, opts } = operation;
  if (op === "Sleep") return Number.isNaN(Date.parse(name)) ? nowMs + durationMs(name) : Date.parse(name);
  return WAITS.has(op) && mockOf(operation, mocks)?.mock === null ? nowMs + durationMs(String(opts?.timeout)) : undefined;
}

export async function settleStep(fn: InletFunction, body: CallBody, operation: StepOperation, settling: Settling): Promise<SettledStep> {
  const kind = kindOf(operation);
  const { displayName: id } = operation;
  if (kind === "sleep") return { memo: null, ran: { id, kind, mocked: false } };
  const mocked = mockOf(operation, settling.mocks);
  if (mocked) return settleByMock(operation, kind, mocked.mock);
  const example = EXAMPLES[kind];
  if (example === undefined) return settleByRunning(fn, body, operation, kind, settling);
  throw new Error(`Step "${id}" (${kind}) needs a mock: steps: { "${id}": … } with ${example}`);
}

/** Describes the mock that a step needs, if it cannot run without the service. */
const EXAMPLES: Readonly<Partial<Record<StepKind, string>>> = {
  invoke: "what the function returns",
  waitForEvent: "an event, or null for none in time",
  waitForSignal: "{ signal, data }, or null for none in time",
  waitForApproval: "{ decision, by, comment, data }, or null for none in time",
  fetch: "{ status, headers, body }",
  "ai.infer": "what the provider answers",
};

async function settleByMock(operation: StepOperation, kind: RanStep["kind"], mock: StepMock): Promise<SettledStep> {
  const ran: RanStep = { id: operation.displayName, kind, mocked: true };
  try {
    const data = (typeof mock === "function" ? await (mock as (...input: unknown[]) => unknown)(...inputOf(operation)) : mock) ?? null;
    return { memo: memoOf(kind, data), ran: { ...ran, data } };
  } catch (thrown) {
    return failed(ran, toWireError(thrown));
  }
}

/** As the service would store it. */
function memoOf(kind: StepKind, data: unknown): unknown {
  if (kind === "waitForEvent" || data === null) return data;
  if (kind !== "fetch") return { data };
  const { status = 200, headers = {}, body = "" } = data as { status?: number; headers?: Record<string, string>; body?: unknown };
  return { data: { status_code: status, headers, body: typeof body === "string" ? body : JSON.stringify(body) } };
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
      throw new Error(`Step "${ran.id}" was planned, but the function did not reach it again: is its code deterministic?`);
    const result = JSON.parse(outcome.step.text) as { data?: unknown; error?: WireError };
    if (!result.error) return { memo: { data: result.data }, ran: { ...ran, data: result.data } };
    if (outcome.step.retry?.isFinal || attempt >= retries) return failed(ran, result.error);
  }
}

function failed(ran: RanStep, error: WireError): SettledStep {
  return { memo: { error }, ran: { ...ran, error: fromWireError(error) } };
}

const KINDS: Readonly<Partial<Record<StepOperation["op"], StepKind>>> = {
  Sleep: "sleep",
  WaitForEvent: "waitForEvent",
  WaitForSignal: "waitForSignal",
  WaitForApproval: "waitForApproval",
  InvokeFunction: "invoke",
  Gateway: "fetch",
  AIGateway: "ai.infer",
};
const RUN_KINDS: Readonly<Record<string, StepKind>> = {
  "step.sendEvent": "sendEvent",
  "step.sendSignal": "sendSignal",
  "step.ai.wrap": "ai.wrap",
  "step.realtime.publish": "realtime.publish",
};

function kindOf({ op, opts }: StepOperation): StepKind {
  return KINDS[op] ?? RUN_KINDS[String(opts?.type)] ?? "run";
}

/**
 * The argument of a mock: the arguments of a run, the data of an invocation, the name of a wait, the prompt and data
 * of an approval, a request.
 */
function inputOf({ op, name, opts }: StepOperation): unknown[] {
  if (op === "InvokeFunction") return [(opts?.payload as { data?: unknown } | undefined)?.data];
  if (op === "WaitForEvent" || op === "WaitForSignal") return [name];
  if (op === "WaitForApproval") return [{ prompt: opts?.prompt, data: opts?.data }];
  if (op === "Gateway" || op === "AIGateway") return [opts];
  return (opts?.input as unknown[] | undefined) ?? [];
}
