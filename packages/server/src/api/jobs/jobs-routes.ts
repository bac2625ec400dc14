/** REST: jobs, which work on many events, runs or requests in the background. */

import {
  BRANCH_SCOPE,
  type DrillEntry,
  environmentNamed,
  isEventId,
  JOB_STATUSES,
  type JobDetailsView,
  type JobId,
  type JobKindName,
  type JobRuns,
  type JobStatus,
  type JobView,
} from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { Environment, Job, JobStore, RunCounts, StoreViews } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { checkMayUse, mayUse, principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { faultsOf, invalid, invalidRequest, RestRefusal } from "../rest-errors.ts";
import { closed, compileQueryCheck, PAGE_PARAMETERS, type QueryCheck } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { CREATE_BODY, JOB, JOB_DETAILS, JOB_PREVIEW } from "./job-schemas.ts";

export type JsonSchemaProperties = Readonly<Record<string, object>>;

export interface JobRequest {
  kind: string;
  filter: Record<string, unknown>;
  function?: string;
  rate?: number;
}

export interface JobPreview {
  total: number;
  /** JSON texts. */
  samples: readonly string[];
}

/** What may be asked of a kind of job. */
export interface JobRules {
  kind: string;
  filters: JsonSchemaProperties;
  filtersRequired: readonly string[];
  takesFunction: boolean;
  takesAll: boolean;
}

export interface JobsPart {
  kinds: readonly JobRules[];
  preview(environment: Environment, request: JobRequest): Promise<JobPreview>;
  create(environment: Environment, request: JobRequest): Promise<Job>;
}

export interface JobsRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: JobStore;
  views: StoreViews;
  jobs: JobsPart;
  registry: { functions(environment: Environment): { stored: { id: string } }[] };
  now(): number;
}

interface CreateBody {
  kind: string;
  filter: Record<string, unknown>;
  all?: boolean;
  function?: string;
  rate?: number;
  dryRun?: boolean;
}

const LIST = {
  summary: "List jobs",
  description: "Newest first.",
  querystring: closed({
    ...PAGE_PARAMETERS,
    status: { type: "string", enum: JOB_STATUSES, description: "Jobs with this status." },
    scheduled: {
      type: "boolean",
      description: "`false`: jobs that a person or a program started. `true`: scheduled reconciliations. Default: both.",
    },
  }),
  response: { 200: pageOf(JOB) },
};
const ONE = { querystring: closed({}), response: { 200: dataOf(JOB) }, errors: ["job_not_found"] } as const;
const READ = { ...ONE, summary: "Read a job", response: { 200: dataOf(JOB_DETAILS) } };
const STARTS_RUNS: ReadonlySet<string> = new Set(["runs.rerun", "events.replay"]);
const CREATE = {
  summary: "Start a job",
  description:
    "Processes every item of the list that `filter` selects, in the background. `total` is their number when the job was created; items that are added later are not processed. With `dryRun` nothing is changed: the response contains the number of items and up to five of them.",
  querystring: closed({}),
  body: CREATE_BODY,
  response: { 200: dataOf(JOB_PREVIEW), 202: dataOf(JOB) },
  errors: ["function_not_found", "webhook_not_found"],
} as const;

export function registerJobsRoutes(app: FastifyInstance, parts: JobsRoutesParts): void {
  const { access, audit, store, views, jobs, now } = parts;
  const readRequest = createRequestReader(parts);

  async function find(request: FastifyRequest<{ Params: { id: string } }>): Promise<{ environment: Environment; job: Job }> {
    const environment = environmentOf(access, request);
    const { id: text } = request.params;
    const id = text.toUpperCase() as JobId;
    const job = isEventId(id) ? ((await store.jobGet({ environmentId: environment.id, id })) ?? (await findDrill(request, id))) : null;
    const home = job && access.directory.environment(job.environmentId);
    if (!job || !home) throw new RestRefusal("job_not_found", `There is no job ${text} in the environment "${environment.name}".`);
    return { environment: home, job };
  }

  /** A drill belongs to a branch, its webhook to all of them: it is also found by a request about `branch`, or about no environment. */
  async function findDrill(request: FastifyRequest, id: JobId): Promise<Job | null> {
    if (![null, BRANCH_SCOPE].includes(environmentNamed(request.headers))) return null;
    const branches = access.directory.environments().filter((one) => one.kind === "branch" && mayUse(principalOf(request), one));
    const job = await store.jobFind({ environmentIds: branches.map((one) => one.id), id });
    const home = branches.find((one) => one.id === job?.environmentId);
    if (job?.kind !== "webhooks.drill" || !home) return null;
    checkMayUse(request, home);
    return job;
  }

  app.get<{ Querystring: { limit: number; cursor?: string; status?: JobStatus; scheduled?: boolean } }>(
    "/jobs",
    { config: { about: "environment" }, schema: LIST },
    async (request) => {
      const { limit, cursor, status, scheduled } = request.query;
      if (cursor !== undefined && !isEventId(cursor)) throw invalid("cursor", "is not one that a page of jobs ended with");
      const page = await views.jobList({
        environmentId: environmentOf(access, request).id,
        limit,
        ...(cursor !== undefined && { after: cursor as string as JobId }),
        ...(status !== undefined && { status }),
        ...(scheduled !== undefined && { isScheduled: scheduled }),
      });
      return { data: page.jobs.map(jobView), page: { next: page.next } };
    },
  );

  app.get<{ Params: { id: string } }>("/jobs/:id", { config: { about: "environment" }, schema: READ }, async (request) => {
    const { environment, job } = await find(request);
    const counts = STARTS_RUNS.has(job.kind) ? await views.runCountByJob({ environmentId: environment.id, jobId: job.id }) : null;
    return { data: jobDetailsView(job, counts && outcomesOf(counts)) };
  });

  app.post<{ Body: CreateBody }>(
    "/jobs",
    { config: { about: "environment", repair: true, idempotent: "replayed" }, schema: CREATE },
    async (request, reply) => {
      const environment = environmentOf(access, request);
      const asked = readRequest(environment, request.body);
      if (request.body.dryRun) {
        const { total, samples } = await jobs.preview(environment, asked);
        reply.type("application/json");
        return `{"data":{"total":${total},"samples":[${samples.join(",")}]}}`;
      }
      const job = await jobs.create(environment, asked);
      const { id, kind, rate } = job;
      const total = job.listCursor === null ? job.total : null;
      const details = { filter: JSON.parse(job.filter) as unknown, function: job.functionId, total, rate };
      await audit.note(request, { action: "job.created", target: { kind: "job", id, name: kind }, environment: environment.name, details });
      reply.code(202);
      return { data: jobView(job) };
    },
  );

  const cancel = {
    ...ONE,
    summary: "Cancel a job",
    description: "No further items are processed. Completed items are not undone.",
    errors: ["job_not_found", "job_ended"],
  } as const;
  app.post<{ Params: { id: string } }>(
    "/jobs/:id/cancel",
    { config: { about: "environment", repair: true }, schema: cancel },
    async (request) => {
      const { environment, job: found } = await find(request);
      const { id, endedAt, status } = found;
      if (endedAt !== null) throw new RestRefusal("job_ended", `The job ${id} has already ended: it is ${status}.`);
      const job = (await store.jobEnd({ environmentId: environment.id, id, status: "cancelled", now: now() })) as Job;
      if (job.status !== "cancelled") throw new RestRefusal("job_ended", `The job ${id} has already ended: it is ${job.status}.`);
      const target = { kind: "job", id, name: job.kind };
      await audit.note(request, {
        action: "job.cancelled",
        target,
        environment: environment.name,
        details: { done: job.done, total: job.total },
      });
      return { data: jobView(job) };
    },
  );
}

function outcomesOf(counts: RunCounts): JobRuns {
  const { completed = 0, failed = 0, cancelled = 0 } = counts;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { completed, failed, cancelled, unfinished: all - completed - failed - cancelled };
}

/** Reads what is asked for, with every rule of its kind checked. */
export function createRequestReader({ jobs, registry }: Pick<JobsRoutesParts, "jobs" | "registry">) {
  const kinds = new Map(
    jobs.kinds.map((rules) => [rules.kind, { rules, check: compileQueryCheck(closed(rules.filters, [...rules.filtersRequired])) }]),
  );
  return (environment: Environment, body: CreateBody): JobRequest => {
    const { kind, all = false, function: functionId, rate } = body;
    const known = kinds.get(kind);
    if (!known) throw invalid("kind", `must be one of ${[...kinds.keys()].join(", ")}`);
    const filter = { ...body.filter };
    checkFilter(known.rules, known.check, filter, all);
    if (functionId !== undefined && !known.rules.takesFunction) throw invalid("function", `is not for jobs of the kind ${kind}`);
    if (functionId !== undefined && !registry.functions(environment).some(({ stored }) => stored.id === functionId)) {
      throw new RestRefusal("function_not_found", `There is no function ${functionId} in the environment "${environment.name}".`);
    }
    return { kind, filter, ...(functionId !== undefined && { function: functionId }), ...(rate !== undefined && { rate }) };
  };
}

/** A filter without any field would choose everything: that has to be said. */
function checkFilter({ kind, takesAll }: JobRules, check: QueryCheck, filter: Record<string, unknown>, all: boolean): void {
  const faults = check(filter);
  if (faults) {
    const named = faultsOf(faults as Parameters<typeof faultsOf>[0]).map(({ field, message }) => ({ field: `filter.${field}`, message }));
    const refused = invalidRequest(named);
    throw new RestRefusal(refused.code, refused.message, refused.details);
  }
  if (all && !takesAll) throw invalid("all", `is not for jobs of the kind ${kind}`);
  if (Object.keys(filter).length > 0 || all) return;
  throw invalid("filter", takesAll ? 'is empty; say "all": true to work on every entry' : "must not be empty");
}

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
