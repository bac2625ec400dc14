/** A step as requested by the function's code, and the operation that describes it to the service. */

import type { ServiceOperation, StepOperation } from "../wire/step-operations.ts";
import type { SettleableStep } from "./step-promise.ts";

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
  /** Checks the arguments of a step that is not completed, and throws or rejects with what is wrong. */
  check?: () => void | Promise<void>;
  /** Converts a stored result to the value that the code receives. */
  revive?: (data: unknown) => unknown;
}

export interface FoundStep extends StepRequest, SettleableStep {
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
