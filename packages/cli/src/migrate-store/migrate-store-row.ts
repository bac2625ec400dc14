/** `inlet migrate-store`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { MIGRATE_STORE_FLAGS } from "./migrate-store-flags.ts";

export const MIGRATE_STORE: CommandRow = command({
  words: ["migrate-store"],
  sentence: "Copies everything from a data folder into PostgreSQL, so that several nodes can share it.",
  more: `Stop the service first: a folder in use is refused, and so is a database that holds anything else. Ended at any moment and started
again with the same folder and database, it goes on where it was. At the end the numbers of rows are compared, and only then may nodes
start on the database. From the first row on the folder is closed to services, so that nothing happens in both places; it is not
changed otherwise.`,
  examples: [
    ["inlet migrate-store --from .inlet --to postgres://inlet:secret@db.internal:5432/inlet", "the whole store"],
    ["inlet migrate-store --json", "with SERVICE_DATA_DIR and SERVICE_DATABASE_URL, for a script"],
  ],
  exits: [
    [0, "everything is in the database"],
    [1, "the folder or the database was refused; the message says why"],
    [2, "a mistake in the flags"],
    [3, "the connection to PostgreSQL broke: start it again to go on"],
  ],
  flags: MIGRATE_STORE_FLAGS,
  run: async (call) => (await import("./migrate-store.ts")).migrateStoreCommand(call),
});
