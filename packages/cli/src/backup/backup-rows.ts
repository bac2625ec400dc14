/** `inlet backup` and `inlet restore`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { BACKUP_FLAGS, RESTORE_FLAGS } from "./backup-flags.ts";

export const BACKUP_ROWS: readonly CommandRow[] = [
  command({
    words: ["backup"],
    sentence: "Writes a backup of the data folder, even while the service runs.",
    more: `The backup contains everything that was acknowledged before it began, and a checksum. For PostgreSQL, use pg_dump; see docs/how-to/operation.md.`,
    examples: [["inlet backup --to /backups/inlet-monday.backup --data-dir /var/lib/inlet", "a running service"]],
    exits: [
      [0, "the backup is complete"],
      [1, "the folder or the file was refused; see the message"],
      [2, "invalid flags"],
    ],
    flags: BACKUP_FLAGS,
    run: async (call) => (await import("./backup-commands.ts")).backupCommand(call),
  }),
  command({
    words: ["restore"],
    sentence: "Restores a backup into an empty data folder.",
    more: "The checksum and the database are verified first. A folder that is not empty and a damaged file are refused.",
    examples: [["inlet restore --from /backups/inlet-monday.backup --data-dir /var/lib/inlet", "then start the service there"]],
    exits: [
      [0, "the folder contains the whole backup"],
      [1, "the folder or the file was refused; see the message"],
      [2, "invalid flags"],
    ],
    flags: RESTORE_FLAGS,
    run: async (call) => (await import("./backup-commands.ts")).restoreCommand(call),
  }),
];
