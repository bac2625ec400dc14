/**
 * Makes jobs. A job is stored at once, with the items of the first page of its list; the runner fixes the rest in the background. The list is
 * walked from its newest entry to the oldest, so entries that come after the job are not among its items.
 */

import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { JobId } from "@inlet/protocol";
import type { JobPreview, JobRequest, JobsPart } from "../api/jobs/read-job-request.ts";
import type { Environment, Job, JobStore } from "../store/contract/index.ts";
import type { JobKind } from "./job-kind.ts";
import type { JobRunner } from "./job-runner.ts";

export interface JobsParts {
  store: JobStore;
  kinds: readonly JobKind[];
  runner: Pick<JobRunner, "add">;
  /** Items per second, for jobs that say nothing. */
  rate: number;
  newId(): JobId;
  now(): number;
}

/** Lists of the store wait for nothing that a stop could end. */
const NEVER = new AbortController().signal;
const SAMPLES_MAX = 5;
/** A response waits this long for the last item, so that the `total` it gives is that of the whole list, unless the list is very long. */
const COLLECT_WAIT_MS = 10_000;

export function createJobs(parts: JobsParts): JobsPart {
  const offered = parts.kinds.filter(({ hasOwnRoute = false }) => !hasOwnRoute);
  const rules = offered.map(({ kind, filters, filtersRequired = [], takesFunction = false, takesAll }) => ({
    kind,
    filters,
    filtersRequired,
    takesFunction,
    takesAll,
  }));
  return {
    kinds: rules,
    preview: (environment, request) => previewJob(kindOf(parts, request), environment, request),
    create: (environment, request) => createJob(parts, kindOf(parts, request), environment, request),
  };
}

function kindOf({ kinds }: JobsParts, { kind }: JobRequest): JobKind {
  return kinds.find((candidate) => candidate.kind === kind) as JobKind;
}

async function previewJob(kind: JobKind, environment: Environment, { filter }: JobRequest): Promise<JobPreview> {
  const samples: string[] = [];
  let total = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await kind.find(environment, filter, cursor ?? null, NEVER);
    for (const { sample } of page.found.slice(0, SAMPLES_MAX - samples.length)) samples.push(sample());
    total += page.found.length;
    cursor = page.next;
  }
  return { total, samples };
}

async function createJob(
  { store, runner, rate, newId, now }: JobsParts,
  kind: JobKind,
  environment: Environment,
  request: JobRequest,
): Promise<Job> {
  const { found, next } = await kind.find(environment, request.filter, null, NEVER);
  const [id, environmentId] = [newId(), environment.id];
  const job = {
    id,
    environmentId,
    kind: request.kind,
    filter: keptFilter(kind, request),
    functionId: request.function ?? null,
    rate: request.rate ?? rate,
    createdAt: now(),
    items: found.map(({ item }) => item),
    listCursor: next,
    series: null,
    isScheduled: false,
  };
  const fixed = await runner.add(job, request.filter);
  const answered = new AbortController();
  await Promise.race([fixed.end, pause(COLLECT_WAIT_MS, undefined, { signal: answered.signal }).catch(() => undefined)]);
  answered.abort();
  return (await store.jobGet({ environmentId, id })) as Job;
}

function keptFilter({ hidesFilter }: JobKind, { filter }: JobRequest): string {
  const text = JSON.stringify(filter);
  return hidesFilter ? JSON.stringify({ sha256: createHash("sha256").update(text).digest("hex") }) : text;
}
