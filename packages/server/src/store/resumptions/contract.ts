/**
 * What is left of matching events with waits.
 *
 * An event that many runs wait for, and a wait that many events precede, are matched only in part, or not at all, by the transaction that
 * stores them. It records the rest, and further transactions continue with it: each is bounded, so others get through between them, and
 * what a killed process leaves is continued by the next one.
 */

import type { EnvironmentId, StepId } from "@inlet/protocol";
import type { RunKey } from "../runs/contract/runs.ts";

/** An event that more waits may match ends none of them in its own transaction. */
export const WAITS_PER_EVENT_MAX = 100;
/** The most waits that the events of one transaction examine. */
export const WAITS_PER_TRANSACTION_MAX = 1_000;
/** The most waits that one further transaction examines. */
export const WAITS_PER_PART_MAX = 200;
/** The most waits that look back together. */
export const LOOKING_BACK_MAX = 500;
/** The most events that are examined together; their size is bounded as well. */
export const LOOK_BACK_EVENTS_MAX = 500;

export interface ResumptionKey {
  environmentId: EnvironmentId;
  eventName: string;
}

export interface ResumptionPart {
  /** False: another node is at it. */
  isOurs: boolean;
  /** How many waits were examined. */
  waits: number;
  isDone: boolean;
}

export interface ResumptionStore {
  /** Event names with unfinished work. */
  resumptionList(params: { limit: number }): Promise<ResumptionKey[]>;
  /** Continues with the oldest work of an event name, in one bounded transaction. Entries of runs that are resumed become due. */
  resumptionContinue(params: ResumptionKey & { now: number }): Promise<ResumptionPart>;
  /** Whether events received before the end of the step's wait have yet to be matched with it: it must not time out before they are. */
  waitIsPending(params: RunKey & { stepId: StepId }): Promise<boolean>;
  /** Calls `listener` when a transaction of this node left work. Returns a function that stops it. */
  resumptionWatch(listener: () => void): () => void;
}
