/** `inlet migrate-store`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { MIGRATE_STORE_FLAGS } from "./migrate-store-flags.ts";

export const MIGRATE_STORE: CommandRow = command({
  words: ["migrate-store"],
  sentence: "Copies the data folder to PostgreSQL.",
  more: `Stop the service first: a folder in use and a database that is not empty are refused. You can interrupt the command at any time; run it
again to continue. At the end it compares the row counts; nodes start with the database only if they match. From the first row on, the folder
is locked, so that no service starts with it. It is not changed otherwise.`,
  examples: [
    ["inlet migrate-store --from .inlet --to postgres://inlet:secret@db.internal:5432/inlet", "the whole store"],
    ["inlet migrate-store --json", "with INLET_DATA_DIR and INLET_DATABASE_URL, for a script"],
  ],
  exits: [
    [0, "all data has been copied"],
    [1, "the folder or the database was refused; see the message"],
    [2, "invalid flags"],
    [3, "the connection to PostgreSQL failed; run the command again to continue"],
  ],
  flags: MIGRATE_STORE_FLAGS,
  run: async (call) => (await import("./migrate-store.ts")).migrateStoreCommand(call),
});
