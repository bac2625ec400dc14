/** `inlet env …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { CREATE_FLAGS, PLAIN_FLAGS } from "./environments-flags.ts";

const name = { operands: "<name>", namesMin: 1, namesMax: 1 } as const;

export const ENVIRONMENTS_ROWS: readonly CommandRow[] = [
  command({
    words: ["env", "list"],
    sentence: "Lists environments, newest first.",
    examples: [["inlet env list", "archived ones too"]],
    flags: PLAIN_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).listEnvironments(call),
  }),
  command({
    words: ["env", "create"],
    ...name,
    sentence: "Creates an environment.",
    examples: [
      ["inlet env create feature/cart", "a branch environment"],
      ["inlet env create staging --kind custom", "one with keys of its own"],
      ["inlet env create feature/cart --if-missing", "for CI: the second time is fine too"],
    ],
    flags: CREATE_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).createEnvironment(call),
  }),
  command({
    words: ["env", "archive"],
    ...name,
    sentence: "Archives an environment: it keeps its events and takes no new ones.",
    examples: [["inlet env archive feature/cart", "when the branch is merged"]],
    flags: PLAIN_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).archiveEnvironment(call, "archive"),
  }),
  command({
    words: ["env", "unarchive"],
    ...name,
    sentence: "Puts an archived environment back in use.",
    examples: [["inlet env unarchive feature/cart", "it takes events again"]],
    flags: PLAIN_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).archiveEnvironment(call, "unarchive"),
  }),
];
