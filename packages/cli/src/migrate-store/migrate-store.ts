/** `inlet migrate-store`: copies the store, shows progress and prints the next step. */

import { type CopyProgress, type CopyReport, migrateStore, StoreRefused, StoreUnavailable } from "@inlet/server";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { barText, createProgressBar, perSecond } from "../command-line/progress-bar.ts";
import type { MIGRATE_STORE_FLAGS } from "./migrate-store-flags.ts";

export async function migrateStoreCommand({ options, io }: Call<typeof MIGRATE_STORE_FLAGS>): Promise<CommandResult> {
  const { from, to } = options;
  if (to === null) throw new CommandFault("Set the database with --to or INLET_DATABASE_URL.", null, EXIT.usage);
  const bar = createProgressBar(io.err);
  try {
    const onProgress = (progress: CopyProgress) => bar.show((elapsedMs) => progressText(progress, elapsedMs));
    return resultOf(from, await migrateStore({ folder: from, url: to, onProgress }));
  } catch (error) {
    throw asFault(error);
  } finally {
    bar.clear();
  }
}

function progressText({ table, rowsDone, rowsTotal }: CopyProgress, elapsedMs: number): string {
  const words = `${rowsDone.toLocaleString("en")} of ${rowsTotal.toLocaleString("en")} rows, ${perSecond(rowsDone, elapsedMs)} (${table})`;
  return barText(rowsTotal === 0 ? 1 : rowsDone / rowsTotal, words);
}

function resultOf(folder: string, { isResumed, rows, tables }: CopyReport): CommandResult {
  const rowsOf = (name: string) => (tables.find((table) => table.name === name)?.rows ?? 0).toLocaleString("en");
  const text = [
    `Copied ${folder} to the database${isResumed ? ", continuing an earlier copy" : ""}: ${rows.toLocaleString("en")} rows, verified on both sides.`,
    `${rowsOf("events")} events, ${rowsOf("runs")} runs, ${rowsOf("queue")} queue entries, ${rowsOf("webhooks")} webhooks, ${rowsOf("keys")} keys.`,
    "Start the service with --database-url (INLET_DATABASE_URL) from now on. The folder is locked; keep it until you have verified the copy.",
  ];
  return { exitCode: EXIT.ok, text: text.join("\n"), json: { complete: true, resumed: isResumed, rows, tables } };
}

function asFault(error: unknown): unknown {
  if (error instanceof StoreRefused) return new CommandFault(error.message, "store_refused");
  if (!(error instanceof StoreUnavailable)) return error;
  const lines = [`${error.message}.`, "Nothing is lost. Run the same command again to continue."];
  return new CommandFault(lines, "store_unavailable", EXIT.unreachable);
}
