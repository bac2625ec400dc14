/** `inlet jobs …`. */

import { type CommandRow, command, USUAL_EXITS } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { JOB_LIST_FLAGS } from "./jobs-flags.ts";

const one = { operands: "<job id>", namesMin: 1, namesMax: 1, flags: CONNECTION_FLAGS } as const;
const ID = "01JCQ7V8Z0ABCDEFGHJKMNPQRS";

export const JOBS_ROWS: readonly CommandRow[] = [
  command({
    words: ["jobs", "list"],
    sentence: "Lists jobs, newest first.",
    examples: [["inlet jobs list --status running", "jobs in progress"]],
    flags: JOB_LIST_FLAGS,
    run: async (call) => (await import("./jobs-commands.ts")).listJobs(call),
  }),
  command({
    words: ["jobs", "get"],
    ...one,
    sentence: "Shows a job: progress and first errors.",
    examples: [[`inlet jobs get ${ID}`, 'by the id that "inlet jobs list" shows']],
    run: async (call) => (await import("./jobs-commands.ts")).getJob(call),
  }),
  command({
    words: ["jobs", "watch"],
    ...one,
    sentence: "Shows the progress of a job until it ends.",
    examples: [[`inlet jobs watch ${ID}`, "the exit code is its result"]],
    exits: [
      [0, "the job completed, or Ctrl-C"],
      [1, "the job failed or was cancelled, or the service refused the request"],
      ...USUAL_EXITS.slice(2),
    ],
    run: async (call) => (await import("./watch-job.ts")).watchJob(call),
  }),
  command({
    words: ["jobs", "cancel"],
    ...one,
    sentence: "Cancels a job. Completed items are not undone.",
    examples: [[`inlet jobs cancel ${ID}`, "processes no further items"]],
    run: async (call) => (await import("./jobs-commands.ts")).cancelJob(call),
  }),
];
