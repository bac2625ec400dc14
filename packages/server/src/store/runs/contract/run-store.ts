/** What a store does with runs. */

import type { EnvironmentId, EventId, FunctionNo, JobId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { ClaimedEntry } from "../../queue/contract.ts";
import type { LateCall, RunAdvanceParams, RunAdvanceResult, RunContext, RunEnd, RunKey, RunRecord, RunStartParams } from "./runs.ts";
import type {
  EventRunCounts,
  FailureGroup,
  FailureListParams,
  RunCounts,
  RunDetails,
  RunEndCount,
  RunEndCountParams,
  RunListParams,
  RunSummary,
  RunTiming,
  RunTimingsParams,
} from "./shown-runs.ts";
import type { StepRequest } from "./steps.ts";

export interface RunStore {
  /** Starts a run for an event that is already stored. `isStarted` is false, without effect, if the event has been removed. */
  runStart(params: RunStartParams): Promise<{ isStarted: boolean; leased: ClaimedEntry[] }>;
  runAdvance(params: RunAdvanceParams): Promise<RunAdvanceResult>;
  /** Stores a call for which runAdvance reported that nothing was changed. A call that is already stored is not stored again. */
  runNoteCall(params: LateCall): Promise<void>;
  /** Null if the run has ended. */
  runContext(params: RunKey): Promise<RunContext | null>;
  /** Null if the step is not a request that the service makes, or if the step or its run has ended. */
  stepRequest(params: RunKey & { stepId: StepId }): Promise<StepRequest | null>;
  /** How a run ended; null if it has not, or no longer exists. */
  runEnd(params: RunKey): Promise<RunEnd | null>;
  /** The run with this id; without `environmentId` in any environment: ids are unique, and SDKs name none. */
  runFind(params: { id: RunId; environmentId?: EnvironmentId }): Promise<RunRecord | null>;
  runGet(params: { environmentId: EnvironmentId; id: RunId }): Promise<RunDetails | null>;
  /** The runs that exist, in no particular order. */
  runSummaries(params: { environmentId: EnvironmentId; runNos: readonly RunNo[] }): Promise<RunSummary[]>;
  /** Calls `listener` soon after any node created or changed runs. Returns a function that stops it. */
  runWatch(listener: (runNos: readonly RunNo[]) => void): () => void;
  /** Most frequent first. */
  runFailures(params: FailureListParams): Promise<FailureGroup[]>;
  /** Newest first. With `errorText`, `errorPattern`, `rerun` or `where`, a page may stop early with few or no runs and a cursor to continue from. */
  runList(params: RunListParams): Promise<{ runs: RunSummary[]; next: RunId | null }>;
  /** When runs of functions were created, started and ended: the newest `limit` of them, in no particular order. */
  runTimings(params: RunTimingsParams): Promise<RunTiming[]>;
  /** How many runs of a function ended with a status: of those with that status, the `limit` created last are looked at. */
  runEndCount(params: RunEndCountParams): Promise<RunEndCount>;
  /** How many unfinished steps wait for an event of this name, by function. At most `limit` waits are counted. */
  waitCountByFunction(params: {
    environmentId: EnvironmentId;
    eventName: string;
    limit: number;
  }): Promise<{ functionNo: FunctionNo; waits: number }[]>;
  /** How many runs a job started, by status. */
  runCountByJob(params: { environmentId: EnvironmentId; jobId: JobId }): Promise<RunCounts>;
  /** How many runs each event started, alone or in a batch, by status. Events without runs are left out. */
  runCountByEvent(params: { environmentId: EnvironmentId; eventIds: readonly EventId[] }): Promise<EventRunCounts[]>;
}
