/** A job, as REST shows it. */

import type { DrillEntry, JobDetailsView, JobKindName, JobRuns, JobView } from "@inlet/protocol";
import { iso } from "../../observe/run-view.ts";
import type { Job } from "../../store/contract/index.ts";

export function jobDetailsView(job: Job, runs: JobRuns | null): JobDetailsView {
  const entries = JSON.parse(job.report ?? "[]") as DrillEntry[];
  const report = entries.map(({ kind, sent, expected, happened, ok, functions }) => ({ kind, sent, expected, happened, ok, functions }));
  return { ...jobView(job), runs, report: job.kind === "webhooks.drill" ? report : null };
}

export function jobView(job: Job): JobView {
  return {
    id: job.id,
    kind: job.kind as JobKindName,
    filter: JSON.parse(job.filter) as JobView["filter"],
    function: job.functionId,
    status: job.status,
    total: job.total,
    done: job.done,
    failed: job.failed,
    rate: job.rate,
    errors: job.errors,
    createdAt: new Date(job.createdAt).toISOString(),
    startedAt: iso(job.startedAt),
    endedAt: iso(job.endedAt),
  };
}
