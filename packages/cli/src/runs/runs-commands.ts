/** `inlet runs list|get|cancel|rerun`. */

import { type CommandResult, EXIT, JsonText } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { instant } from "../command-line/list-flags.ts";
import { memberText, onOneLine } from "../events/event-text.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient, type RestClient } from "../rest/rest-client.ts";
import { bulkRuns } from "./bulk-runs.ts";
import { durationText, type RunDetails, type RunFields, runText } from "./run-text.ts";
import type { BULK_FLAGS, LIST_FLAGS, RERUN_FLAGS } from "./runs-flags.ts";

export async function listRuns({ options, io }: Call<typeof LIST_FLAGS>): Promise<CommandResult> {
  const { status, function: functionId, where, error, job, from, to, cursor, limit } = options;
  const query = { status, function: functionId, where, error, job, from: from && instant(from), to: to && instant(to), cursor };
  const { items, next } = await createRestClient(options).list<RunFields>({ path: "/runs", query }, Number(limit));
  const hasErrors = items.some((run) => run.error);
  const rows = items.map((run) => [
    run.createdAt,
    run.id,
    run.status,
    run.function.id,
    run.event?.name ?? run.cron,
    durationOf(run),
    ...(hasErrors ? [onOneLine(run.error?.message ?? "")] : []),
  ]);
  const headings = ["CREATED", "ID", "STATUS", "FUNCTION", "EVENT", "TOOK", ...(hasErrors ? ["ERROR"] : [])];
  return listResult({ headings, rows, empty: "No runs." }, items, next, io);
}

export async function getRun({ options, names }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const { run, text } = await callRun(createRestClient(options), "GET", names[0] ?? "");
  return { exitCode: EXIT.ok, text: runText(run, text), json: new JsonText(text) };
}

export async function cancelRun(call: Call<typeof BULK_FLAGS>): Promise<CommandResult> {
  const bulk = await bulkRuns(call, "runs.cancel");
  if (bulk) return bulk;
  const { options, names } = call;
  const { run, text } = await callRun(createRestClient(options), "POST", names[0] ?? "", "/cancel");
  return { exitCode: EXIT.ok, text: `Cancelled ${run.id} of ${run.function.id}.`, json: new JsonText(text) };
}

export async function rerunRun(call: Call<typeof RERUN_FLAGS>): Promise<CommandResult> {
  const bulk = await bulkRuns(call, "runs.rerun");
  if (bulk) return bulk;
  const { options, names } = call;
  const body = options.fromStep === null ? undefined : { from: options.fromStep };
  const { run, text } = await callRun(createRestClient(options), "POST", names[0] ?? "", "/rerun", body);
  const message = `Started ${run.id} of ${run.function.id}. To follow it, run "inlet runs watch ${run.id}".`;
  return { exitCode: EXIT.ok, text: message, json: new JsonText(text) };
}

/** A run with its JSON text, because parsing could change numbers in outputs. */
export async function callRun(
  rest: RestClient,
  method: string,
  id: string,
  action = "",
  body?: object,
): Promise<{ run: RunDetails; text: string }> {
  const path = `/runs/${encodeURIComponent(id)}${action}`;
  const { value, text } = await rest.call<{ data: RunDetails }>({ method, path, ...(body && { body }) });
  return { run: value.data, text: memberText(text, "data") };
}

function durationOf({ startedAt, endedAt }: RunFields): string | null {
  return startedAt === null || endedAt === null ? null : durationText(startedAt, endedAt);
}
