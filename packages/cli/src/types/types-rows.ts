/** `inlet types …`. The command without a second word comes last: words are matched in order. */

import { type CommandRow, command, USUAL_EXITS } from "../command-line/command-row.ts";
import { PUSH_FLAGS, TYPES_FLAGS } from "./types-flags.ts";

export const TYPES_ROWS: readonly CommandRow[] = [
  command({
    words: ["types", "check"],
    sentence: "Checks that the file written by `inlet types` is up to date, for CI.",
    examples: [["inlet types check --out src/events.ts", "exit code 1 when the file is out of date"]],
    exits: [
      [0, "the file is up to date"],
      [1, "the file is out of date or missing, or the service refused the request"],
      ...USUAL_EXITS.slice(2),
    ],
    flags: TYPES_FLAGS,
    run: async (call) => (await import("./types-commands.ts")).checkTypes(call),
  }),
  command({
    words: ["types", "push"],
    operands: "<module>",
    namesMin: 1,
    namesMax: 1,
    sentence: "Declares the Standard Schemas (zod, valibot, arktype, …) of an SDK's client as schemas of event types.",
    more: `The module exports a client made with \`events\`, or a map \`events\` of Standard Schemas. Node loads it, so it can be TypeScript.`,
    examples: [["inlet types push src/inlet.ts --mode warn", "the events of the client exported there"]],
    flags: PUSH_FLAGS,
    run: async (call) => (await import("./types-commands.ts")).pushTypes(call),
  }),
  command({
    words: ["types"],
    sentence: "Writes a TypeScript file with the types of all event types, declared or inferred from traffic.",
    examples: [
      ["inlet types --out src/events.ts", "for `new Inlet({ id, events })`"],
      ["inlet types --sdk inngest-v4 --out src/events.ts", "for Inngest's SDK"],
    ],
    flags: TYPES_FLAGS,
    run: async (call) => (await import("./types-commands.ts")).writeTypes(call),
  }),
];
