/** The flags of `inlet runs …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { PAGE_FLAGS, TIME_FLAGS } from "../command-line/list-flags.ts";
import { START_JOB_FLAGS } from "../jobs/jobs-flags.ts";

const STATUSES = ["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled"] as const;

export const LIST_FLAGS = {
  status: { type: "string", choices: STATUSES, sentence: "Only runs with this status." },
  function: { type: "string", placeholder: "function id", sentence: "Only runs of this function." },
  where: { type: "string", placeholder: "expression", sentence: "Only runs whose event matches, such as 'data.amount > 100'." },
  error: { type: "string", placeholder: "text", sentence: "Only runs with this text in their error." },
  job: { type: "string", placeholder: "job id", sentence: "Only runs that this job started." },
  ...TIME_FLAGS,
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

/** Runs to rerun or cancel as a job. */
export const BULK_FLAGS = {
  where: { type: "string", placeholder: "expression", sentence: "All runs whose event matches, such as 'data.amount > 100'." },
  status: { type: "string", choices: STATUSES, sentence: "All runs with this status." },
  function: { type: "string", placeholder: "function id", sentence: "All runs of this function." },
  error: { type: "string", placeholder: "text", sentence: "All runs with this text in their error." },
  ...TIME_FLAGS,
  ...START_JOB_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const RERUN_FLAGS = {
  "from-step": { type: "string", placeholder: "step id", sentence: "With a run: rerun from this step and keep earlier results." },
  ...BULK_FLAGS,
} as const satisfies Flags;

export const HOLDS_FLAGS = {
  function: { type: "string", placeholder: "function id", sentence: "Only keys of this function." },
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const WATCH_FLAGS = {
  function: { type: "string", placeholder: "function id", sentence: "Without a run: only runs of this function." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
