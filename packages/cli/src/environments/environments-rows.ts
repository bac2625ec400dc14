/** `inlet env …`. */

import { type CommandRow, command, type Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

/** These are about environments, not within one. */
const { env: _, ...INSTALLATION_FLAGS } = CONNECTION_FLAGS;

export const PLAIN_FLAGS = INSTALLATION_FLAGS satisfies Flags;
export const CREATE_FLAGS = {
  kind: {
    type: "string",
    choices: ["branch", "custom"],
    fallback: "branch",
    sentence: "A branch environment for a preview, which shares keys and webhooks with all branches; or a custom one with its own.",
  },
  "if-missing": { type: "boolean", sentence: "An environment that exists already is fine; an archived one is put back." },
  ...INSTALLATION_FLAGS,
} as const satisfies Flags;

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
