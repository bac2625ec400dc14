/** The operations of the read thread: reads of the store's contract, and three internal ones of the engine. */

import type { EnvironmentId } from "@inlet/protocol";
import type { Store } from "../contract/index.ts";
import type { CheckpointResult } from "./checkpointer.ts";

type ContractReads =
  | "eventList"
  | "eventCountUnmatched"
  | "eventFollow"
  | "eventGet"
  | "eventSequence"
  | "eventSequenceBefore"
  | "webhookRequestList"
  | "webhookRequestGet"
  | "webhookRequestWithBody"
  | "webhookRequestOutcomes"
  | "webhookRequestCounts"
  | "webhookRequestFollow"
  | "webhookRequestSequence"
  | "webhookRequestSequenceBefore"
  | "runList"
  | "runFailures"
  | "runSummaries"
  | "runCountByEvent"
  | "runCountByJob"
  | "runTimings"
  | "runEndCount"
  | "waitCountByFunction"
  | "runGet"
  | "queueCallOf"
  | "queueDepths"
  | "queueFunctionDepths"
  | "auditList"
  | "eventSample"
  | "eventTypeGet"
  | "eventTypeList"
  | "trafficList"
  | "usageList"
  | "retentionStoredBytes"
  | "retentionOldestRows"
  | "activityLast"
  | "activityList"
  | "approvalList"
  | "approvalCountOpen";

export interface ReadOperations extends Pick<Store, ContractReads> {
  eventTypeRange(params: { after: number; limit: number }): Promise<CountedRange>;
  checkpoint(): Promise<CheckpointResult>;
  /** Closes the connections of the store. */
  close(): Promise<void>;
}

/** The counted events of a range of sequence numbers. */
export interface CountedRange {
  counts: CountedEvents[];
  reached: number;
  isLast: boolean;
}

/** Events of one environment, name and source that were received in one minute. */
export interface CountedEvents {
  environment_id: EnvironmentId;
  name_id: number;
  /** They came from outside. */
  isAccepted: 0 | 1;
  count: number;
  /** When the first and the last of them were received. */
  first: number;
  last: number;
}

export type ReadParams<Name extends keyof ReadOperations> = Parameters<ReadOperations[Name]>[0];
export type ReadResult<Name extends keyof ReadOperations> = Awaited<ReturnType<ReadOperations[Name]>>;

/** The database file of a store. */
export interface ReadFile {
  /** Unique among all stores of the process, also those that had the same path. */
  store: number;
  path: string;
  /** Exports `compileWhere`. */
  whereModule: string | null;
}

export interface ReadRequest {
  file: ReadFile;
  call: number;
  operation: keyof ReadOperations;
  params: never;
}

export type ReadResponse = { store: number; call: number } & ({ result: unknown } | { error: unknown });
