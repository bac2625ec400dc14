/** `inlet runs …`. */

import { type CommandRow, command, USUAL_EXITS } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { LIST_FLAGS, WATCH_FLAGS } from "./runs-flags.ts";

const one = { operands: "<run id>", namesMin: 1, namesMax: 1 } as const;

export const RUNS_ROWS: readonly CommandRow[] = [
  command({
    words: ["runs", "list"],
    sentence: "Lists runs, newest first.",
    examples: [
      ["inlet runs list --status failed --from 1d", "what failed since yesterday"],
      ["inlet runs list --function shop-ship --json", "runs of one function, for a script"],
    ],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).listRuns(call),
  }),
  command({
    words: ["runs", "get"],
    ...one,
    sentence: "Shows one run: its steps, every call of its app, its output or error.",
    examples: [["inlet runs get 01JCQ7V8Z0ABCDEFGHJKMNPQRS", 'by the id that "inlet runs list" shows']],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).getRun(call),
  }),
  command({
    words: ["runs", "cancel"],
    ...one,
    sentence: "Cancels a run that has not ended.",
    examples: [["inlet runs cancel 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "no further step of it is run"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).cancelRun(call),
  }),
  command({
    words: ["runs", "rerun"],
    ...one,
    sentence: "Runs the function again with the same event, as a new run.",
    examples: [["inlet runs rerun 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "prints the new run"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./runs-commands.ts")).rerunRun(call),
  }),
  command({
    words: ["runs", "watch"],
    operands: "[run id]",
    sentence: "Shows a run's steps as they happen, until it has ended; without an id, every change of every run, until Ctrl-C.",
    more: `With --json each change is one line (NDJSON). Of a run that changes often, not every state is shown, but always the last one. After a
disconnect or a restart of the service it goes on by itself, and tells first what became of runs meanwhile.`,
    namesMax: 1,
    examples: [
      ["inlet runs watch 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "waits for its end; the exit code tells how it ended"],
      ["inlet runs watch --function shop-ship", "all runs of one function"],
    ],
    exits: [[0, "the run completed, or Ctrl-C"], [1, "the run failed or was cancelled, or the service refused"], ...USUAL_EXITS.slice(2)],
    flags: WATCH_FLAGS,
    run: async (call) => (await import("./watch-runs.ts")).watchRuns(call),
  }),
];
