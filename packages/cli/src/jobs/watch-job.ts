/** `inlet jobs watch`: shows a progress bar until the job has ended. */

import type { JobDetailsView, JobView } from "@inlet/protocol";
import { type CommandResult, EXIT, written } from "../command-line/command-result.ts";
import type { Call, Io } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { barText, createProgressBar } from "../command-line/progress-bar.ts";
import { followState } from "../rest/follow-state.ts";
import { type Connection, createRestClient } from "../rest/rest-client.ts";
import { jobText } from "./jobs-commands.ts";

const POLL_INTERVAL_MS = 250;

export async function watchJob({ options, names, io }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const job = await followJob(options, names[0] ?? "", io);
  if (!job) return written();
  const isGood = job.endedAt === null || job.status === "completed";
  return { exitCode: isGood ? EXIT.ok : EXIT.failed, text: jobText(job), json: job };
}

/** The final state of the job, or its last known one when the user interrupted; null: there is none. */
export async function followJob(connection: Connection, id: string, io: Pick<Io, "err" | "interrupted">): Promise<JobDetailsView | null> {
  const signal = io.interrupted();
  const client = createRestClient(connection, signal);
  const bar = createProgressBar(io.err);
  try {
    return await followState<JobDetailsView>({
      intervalMs: POLL_INTERVAL_MS,
      signal,
      read: () => client.data<JobDetailsView>({ path: `/jobs/${encodeURIComponent(id)}` }),
      show: (job) => bar.show(() => progressText(job)),
      hasEnded: ({ endedAt }) => endedAt !== null,
      onAway(reason) {
        bar.clear();
        io.err.write(`${reason} The job continues there; waiting for it.\n`);
      },
    });
  } finally {
    bar.clear();
  }
}

function progressText({ status, total, done, failed }: JobView): string {
  const found = `queued, ${total} items found`;
  return barText(total === 0 ? 0 : done / total, status === "queued" ? found : `${done} of ${total} items, ${failed} failed`);
}
