/** `inlet plan`, `inlet apply`, `inlet export`: an installation as files. They exit with 2 if the two sides differ, so invalid flags exit with 1. */

import { EXIT } from "../command-line/command-result.ts";
import { type CommandRow, command } from "../command-line/command-row.ts";
import { APPLY_FLAGS, EXPORT_FLAGS, PLAN_FLAGS } from "./files-flags.ts";

export const FILES_ROWS: readonly CommandRow[] = [
  command({
    words: ["plan"],
    sentence: "Shows what apply would change, without changing anything.",
    more: "The folder describes environments with their quotas, retention and limits, event types, alert rules, limits of functions,\nwhat API keys allow, and webhooks. Shows each object to create or change, field by field, and with --prune those to delete.",
    examples: [
      ["inlet plan", "the folder inlet/, against http://localhost:8288"],
      ["inlet plan --env payments", "only the objects of one environment"],
      ["INLET_API_KEY=… inlet plan --prune --url https://inlet.example.com", "in CI; see the exit code"],
    ],
    exits: [
      [0, "no changes"],
      [1, "an error occurred"],
      [2, "changes pending"],
    ],
    usageExit: EXIT.failed,
    flags: PLAN_FLAGS,
    run: async (call) => (await import("./commands/plan.ts")).plan(call),
  }),
  command({
    words: ["apply"],
    sentence: "Applies the folder to the server.",
    more: "Applies one object after the other; a second apply changes nothing. Runs the fixtures of webhooks first and sends nothing if one fails.\nNew API keys, and the keys of new environments, are shown only once: --keys-to names the file that they are written to.",
    examples: [
      ["inlet apply", "the folder inlet/, to http://localhost:8288"],
      ["inlet apply --keys-to new-keys.json", "if it creates environments or API keys"],
      ["INLET_API_KEY=… inlet apply --prune --url https://inlet.example.com", "in CI, where the folder is authoritative"],
    ],
    exits: [
      [0, "the server matches the folder"],
      [1, "an error occurred; changes applied before it are printed"],
    ],
    usageExit: EXIT.failed,
    flags: APPLY_FLAGS,
    run: async (call) => (await import("./commands/apply.ts")).apply(call),
  }),
  command({
    words: ["export"],
    sentence: "Writes what exists on the server into the folder.",
    more: "A plan of the folder then shows no changes. Writes what the API key may see, never secrets. Files that differ are overwritten only with --force.",
    examples: [
      ["inlet export", "everything, into inlet/"],
      ["inlet export --env payments --dir payments", "one environment, for its team"],
      ["inlet export --schema-only", "only inlet.schema.json, for the editor"],
    ],
    exits: [
      [0, "the folder matches the server"],
      [1, "an error occurred"],
      [2, "local files differ and were not overwritten"],
    ],
    usageExit: EXIT.failed,
    flags: EXPORT_FLAGS,
    run: async (call) => (await import("./commands/export.ts")).exportFiles(call),
  }),
];
