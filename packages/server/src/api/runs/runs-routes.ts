/** REST: runs, their steps, and operations on them. */

import { type EventId, type FunctionNo, isEventId, type RunId, type StepId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type RunNames, runDetailsView, runView } from "../../observe/run-view.ts";
import {
  type ApprovalStore,
  type Environment,
  EVENT_RELATIONS,
  type EventRelation,
  type RunDetails,
  type RunListParams,
  type RunStore,
  type RunSummary,
  type RunWaiting,
  type StoreViews,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { type ApprovalViewParts, shownUrl } from "../approvals/approval-view.ts";
import { hiddenFromSearch } from "../approvals/mask-links.ts";
import { wrongCursor } from "../cursors.ts";
import type { PageQuery } from "../list-page.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { findRun } from "./find-run.ts";
import { RUN_FILTERS, type RunFilterQuery, runFilter } from "./run-filters.ts";
import { RUN, RUN_DETAILS } from "./run-schemas.ts";

export interface RunsRoutesParts extends ApprovalViewParts {
  access: AccessRules;
  audit: AuditTrail;
  store: RunStore & Pick<ApprovalStore, "approvalsOfRun">;
  views: StoreViews;
  runs: {
    functionName(no: FunctionNo): { id: string; name: string; app: string };
    functionNos(environment: Environment, functionId: string): readonly FunctionNo[];
    /** False if the run has already ended. */
    cancel(run: RunSummary): Promise<boolean>;
    /** False if the step does not sleep, or no longer. */
    wake(run: RunSummary, stepId: StepId): Promise<boolean>;
    /** Why it is not being called at the moment. */
    waiting(run: RunDetails, environment: Environment): Promise<RunWaiting | null>;
    /** The id of the new run; null if its function or event no longer exists. */
    rerun(run: RunDetails, from?: StepId): Promise<RunId | null>;
  };
  /** Template of the pages that show traces, with `{traceId}`; null: there are none. */
  traceUrl: string | null;
}

type ListRequest = { Querystring: PageQuery & RunFilterQuery };
type OfEventRequest = { Params: { id: string }; Querystring: PageQuery & { relation: EventRelation } };
type WakeRequest = { Params: { id: string; stepId: string } };

const LIST = {
  summary: "List runs",
  description: "Newest first. With `error`, `errorPattern`, `rerun` or `where` a page may be short or empty; continue with `page.next`.",
  querystring: closed({ ...PAGE_PARAMETERS, ...RUN_FILTERS }),
  response: { 200: pageOf(RUN) },
};
const OF_EVENT = {
  summary: "List the runs an event started, resumed or cancelled",
  querystring: closed({
    ...PAGE_PARAMETERS,
    relation: {
      type: "string",
      enum: EVENT_RELATIONS,
      default: "started",
      description: "What the event did to the runs. An event that invoked a function started its run.",
    },
  }),
  response: { 200: pageOf(RUN) },
  errors: ["event_not_found"],
} as const;
const ONE = { querystring: closed({}), response: { 200: dataOf(RUN_DETAILS) }, errors: ["run_not_found"] } as const;
const READ = { ...ONE, summary: "Get a run", description: "With its steps, failed attempts, calls to the app and output." };
const CANCEL = {
  ...ONE,
  summary: "Cancel a run",
  description: "No further steps start. A call in flight is not aborted.",
  errors: ["run_not_found", "run_ended"],
} as const;
const WAKE = {
  ...ONE,
  summary: "Wake a sleeping step",
  description:
    "The run continues at once, as if the sleep of the step were over. It continues only once, even if the sleep ends at the same time.",
  errors: ["run_not_found", "run_ended", "step_not_found", "step_not_sleeping"],
} as const;
const RERUN = {
  summary: "Run a function again with the same event",
  querystring: closed({}),
  body: {
    ...closed({
      from: { type: "string", minLength: 1, description: "The id of a step: results of steps that ended before it began are kept." },
    }),
    type: ["object", "null"],
  },
  response: { 201: dataOf(RUN_DETAILS) },
  errors: ["run_not_found", "run_not_repeatable", "step_not_found"],
} as const;

export function registerRunsRoutes(app: FastifyInstance, parts: RunsRoutesParts): void {
  const [read, repair] = [{ about: "environment" }, { about: "environment", repair: true, byId: true }] as const;
  app.get<ListRequest>("/runs", { config: read, schema: LIST }, (request) => listRuns(parts, request));
  app.get<OfEventRequest>("/events/:id/runs", { config: read, schema: OF_EVENT }, (request) => listRunsOfEvent(parts, request));
  app.get("/runs/:id", { config: read, schema: READ }, (request, reply) => readRun(parts, request, reply));
  app.post("/runs/:id/cancel", { config: repair, schema: CANCEL }, (request, reply) => cancelRun(parts, request, reply));
  app.post<WakeRequest>("/runs/:id/steps/:stepId/wake", { config: repair, schema: WAKE }, (request, reply) =>
    wakeStep(parts, request, reply),
  );
  app.post("/runs/:id/rerun", { config: { ...repair, idempotent: "replayed" }, schema: RERUN }, (request, reply) =>
    rerunRun(parts, request, reply),
  );
}

async function listRuns(parts: RunsRoutesParts, request: FastifyRequest<ListRequest>) {
  const environment = environmentOf(parts.access, request);
  const { limit, cursor, ...filter } = request.query;
  const filters = { ...runFilter(parts.runs, environment, filter), ...hiddenFromSearch(parts.access, request) };
  return pageOfRuns(parts, environment, { limit, ...after(cursor), ...filters });
}

async function listRunsOfEvent(parts: RunsRoutesParts, request: FastifyRequest<OfEventRequest>) {
  const environment = environmentOf(parts.access, request);
  const id = request.params.id.toUpperCase() as EventId;
  const event = isEventId(id) ? await parts.views.eventGet({ environmentId: environment.id, id }) : null;
  if (!event) {
    throw new RestRefusal("event_not_found", `There is no event ${request.params.id} in the environment "${environment.name}".`);
  }
  const { limit, cursor, relation: eventRelation } = request.query;
  return pageOfRuns(parts, environment, { limit, ...after(cursor), eventId: id, eventRelation });
}

async function readRun(parts: RunsRoutesParts, request: FastifyRequest, reply: FastifyReply) {
  const { environment, run } = await findRun({ access: parts.access, store: parts.views }, request);
  return sendRun(parts, request, reply, run, environment);
}

/** Reads from the store itself, as every route that changes a run: the response decides what is written. */
async function cancelRun(parts: RunsRoutesParts, request: FastifyRequest, reply: FastifyReply) {
  const { environment, run } = await findRun(parts, request);
  if (!(await parts.runs.cancel(run))) throw runEnded(run);
  await note(parts, request, "cancelled", run, environment);
  return sendRun(parts, request, reply, (await findRun(parts, request)).run, environment);
}

async function wakeStep(parts: RunsRoutesParts, request: FastifyRequest<WakeRequest>, reply: FastifyReply) {
  const { environment, run } = await findRun(parts, request);
  const step = run.steps.find(({ id }) => id === request.params.stepId);
  if (!step) throw stepNotFound(run, request.params.stepId);
  if (run.endedAt !== null) throw runEnded(run);
  if (!(await parts.runs.wake(run, step.id))) {
    throw new RestRefusal("step_not_sleeping", `The step "${step.name}" of the run ${run.id} is not sleeping.`);
  }
  await note(parts, request, "woken", run, environment, { step: step.name });
  return sendRun(parts, request, reply, (await findRun(parts, request)).run, environment);
}

async function rerunRun(parts: RunsRoutesParts, request: FastifyRequest, reply: FastifyReply) {
  const { environment, run } = await findRun(parts, request);
  const from = (request.body as { from?: string } | null | undefined)?.from;
  if (from !== undefined && !run.steps.some((step) => step.id === from)) throw stepNotFound(run, from);
  const id = await parts.runs.rerun(run, from as StepId | undefined);
  const fresh = id && (await parts.store.runGet({ environmentId: environment.id, id }));
  if (!fresh) throw new RestRefusal("run_not_repeatable", "The function or the event of this run no longer exists.");
  await note(parts, request, "repeated", fresh, environment, { originalRunId: run.id, ...(from !== undefined && { from }) });
  reply.status(201);
  return sendRun(parts, request, reply, fresh, environment);
}

async function pageOfRuns(parts: RunsRoutesParts, environment: Environment, params: Omit<RunListParams, "environmentId">) {
  const { runs, next } = await parts.views.runList({ environmentId: environment.id, ...params });
  return { data: runs.map((run) => runView(run, namesIn(parts, environment))), page: { next } };
}

async function sendRun(
  parts: RunsRoutesParts,
  request: FastifyRequest,
  reply: FastifyReply,
  run: RunDetails,
  environment: Environment,
): Promise<string> {
  const waiting = await parts.runs.waiting(run, environment);
  const approvals = await approvalsOf(parts, request, run, environment);
  reply.type("application/json");
  return `{"data":${runDetailsView(run, namesIn(parts, environment), { traceUrl: parts.traceUrl, waiting, approvals })}}`;
}

/** Only steps of these kinds have approvals. */
async function approvalsOf(parts: RunsRoutesParts, request: FastifyRequest, { id: runId, steps }: RunDetails, environment: Environment) {
  if (!steps.some(({ kind }) => kind === "approval" || kind === "signal")) return new Map<StepId, { id: string; url: string }>();
  const approvals = await parts.store.approvalsOfRun({ environmentId: environment.id, runId });
  return new Map(
    approvals.flatMap(({ id, stepId }) => (stepId === null ? [] : [[stepId, { id, url: shownUrl(parts, request, environment, id) }]])),
  );
}

function namesIn({ runs }: RunsRoutesParts, environment: Environment): RunNames {
  return { environment: environment.name, function: runs.functionName };
}

function note(
  { audit, runs }: RunsRoutesParts,
  request: FastifyRequest,
  action: string,
  { id, functionNo }: RunDetails,
  environment: Environment,
  details = {},
): Promise<void> {
  const target = { kind: "run", id, name: runs.functionName(functionNo).id };
  return audit.note(request, { action: `run.${action}`, target, environment: environment.name, details });
}

function runEnded({ id, status }: RunDetails): RestRefusal {
  return new RestRefusal("run_ended", `The run ${id} has already ended: it is ${status}.`);
}

function stepNotFound({ id }: RunDetails, stepId: string): RestRefusal {
  return new RestRefusal("step_not_found", `The run ${id} has no step ${stepId}.`);
}

/** A page ends with a run, and the next begins after it. */
function after(cursor: string | undefined): { after?: RunId } {
  if (cursor === undefined) return {};
  if (!isEventId(cursor)) throw wrongCursor();
  return { after: cursor as string as RunId };
}
