/** `inlet jobs watch`: shows a progress bar until the job has ended. */

import { setTimeout as pause } from "node:timers/promises";
import type { JobView } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call, Io } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { barText, createProgressBar } from "../command-line/progress-bar.ts";
import { type Connection, createRestClient } from "../rest/rest-client.ts";
import { jobText } from "./jobs-commands.ts";

const POLL_INTERVAL_MS = 250;
/** A service that restarts is back sooner, and the job continues. */
const AWAY_MS_MAX = 60_000;

export async function watchJob({ options, names, io }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const job = await followJob(options, names[0] ?? "", io);
  const isGood = job.endedAt === null || job.status === "completed";
  return { exitCode: isGood ? EXIT.ok : EXIT.failed, text: jobText(job), json: job };
}

/** The final state of the job, or its state when the user interrupted. */
export async function followJob(connection: Connection, id: string, io: Io): Promise<JobView> {
  const client = createRestClient(connection);
  const bar = createProgressBar(io.err);
  const signal = io.interrupted();
  const read = () => client.data<JobView>({ path: `/jobs/${encodeURIComponent(id)}` });
  let job = await read();
  for (let awaySince: number | null = null; ; ) {
    if (job.endedAt !== null || signal.aborted) {
      bar.clear();
      return job;
    }
    const share = job.total === 0 ? 0 : job.done / job.total;
    const found = `queued, ${job.total} items found`;
    bar.show(() => barText(share, job.status === "queued" ? found : `${job.done} of ${job.total} items, ${job.failed} failed`));
    await pause(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    try {
      job = await read();
      awaySince = null;
    } catch (error) {
      if (!(error instanceof CommandFault) || error.exitCode !== EXIT.unreachable) throw error;
      if (awaySince !== null && Date.now() - awaySince > AWAY_MS_MAX) throw error;
      if (awaySince === null) {
        bar.clear();
        io.err.write(`${error.lines[0]} The job continues there; waiting for it.\n`);
      }
      awaySince ??= Date.now();
    }
  }
}
