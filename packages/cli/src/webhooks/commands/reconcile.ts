/** `inlet webhooks reconcile`: compares what the provider lists with what was received, and takes in what is missing, with progress. */

import type { JobView } from "@inlet/protocol";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { instant } from "../../command-line/list-flags.ts";
import { visible } from "../../command-line/write-table.ts";
import { jobText } from "../../jobs/jobs-commands.ts";
import { followJob } from "../../jobs/watch-job.ts";
import { createRestClient, LONG_TIMEOUT_MS } from "../../rest/rest-client.ts";
import { webhookId } from "../webhook-id.ts";
import type { RECONCILE_FLAGS } from "../webhooks-flags.ts";

interface Counts {
  listed: number;
  seen: number;
  recovered: number;
  failed: number;
  error?: string | null;
}

type Pass = Counts & { job: string };

export async function reconcileWebhook({ options, names, io }: Call<typeof RECONCILE_FLAGS>): Promise<CommandResult> {
  const { since, until, dryRun } = options;
  const rest = createRestClient(options);
  const path = `/webhooks/${encodeURIComponent(await webhookId(rest, names[0] ?? ""))}`;
  const body = { since: instant(since), ...(until !== null && { until: instant(until) }) };
  if (dryRun) {
    const request = { method: "POST", path: `${path}/reconcile`, body: { ...body, dryRun: true } };
    // Answered once all pages of the provider are read.
    const counts = await rest.data<Counts>({ ...request, timeoutMs: LONG_TIMEOUT_MS });
    return { exitCode: exitOf(counts), text: `${countsText(counts, "would be recovered")}\nNothing was stored.`, json: counts };
  }
  const started = await rest.data<JobView>({ method: "POST", path: `${path}/reconcile`, body });
  const job = (await followJob(options, started.id, io)) ?? started;
  if (job.endedAt === null) return { exitCode: EXIT.ok, text: jobText(job), json: job };
  const { items } = await rest.list<Pass>({ path: `${path}/reconciliations` });
  const pass = items.find((one) => one.job === job.id);
  if (!pass) return { exitCode: EXIT.failed, text: jobText(job), json: job };
  const errors = job.errors.filter(({ item }) => item !== null).map(({ item, message }) => `  ${visible(`${item}: ${message}`)}`);
  return { exitCode: exitOf(pass), text: [countsText(pass, "recovered"), ...errors].join("\n"), json: pass };
}

function countsText({ listed, seen, recovered, failed, error }: Counts, what: string): string {
  const counted = `${listed} listed, ${seen} seen, ${recovered} ${what}, ${failed} failed.`;
  return error ? `${counted}\nThe pass ended early: ${visible(error)}` : counted;
}

function exitOf({ failed, error }: Counts): typeof EXIT.ok | typeof EXIT.failed {
  return failed > 0 || error ? EXIT.failed : EXIT.ok;
}
