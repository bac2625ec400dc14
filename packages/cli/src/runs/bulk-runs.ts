/** `inlet runs rerun|cancel` with filters: all runs that match, as a job. */

import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { instant } from "../command-line/list-flags.ts";
import { startJob } from "../jobs/start-job.ts";
import type { BULK_FLAGS } from "./runs-flags.ts";

type BulkCall = Call<typeof BULK_FLAGS>;

/** Null: one run is named. */
export async function bulkRuns({ options, names, io }: BulkCall, kind: "runs.rerun" | "runs.cancel"): Promise<CommandResult | null> {
  const { where, status, function: functionId, error, from, to, rate, yes, dryRun } = options;
  const given = { where, status, function: functionId, error, from: from && instant(from), to: to && instant(to) };
  const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const hasFilter = Object.keys(filter).length > 0;
  if (names.length > 0 && dryRun) throw new CommandFault("--dry-run requires filters instead of a run id.", "usage", EXIT.usage);
  if (names.length > 0 && !hasFilter) return null;
  if (names.length > 0) throw new CommandFault("Use either a run id or filters, not both.", "usage", EXIT.usage);
  if (!hasFilter) throw new CommandFault("<run id> is missing, or a filter such as --where or --status.", "usage", EXIT.usage);
  const verb = kind === "runs.rerun" ? "Rerun" : "Cancel";
  return startJob(options, { kind, filter, rate, yes, dryRun, question: (total) => `${verb} ${total} run${total === 1 ? "" : "s"}?` }, io);
}
