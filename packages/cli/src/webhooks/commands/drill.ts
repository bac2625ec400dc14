/** `inlet webhooks drill`: sends a webhook what its provider may send, in a branch environment, and shows the report. */

import type { DrillEntry, DrillFunction, DrillOutcome, JobDetailsView } from "@inlet/protocol";
import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { styleText } from "../../command-line/terminal-text.ts";
import { tableText, visible } from "../../command-line/write-table.ts";
import { followJob } from "../../jobs/watch-job.ts";
import { createRestClient } from "../../rest/rest-client.ts";
import { webhookId } from "../webhook-id.ts";
import type { DRILL_FLAGS } from "../webhooks-flags.ts";

/** Webhooks that are drilled belong to all branches. */
const WEBHOOKS_OF = "branch";

export async function drillWebhook({ options, names, io }: Call<typeof DRILL_FLAGS>): Promise<CommandResult> {
  const { env, kinds } = options;
  if (env === null) throw new CommandFault("Name the branch environment with --env, for example --env feature/cart.");
  const rest = createRestClient(options);
  const id = await webhookId(createRestClient({ ...options, env: WEBHOOKS_OF }), names[0] ?? "");
  const body = { environment: env, ...(kinds !== null && { kinds: kinds.split(",") }) };
  const begun = await rest.data<JobDetailsView>({ method: "POST", path: `/webhooks/${encodeURIComponent(id)}/drill`, body });
  const job = (await followJob(options, begun.id, io)) ?? begun;
  const isGood = job.status === "completed" && (job.report ?? []).every(({ ok }) => ok);
  return { exitCode: isGood ? EXIT.ok : EXIT.failed, text: drillText(job, io.out.isTTY ? io.out.columns : undefined), json: job };
}

function drillText(job: JobDetailsView, columns: number | undefined): string {
  const { report, status, errors } = job;
  const entries = report ?? [];
  const rows = entries.map((entry) => [
    entry.ok ? "ok" : "DIFFERS",
    entry.kind,
    outcomeText(entry.expected),
    outcomeText(entry.happened),
    entry.sent.sample,
    entry.functions.map(functionText).join(", ") || null,
  ]);
  const headings = ["", "KIND", "EXPECTED", "HAPPENED", "SAMPLE", "FUNCTIONS"];
  const different = entries.filter(({ ok }) => !ok).length;
  return [
    tableText({ headings, rows, empty: "No request was sent." }, columns),
    "",
    ...errors.map(({ item, message }) => visible(`${item === null ? "" : `${item}: `}${message}`)),
    ...repeatedLines(entries),
    summaryText(status, entries.length, different),
  ].join("\n");
}

function summaryText(status: string, requests: number, different: number): string {
  if (status !== "completed") return styleText("red", `The drill is ${status} after ${requests} requests.`);
  if (different === 0) return styleText("green", `${requests} requests, all as expected.`);
  return styleText("red", `${requests} requests, ${different} not as expected.`);
}

/** Functions that would have done their work more than once. */
function repeatedLines(entries: readonly DrillEntry[]): string[] {
  const most = new Map<string, number>();
  for (const { functions } of entries) for (const { id, runs } of functions) most.set(id, Math.max(most.get(id) ?? 0, runs));
  return [...most].filter(([, runs]) => runs > 1).map(([id, runs]) => `The function ${visible(id)} ran ${runs} times for one event.`);
}

function outcomeText({ status, events }: DrillOutcome): string {
  return `${status}, ${events === 1 ? "1 event" : `${events} events`}`;
}

function functionText({ id, runs, failed }: DrillFunction): string {
  return `${id} ${runs === 1 ? "once" : `${runs} times`}${failed ? ", failed" : ""}`;
}
