/** A step as requested by the function's code, and the operation that describes it to the service. */

import type { ServiceOperation, StepOperation } from "../wire/step-operations.ts";

/** What the code requests. */
export interface StepRequest {
  /** As written in the function. */
  id: string;
  op: "StepRun" | ServiceOperation;
  /** The name in the operation, if it is not the id. */
  name?: string;
  opts?: Record<string, unknown>;
  /** For StepRun: the code to run, with the input as given or as edited for a rerun. */
  run?: (step: { hash: string }, input: unknown[]) => unknown;
  input?: unknown[];
  /** Converts a stored result to the value that the code receives. */
  revive?: (data: unknown) => unknown;
}

/** What the code receives for a step, and how it is settled. */
export interface StepPromise {
  promise: Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export interface FoundStep extends StepRequest, StepPromise {
  hash: string;
  /** 0 for the first use of the id. */
  index: number;
}

type Described = Pick<StepOperation, "id" | "name" | "displayName" | "userland">;

export function describe(step: FoundStep): Described {
  return { id: step.hash, name: step.name ?? step.id, displayName: step.id, userland: { id: step.id, index: step.index } };
}

/** The operation of a step that the service handles: wait, sleep, invoke, or call again to run it. */
export function plannedOperation(step: FoundStep): StepOperation {
  const input = step.op === "StepRun" && step.input?.length ? { input: step.input } : {};
  return { op: step.op === "StepRun" ? "StepPlanned" : step.op, ...describe(step), opts: { ...step.opts, ...input } };
}
