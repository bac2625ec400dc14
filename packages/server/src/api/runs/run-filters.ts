/** The filters of runs: in the list, and in jobs. */

import type { EventId, FunctionNo, JobId, RunId } from "@inlet/protocol";
import { type Environment, RUN_STATUSES, type RunListParams, type RunStatus } from "../../store/contract/index.ts";
import { readInstant } from "../instant.ts";
import { RUN_IDS, RUN_IDS_MAX } from "../text-patterns.ts";
import { readWhere, WHERE } from "../where.ts";

export interface RunFilterQuery {
  status?: RunStatus;
  function?: string;
  from?: string;
  to?: string;
  event?: string;
  job?: string;
  run?: string;
  error?: string;
  errorPattern?: string;
  rerun?: boolean;
  where?: string;
}

export const RUN_FILTERS = {
  status: { type: "string", enum: RUN_STATUSES, description: "Runs with this status." },
  function: { type: "string", minLength: 1, description: "Runs of the function with this id." },
  from: { type: "string", description: "Created at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Created before: ISO 8601 or milliseconds." },
  event: { type: "string", minLength: 1, description: "Runs that the event with this id started." },
  job: { type: "string", minLength: 1, description: "Runs that the job with this id started." },
  run: {
    type: "string",
    pattern: RUN_IDS,
    description: `The runs with these ids, separated by commas; at most ${RUN_IDS_MAX}.`,
  },
  error: { type: "string", minLength: 1, description: "Text in the name or message of the run's error; ignores case." },
  errorPattern: {
    type: "string",
    minLength: 1,
    description: "Failed runs whose error has this pattern: `error.pattern` of a group in `GET /v1/failures`.",
  },
  rerun: {
    type: "boolean",
    description: "`false`: runs that were not rerun; with `status=failed`, those that still need a repair. `true`: runs that were rerun.",
  },
  where: { ...WHERE, description: `${WHERE.description} The payload is that of the event that started the run.` },
} as const;

export function runFilter(
  runs: { functionNos(environment: Environment, functionId: string): readonly FunctionNo[] },
  environment: Environment,
  query: RunFilterQuery,
): Omit<RunListParams, "environmentId" | "limit" | "after"> {
  return {
    ...(query.status !== undefined && { status: query.status }),
    ...(query.function !== undefined && { functionNos: runs.functionNos(environment, query.function) }),
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.event !== undefined && { eventId: query.event.toUpperCase() as EventId }),
    ...(query.error !== undefined && { errorText: query.error }),
    ...(query.errorPattern !== undefined && { errorPattern: query.errorPattern }),
    ...(query.rerun !== undefined && { rerun: query.rerun }),
    ...(query.where !== undefined && { where: readWhere(query.where) }),
    ...(query.job !== undefined && { jobId: query.job.toUpperCase() as JobId }),
    ...(query.run !== undefined && { ids: query.run.toUpperCase().split(",") as RunId[] }),
  };
}
