/** `inlet env …`. */

import { type CommandRow, command, USUAL_EXITS } from "../command-line/command-row.ts";
import { CREATE_FLAGS, MOVE_FLAGS, PLAIN_FLAGS, QUOTAS_FLAGS, USAGE_FLAGS } from "./environments-flags.ts";

const name = { operands: "<name>", namesMin: 1, namesMax: 1 } as const;

export const ENVIRONMENTS_ROWS: readonly CommandRow[] = [
  command({
    words: ["env", "list"],
    sentence: "Lists environments, newest first.",
    examples: [["inlet env list", "including archived ones"]],
    flags: PLAIN_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).listEnvironments(call),
  }),
  command({
    words: ["env", "create"],
    ...name,
    sentence: "Creates an environment.",
    examples: [
      ["inlet env create feature/cart", "a branch environment"],
      ["inlet env create staging --kind custom", "an environment with its own keys"],
      ["inlet env create staging --kind custom --database eu", "an environment on another database"],
      ["inlet env create feature/cart --if-missing", "for CI: safe to repeat"],
    ],
    flags: CREATE_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).createEnvironment(call),
  }),
  command({
    words: ["env", "quotas"],
    ...name,
    sentence: "Shows the quotas of an environment and what is used of them. Flags change quotas.",
    examples: [
      ["inlet env quotas staging", "what is used of each quota"],
      ["inlet env quotas staging --events-per-day 1000000", "sets a quota; the others stay"],
      ["inlet env quotas staging --events-per-day none", "removes it"],
    ],
    flags: QUOTAS_FLAGS,
    run: async (call) => (await import("./quotas-command.ts")).environmentQuotas(call),
  }),
  command({
    words: ["env", "move"],
    ...name,
    sentence: "Moves an environment to another database while it runs, and shows the progress.",
    examples: [
      ["inlet env move staging --to eu", "with everything it holds"],
      ["inlet env move staging --to directory", "back to the database of --database-url"],
    ],
    exits: [
      [0, "the environment was moved, or Ctrl-C: the move continues"],
      [1, "the move failed or was cancelled, or the service refused the request"],
      ...USUAL_EXITS.slice(2),
    ],
    flags: MOVE_FLAGS,
    run: async (call) => (await import("./move-command.ts")).moveEnvironment(call),
  }),
  command({
    words: ["env", "archive"],
    ...name,
    sentence: "Archives an environment. It keeps its events and accepts no new ones.",
    examples: [["inlet env archive feature/cart", "when the branch is merged"]],
    flags: PLAIN_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).archiveEnvironment(call, "archive"),
  }),
  command({
    words: ["env", "unarchive"],
    ...name,
    sentence: "Unarchives an environment.",
    examples: [["inlet env unarchive feature/cart", "it accepts events again"]],
    flags: PLAIN_FLAGS,
    run: async (call) => (await import("./environments-commands.ts")).archiveEnvironment(call, "unarchive"),
  }),
  command({
    words: ["usage"],
    sentence: "Shows what environments, keys, webhooks or functions used.",
    examples: [
      ["inlet usage", "every environment, by day"],
      ["inlet usage --by key --interval hour --env staging", "the keys of one environment, by hour"],
    ],
    flags: USAGE_FLAGS,
    run: async (call) => (await import("./usage-command.ts")).showUsage(call),
  }),
];
