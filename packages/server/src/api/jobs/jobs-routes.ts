/** REST: jobs, which work on many events, runs or requests in the background. */

import { BRANCH_SCOPE, environmentNamed, isEventId, JOB_STATUSES, type JobId, type JobRuns, type JobStatus } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Environment, Job, JobStore, RunCounts, StoreViews } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { checkMayUse, mayUse, principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { wrongCursor } from "../cursors.ts";
import type { PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { CREATE_BODY, JOB, JOB_DETAILS, JOB_PREVIEW } from "./job-schemas.ts";
import { jobDetailsView, jobView } from "./job-view.ts";
import { type CreateJobBody, createRequestReader, type JobRequest, type JobsPart, type RequestReaderParts } from "./read-job-request.ts";

export interface JobsRoutesParts extends RequestReaderParts {
  access: AccessRules;
  audit: AuditTrail;
  store: JobStore;
  views: StoreViews;
  jobs: JobsPart;
  now(): number;
}

type ListRequest = { Querystring: PageQuery & { status?: JobStatus; scheduled?: boolean } };
type ById = { Params: { id: string } };
type CreateRequest = { Body: CreateJobBody };

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
const READ = { ...ONE, summary: "Get a job", response: { 200: dataOf(JOB_DETAILS) } };
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
const CANCEL = {
  ...ONE,
  summary: "Cancel a job",
  description: "No further items are processed. Completed items are not undone.",
  errors: ["job_not_found", "job_ended"],
} as const;

export function registerJobsRoutes(app: FastifyInstance, parts: JobsRoutesParts): void {
  const [read, repair] = [{ about: "environment" }, { about: "environment", repair: true }] as const;
  const readRequest = createRequestReader(parts);
  app.get<ListRequest>("/jobs", { config: read, schema: LIST }, (request) => listJobs(parts, request));
  app.get<ById>("/jobs/:id", { config: read, schema: READ }, (request) => readJob(parts, request));
  app.post<CreateRequest>("/jobs", { config: { ...repair, idempotent: "replayed" }, schema: CREATE }, async (request, reply) => {
    const environment = environmentOf(parts.access, request);
    const asked = readRequest(environment, request.body);
    return request.body.dryRun ? previewJob(parts, environment, asked, reply) : createJob(parts, environment, asked, request, reply);
  });
  app.post<ById>("/jobs/:id/cancel", { config: { ...repair, byId: true }, schema: CANCEL }, (request) => cancelJob(parts, request));
}

async function listJobs({ access, views }: JobsRoutesParts, request: FastifyRequest<ListRequest>) {
  const { limit, cursor, status, scheduled } = request.query;
  if (cursor !== undefined && !isEventId(cursor)) throw wrongCursor();
  const page = await views.jobList({
    environmentId: environmentOf(access, request).id,
    limit,
    ...(cursor !== undefined && { after: cursor as string as JobId }),
    ...(status !== undefined && { status }),
    ...(scheduled !== undefined && { isScheduled: scheduled }),
  });
  return { data: page.jobs.map(jobView), page: { next: page.next } };
}

async function readJob(parts: JobsRoutesParts, request: FastifyRequest<ById>) {
  const { environment, job } = await find(parts, request);
  const counts = STARTS_RUNS.has(job.kind) ? await parts.views.runCountByJob({ environmentId: environment.id, jobId: job.id }) : null;
  return { data: jobDetailsView(job, counts && outcomesOf(counts)) };
}

async function previewJob({ jobs }: JobsRoutesParts, environment: Environment, asked: JobRequest, reply: FastifyReply) {
  const { total, samples } = await jobs.preview(environment, asked);
  reply.type("application/json");
  return `{"data":{"total":${total},"samples":[${samples.join(",")}]}}`;
}

async function createJob(
  { jobs, audit }: JobsRoutesParts,
  environment: Environment,
  asked: JobRequest,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const job = await jobs.create(environment, asked);
  const { id, kind, rate } = job;
  const total = job.listCursor === null ? job.total : null;
  const details = { filter: JSON.parse(job.filter) as unknown, function: job.functionId, total, rate };
  await audit.note(request, { action: "job.created", target: { kind: "job", id, name: kind }, environment: environment.name, details });
  reply.code(202);
  return { data: jobView(job) };
}

async function cancelJob(parts: JobsRoutesParts, request: FastifyRequest<ById>) {
  const { environment, job: found } = await find(parts, request);
  const { id, endedAt, status } = found;
  if (endedAt !== null) throw new RestRefusal("job_ended", `The job ${id} has already ended: it is ${status}.`);
  const job = (await parts.store.jobEnd({ environmentId: environment.id, id, status: "cancelled", now: parts.now() })) as Job;
  if (job.status !== "cancelled") throw new RestRefusal("job_ended", `The job ${id} has already ended: it is ${job.status}.`);
  const target = { kind: "job", id, name: job.kind };
  const details = { done: job.done, total: job.total };
  await parts.audit.note(request, { action: "job.cancelled", target, environment: environment.name, details });
  return { data: jobView(job) };
}

async function find(parts: JobsRoutesParts, request: FastifyRequest<ById>): Promise<{ environment: Environment; job: Job }> {
  const { access, store } = parts;
  const environment = environmentOf(access, request);
  const { id: text } = request.params;
  const id = text.toUpperCase() as JobId;
  const job = isEventId(id) ? ((await store.jobGet({ environmentId: environment.id, id })) ?? (await findDrill(parts, request, id))) : null;
  const home = job && access.directory.environment(job.environmentId);
  if (!job || !home) throw new RestRefusal("job_not_found", `There is no job ${text} in the environment "${environment.name}".`);
  return { environment: home, job };
}

/** A drill belongs to a branch, its webhook to all of them: it is also found by a request about `branch`, or about no environment. */
async function findDrill({ access, store }: JobsRoutesParts, request: FastifyRequest, id: JobId): Promise<Job | null> {
  if (![null, BRANCH_SCOPE].includes(environmentNamed(request.headers))) return null;
  const branches = access.directory.environments().filter((one) => one.kind === "branch" && mayUse(principalOf(request), one));
  const job = await store.jobFind({ environmentIds: branches.map((one) => one.id), id });
  const home = branches.find((one) => one.id === job?.environmentId);
  if (job?.kind !== "webhooks.drill" || !home) return null;
  checkMayUse(request, home);
  return job;
}

function outcomesOf(counts: RunCounts): JobRuns {
  const { completed = 0, failed = 0, cancelled = 0 } = counts;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { completed, failed, cancelled, unfinished: all - completed - failed - cancelled };
}
