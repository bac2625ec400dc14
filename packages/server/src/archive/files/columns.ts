/**
 * The columns of archived tables: how they are written, and what the reference page says. Rows are those of the store, with names instead of
 * interned ids. JSON is kept as text, so that numbers and the order of keys stay as they were written.
 */

import type { ArchivedTable } from "../../store/contract/index.ts";

export type ColumnType = "text" | "json" | "integer" | "time" | "flag";

export interface Column {
  name: string;
  type: ColumnType;
  /** Absent: never null. */
  nullable?: true;
  sentence: string;
}

const ENVIRONMENT: Column = { name: "environment", type: "text", sentence: "The name of the environment." };

export const COLUMNS: Readonly<Record<ArchivedTable, readonly Column[]>> = {
  events: [
    ENVIRONMENT,
    { name: "sequence", type: "integer", sentence: "The number of the event, in the order in which events were stored." },
    { name: "event_id", type: "text", sentence: "The ULID that the service assigned." },
    { name: "name", type: "text", sentence: "The name of the event." },
    { name: "ts", type: "integer", sentence: "Milliseconds: the sender's time, or the time of receipt if the sender set none." },
    { name: "received_at", type: "time", sentence: "When it was received. Rows are in this order, then by `sequence`." },
    { name: "dedup_id", type: "text", nullable: true, sentence: "The sender's id, used for deduplication." },
    { name: "source_kind", type: "text", sentence: "What it came from: `key`, `webhook`, `function`, `internal`." },
    { name: "source_id", type: "text", sentence: "The id of that key, webhook or function." },
    { name: "source_run_id", type: "text", nullable: true, sentence: "The run that sent it, or whose step or end caused it." },
    { name: "duplicates", type: "integer", sentence: "How many later events were ignored as duplicates of this one." },
    { name: "matched", type: "flag", sentence: "Whether it started a function or resumed a run." },
    { name: "trace", type: "text", nullable: true, sentence: "The sender's `traceparent`." },
    { name: "extras", type: "json", nullable: true, sentence: "All other fields that the sender set, as an object." },
    { name: "schema_errors", type: "json", nullable: true, sentence: "How it violates the schema declared for its name." },
    { name: "data", type: "json", sentence: "The payload, as it was sent." },
  ],
  runs: [
    ENVIRONMENT,
    { name: "run_no", type: "integer", sentence: "The number of the run. Rows are in this order. `steps` refer to it." },
    { name: "run_id", type: "text", sentence: "The id of the run." },
    { name: "function_id", type: "text", sentence: "The id of the function." },
    { name: "status", type: "text", sentence: "How it ended: `completed`, `failed`, `cancelled`." },
    { name: "event_sequence", type: "integer", sentence: "`sequence` of the event that started it." },
    { name: "event_sequences", type: "json", nullable: true, sentence: "A JSON array of them, if a batch started it." },
    { name: "created_at", type: "time", sentence: "When it was created." },
    { name: "started_at", type: "time", nullable: true, sentence: "When its function was first called." },
    { name: "ended_at", type: "time", sentence: "When it ended." },
    { name: "cron", type: "text", nullable: true, sentence: "The schedule that started it." },
    { name: "original_run_id", type: "text", nullable: true, sentence: "The run that it repeats." },
    { name: "job_id", type: "text", nullable: true, sentence: "The job that started it." },
    { name: "invoker_run_no", type: "integer", nullable: true, sentence: "The run that invoked it." },
    { name: "order_key", type: "text", nullable: true, sentence: "The key whose runs are run in order." },
    { name: "cancel_event_id", type: "text", nullable: true, sentence: "The event that cancelled it." },
    { name: "output", type: "json", nullable: true, sentence: "What the function returned." },
    { name: "error", type: "json", nullable: true, sentence: "Why it failed." },
  ],
  steps: [
    ENVIRONMENT,
    { name: "run_no", type: "integer", sentence: "The run. Rows are in this order, then by `step_id`." },
    { name: "run_id", type: "text", sentence: "The id of the run." },
    { name: "step_id", type: "text", sentence: "The id of the step within its run." },
    { name: "kind", type: "text", sentence: "The operation, such as `run`, `sleep`, `wait`, `invoke`." },
    { name: "name", type: "text", sentence: "The name in the code." },
    { name: "status", type: "text", sentence: "How it ended." },
    { name: "position", type: "integer", sentence: "The order in which steps began." },
    { name: "started_at", type: "time", sentence: "When it began." },
    { name: "ended_at", type: "time", nullable: true, sentence: "When it ended." },
    { name: "attempts", type: "integer", sentence: "How often it was tried." },
    {
      name: "event_id",
      type: "text",
      nullable: true,
      sentence: "The event that ended a wait, or with which another function was invoked.",
    },
    { name: "value", type: "json", nullable: true, sentence: "Its result, as the SDK received it." },
  ],
};
