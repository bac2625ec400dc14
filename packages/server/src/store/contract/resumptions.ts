/**
 * What is left of matching events with waits.
 *
 * An event that many runs wait for, and a wait that many events precede, are matched only in part, or not at all, by the transaction that
 * stores them. It records the rest, and further transactions continue with it: each is bounded, so others get through between them, and
 * what a killed process leaves is continued by the next one.
 */

import type { EnvironmentId } from "@inlet/protocol";

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
  /** Calls `listener` when a transaction of this node left work. Returns a function that stops it. */
  resumptionWatch(listener: () => void): () => void;
}
