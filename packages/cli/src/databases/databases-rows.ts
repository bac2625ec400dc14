/** `inlet databases …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { ADD_FLAGS, LIST_FLAGS } from "./databases-flags.ts";

export const DATABASES_ROWS: readonly CommandRow[] = [
  command({
    words: ["databases", "list"],
    sentence: "Lists the databases that hold environments, and whether they are reachable.",
    examples: [["inlet databases list", "the first is the directory, the database of --database-url"]],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./databases-commands.ts")).listDatabases(call),
  }),
  command({
    words: ["databases", "add"],
    operands: "<name> <url>",
    namesMin: 2,
    namesMax: 2,
    sentence: "Adds an empty PostgreSQL database, on which environments can be placed.",
    more: "The URL is encrypted at rest and never shown again. - reads it from standard input, which keeps it out of the shell's history.",
    examples: [
      ["inlet databases add eu postgres://inlet@db-eu.example/inlet", "every node must be able to connect to it"],
      ["inlet databases add eu - < url.txt", "a URL with a password"],
    ],
    flags: ADD_FLAGS,
    run: async (call) => (await import("./databases-commands.ts")).addDatabase(call),
  }),
];
