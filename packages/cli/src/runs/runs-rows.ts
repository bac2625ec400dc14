/** `inlet runs …`. */

import { type CommandRow, command, USUAL_EXITS } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { BULK_FLAGS, HOLDS_FLAGS, LIST_FLAGS, RERUN_FLAGS, WATCH_FLAGS } from "./runs-flags.ts";

const oneOrMany = { operands: "[run id]", namesMax: 1 } as const;
const MANY =
  "Without an id, filters select the runs. Their number is shown before anything is done, and a job processes them in the background.";
const one = { operands: "<run id>", namesMin: 1, namesMax: 1 } as const;

export const RUNS_ROWS: readonly CommandRow[] = [
  command({
    words: ["runs", "list"],
    sentence: "Lists runs, newest first.",
    examples: [
      ["inlet runs list --status failed --from 1d", "runs that failed in the last day"],
      ["inlet runs list --function shop-ship --json", "runs of one function, for a script"],
    ],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).listRuns(call),
  }),
  command({
    words: ["runs", "get"],
    ...one,
    sentence: "Shows a run: steps, calls to the app, output or error.",
    examples: [["inlet runs get 01JCQ7V8Z0ABCDEFGHJKMNPQRS", 'by the id that "inlet runs list" shows']],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).getRun(call),
  }),
  command({
    words: ["runs", "cancel"],
    ...oneOrMany,
    sentence: "Cancels an unfinished run, or all that match.",
    more: MANY,
    examples: [
      ["inlet runs cancel 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "runs no further steps"],
      ["inlet runs cancel --function shop-ship --status sleeping", "all sleeping runs, after confirmation"],
    ],
    flags: BULK_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).cancelRun(call),
  }),
  command({
    words: ["runs", "rerun"],
    ...oneOrMany,
    sentence: "Reruns a run, or all that match: starts a new run with the same event.",
    more: MANY,
    examples: [
      ["inlet runs rerun 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "prints the id of the new run"],
      ["inlet runs rerun --status failed --error 'card declined' --from 2h --yes", "all with this error in the last two hours"],
      ["inlet runs rerun --status failed --where 'data.amount > 100'", "by the data of their events"],
    ],
    flags: RERUN_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).rerunRun(call),
  }),
  command({
    words: ["runs", "holds"],
    sentence: "Lists ordering keys on hold: a run failed, and later runs of the same key wait.",
    examples: [["inlet runs holds --function shop-bill", "keys of one function"]],
    flags: HOLDS_FLAGS,
    run: async (call) => (await import("./holds-commands.ts")).listHolds(call),
  }),
  command({
    words: ["runs", "release"],
    ...one,
    operands: "<run id|hold id>",
    sentence: "Releases the ordering key that a failed run blocks, without rerunning it.",
    examples: [
      ["inlet runs release 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "by the id of the failed run"],
      ["inlet runs release 4711", 'by the id that "inlet runs holds" shows, also after the run has been removed'],
    ],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./holds-commands.ts")).releaseRun(call),
  }),
  command({
    words: ["runs", "watch"],
    operands: "[run id]",
    sentence: "Prints the steps of a run until it ends. Without an id, prints every change of all runs, until Ctrl-C.",
    more: `With --json, each change is one line (NDJSON). If a run changes often, intermediate states can be skipped, but never the last one. After a
disconnect, runs that changed in the meantime are printed first. With an id, waits up to a minute for a service that restarts or is overloaded.`,
    namesMax: 1,
    examples: [
      ["inlet runs watch 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "waits until the run ends; the exit code is its result"],
      ["inlet runs watch --function shop-ship", "all runs of one function"],
    ],
    exits: [
      [0, "the run completed, or Ctrl-C"],
      [1, "the run failed or was cancelled, or the service refused the request"],
      ...USUAL_EXITS.slice(2),
    ],
    flags: WATCH_FLAGS,
    run: async (call) => (await import("./watch-runs.ts")).watchRuns(call),
  }),
];
