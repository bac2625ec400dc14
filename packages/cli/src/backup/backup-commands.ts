/** `inlet backup` and `inlet restore`: run them and print what they did. */

import { type BackupHeader, makeBackup, restoreBackup, StoreRefused } from "@inlet/server";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { readVariable } from "../command-line/read-options.ts";
import type { BACKUP_FLAGS, RESTORE_FLAGS } from "./backup-flags.ts";

export async function backupCommand({ options, io }: Call<typeof BACKUP_FLAGS>): Promise<CommandResult> {
  const { to, dataDir } = options;
  if (to === null) throw new CommandFault("Set the file with --to.", null, EXIT.usage);
  if (readVariable("INLET_DATABASE_URL", io.variables)) {
    const message =
      "INLET_DATABASE_URL is set: this installation uses PostgreSQL. Back it up with pg_dump; docs/how-to/operation.md shows how.";
    throw new CommandFault(message, "store_refused");
  }
  const made = await refusable(() => makeBackup({ folder: dataDir, to }));
  const text = `Backed up ${dataDir} to ${to}: ${made.bytes.toLocaleString("en")} bytes, SHA-256 ${made.sha256}.`;
  return { exitCode: EXIT.ok, text, json: { file: to, ...withoutKey(made) } };
}

export async function restoreCommand({ options }: Call<typeof RESTORE_FLAGS>): Promise<CommandResult> {
  const { from, dataDir } = options;
  if (from === null) throw new CommandFault("Set the file with --from.", null, EXIT.usage);
  const restored = await refusable(async () => restoreBackup({ from, folder: dataDir }));
  const text = `Restored the backup of ${restored.createdAt} into ${dataDir}. Start the service with --data-dir ${dataDir}.`;
  return { exitCode: EXIT.ok, text, json: { folder: dataDir, ...withoutKey(restored) } };
}

function withoutKey({ createdAt, schema, bytes, sha256 }: BackupHeader) {
  return { createdAt, schema, bytes, sha256 };
}

async function refusable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StoreRefused ? new CommandFault(error.message, "store_refused") : error;
  }
}
