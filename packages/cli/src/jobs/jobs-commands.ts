/** `inlet jobs list|get|cancel`. */

import type { JobView } from "@inlet/protocol";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { JOB_LIST_FLAGS } from "./jobs-flags.ts";

type JobCall = Call<typeof CONNECTION_FLAGS>;

export async function listJobs({ options, io }: Call<typeof JOB_LIST_FLAGS>): Promise<CommandResult> {
  const { status, cursor, limit } = options;
  const query = { status, cursor, scheduled: options.scheduled ? null : "false" };
  const { items, next } = await createRestClient(options).list<JobView>({ path: "/jobs", query }, Number(limit));
  const rows = items.map((job) => [job.createdAt, job.id, job.kind, job.status, `${job.done}/${job.total}`, String(job.failed)]);
  const headings = ["CREATED", "ID", "KIND", "STATUS", "DONE", "FAILED"];
  return listResult({ headings, rows, empty: "No jobs." }, items, next, io);
}

export async function getJob({ options, names }: JobCall): Promise<CommandResult> {
  const job = await createRestClient(options).data<JobView>({ path: `/jobs/${encodeURIComponent(names[0] ?? "")}` });
  return { exitCode: EXIT.ok, text: jobText(job), json: job };
}

export async function cancelJob({ options, names }: JobCall): Promise<CommandResult> {
  const path = `/jobs/${encodeURIComponent(names[0] ?? "")}/cancel`;
  const job = await createRestClient(options).data<JobView>({ method: "POST", path });
  return { exitCode: EXIT.ok, text: `Cancelled ${job.id} after ${job.done} of ${job.total} items.`, json: job };
}

export function jobText(job: JobView): string {
  const { id, kind, status, total, done, failed, rate, errors, createdAt, endedAt } = job;
  return [
    `${id}  ${kind}  ${status}`,
    `  filter   ${JSON.stringify(job.filter)}${job.function === null ? "" : `, only ${job.function}`}`,
    `  items    ${done} of ${total} done, ${failed} failed, at most ${rate}/s`,
    `  created  ${createdAt}${endedAt === null ? "" : `, ended ${endedAt}`}`,
    ...errors.map(({ item, message }) => `  error    ${item === null ? "" : `${item}: `}${message}`),
  ].join("\n");
}
