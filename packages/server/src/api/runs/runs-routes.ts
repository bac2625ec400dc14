/** REST: runs, their steps, and operations on them. */

import { type EventId, type FunctionNo, isEventId, type JobId, type RunId, type StepId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type RunNames, runDetailsView, runView } from "../../observe/run-view.ts";
import {
  APPROVAL_REQUESTED,
  type ApprovalStore,
  type Environment,
  EVENT_RELATIONS,
  type EventRelation,
  RUN_STATUSES,
  type RunDetails,
  type RunListParams,
  type RunStatus,
  type RunStore,
  type RunSummary,
  type RunWaiting,
  type StoreViews,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { type ApprovalViewParts, shownUrl } from "../approvals/approval-view.ts";
import { seesTokens } from "../approvals/mask-links.ts";
import { readInstant } from "../instant.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { readWhere, WHERE } from "../where.ts";
import { findRun } from "./find-run.ts";
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

export interface RunFilterQuery {
  status?: RunStatus;
  function?: string;
  from?: string;
  to?: string;
  event?: string;
  job?: string;
  run?: string;
  error?: string;
  errorPattern?: string;
  rerun?: boolean;
  where?: string;
}

interface ListQuery extends RunFilterQuery {
  limit: number;
  cursor?: string;
}

const RUN_IDS_MAX = 500;

/** The filters of runs: in the list, and in jobs. */
export const RUN_FILTERS = {
  status: { type: "string", enum: RUN_STATUSES, description: "Runs with this status." },
  function: { type: "string", minLength: 1, description: "Runs of the function with this id." },
  from: { type: "string", description: "Created at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Created before: ISO 8601 or milliseconds." },
  event: { type: "string", minLength: 1, description: "Runs that the event with this id started." },
  job: { type: "string", minLength: 1, description: "Runs that the job with this id started." },
  run: {
    type: "string",
    pattern: `^[0-9A-Za-z]{26}(,[0-9A-Za-z]{26}){0,${RUN_IDS_MAX - 1}}$`,
    description: `The runs with these ids, separated by commas; at most ${RUN_IDS_MAX}.`,
  },
  error: { type: "string", minLength: 1, description: "Text in the name or message of the run's error; ignores case." },
  errorPattern: {
    type: "string",
    minLength: 1,
    description: "Failed runs whose error has this pattern: `error.pattern` of a group in `GET /v1/failures`.",
  },
  rerun: {
    type: "boolean",
    description: "`false`: runs that were not rerun; with `status=failed`, those that still need a repair. `true`: runs that were rerun.",
  },
  where: { ...WHERE, description: `${WHERE.description} The payload is that of the event that started the run.` },
} as const;
const LIST_PARAMETERS = closed({ ...PAGE_PARAMETERS, ...RUN_FILTERS });

const LIST = {
  summary: "List runs",
  description: "Newest first. With `error`, `errorPattern` or `where` a page may be short or empty; continue with `page.next`.",
  querystring: LIST_PARAMETERS,
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
const CANCEL = {
  ...ONE,
  summary: "Cancel a run",
  description: "No further steps start. A call in flight is not aborted.",
  errors: ["run_not_found", "run_ended"],
} as const;
const WAKE = {
  ...ONE,
  summary: "End a sleep early",
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
  const { access, audit, store, views, runs } = parts;
  const names = (environment: Environment): RunNames => ({ environment: environment.name, function: runs.functionName });

  function note(
    request: FastifyRequest,
    action: string,
    { id, functionNo }: RunDetails,
    environment: Environment,
    details = {},
  ): Promise<void> {
    const target = { kind: "run", id, name: runs.functionName(functionNo).id };
    return audit.note(request, { action: `run.${action}`, target, environment: environment.name, details });
  }

  /** In the store itself: the response decides what is written. */
  const find = (request: FastifyRequest) => findRun(parts, request);

  /** Only steps of these kinds have approvals. */
  async function approvalsOf(request: FastifyRequest, { id: runId, steps }: RunDetails, environment: Environment) {
    if (!steps.some(({ kind }) => kind === "approval" || kind === "signal")) return new Map<StepId, { id: string; url: string }>();
    const approvals = await store.approvalsOfRun({ environmentId: environment.id, runId });
    return new Map(
      approvals.flatMap(({ id, stepId }) => (stepId === null ? [] : [[stepId, { id, url: shownUrl(parts, request, environment, id) }]])),
    );
  }

  async function sendRun(request: FastifyRequest, reply: FastifyReply, run: RunDetails, environment: Environment): Promise<string> {
    const waiting = await runs.waiting(run, environment);
    const approvals = await approvalsOf(request, run, environment);
    reply.type("application/json");
    return `{"data":${runDetailsView(run, names(environment), { traceUrl: parts.traceUrl, waiting, approvals })}}`;
  }

  async function list(environment: Environment, params: Omit<RunListParams, "environmentId">) {
    const page = await views.runList({ environmentId: environment.id, ...params });
    return { data: page.runs.map((run) => runView(run, names(environment))), page: { next: page.next } };
  }

  app.get<{ Querystring: ListQuery }>("/runs", { config: { about: "environment" }, schema: LIST }, async (request) => {
    const environment = environmentOf(access, request);
    const page = await list(environment, listParams(parts, environment, request.query));
    if (request.query.where === undefined || seesTokens(access, request)) return page;
    // A search must not find out what is hidden from the reader: the link of the event.
    return { ...page, data: page.data.filter(({ event }) => (event as RunSummary["event"])?.name !== APPROVAL_REQUESTED) };
  });

  app.get<{ Params: { id: string }; Querystring: ListQuery & { relation: EventRelation } }>(
    "/events/:id/runs",
    { config: { about: "environment" }, schema: OF_EVENT },
    async (request) => {
      const environment = environmentOf(access, request);
      const id = request.params.id.toUpperCase() as EventId;
      const event = isEventId(id) ? await views.eventGet({ environmentId: environment.id, id }) : null;
      if (!event) {
        throw new RestRefusal("event_not_found", `There is no event ${request.params.id} in the environment "${environment.name}".`);
      }
      const { limit, cursor, relation: eventRelation } = request.query;
      return list(environment, { limit, ...after(cursor), eventId: id, eventRelation });
    },
  );

  app.get(
    "/runs/:id",
    {
      config: { about: "environment" },
      schema: { ...ONE, summary: "Read a run", description: "With its steps, failed attempts, calls of the app and output." },
    },
    async (request, reply) => {
      const { environment, run } = await findRun({ access, store: views }, request);
      return sendRun(request, reply, run, environment);
    },
  );

  app.post("/runs/:id/cancel", { config: { about: "environment", repair: true }, schema: CANCEL }, async (request, reply) => {
    const { environment, run } = await find(request);
    if (!(await runs.cancel(run))) throw new RestRefusal("run_ended", `The run ${run.id} has already ended: it is ${run.status}.`);
    await note(request, "cancelled", run, environment);
    const cancelled = await find(request);
    return sendRun(request, reply, cancelled.run, environment);
  });

  app.post<{ Params: { id: string; stepId: string } }>(
    "/runs/:id/steps/:stepId/wake",
    { config: { about: "environment", repair: true }, schema: WAKE },
    async (request, reply) => {
      const { environment, run } = await find(request);
      const step = run.steps.find(({ id }) => id === request.params.stepId);
      if (!step) throw new RestRefusal("step_not_found", `The run ${run.id} has no step ${request.params.stepId}.`);
      if (run.endedAt !== null) throw new RestRefusal("run_ended", `The run ${run.id} has already ended: it is ${run.status}.`);
      if (!(await runs.wake(run, step.id))) {
        throw new RestRefusal("step_not_sleeping", `The step "${step.name}" of the run ${run.id} does not sleep.`);
      }
      await note(request, "woken", run, environment, { step: step.name });
      return sendRun(request, reply, (await find(request)).run, environment);
    },
  );

  app.post(
    "/runs/:id/rerun",
    { config: { about: "environment", repair: true, idempotent: "replayed" }, schema: RERUN },
    async (request, reply) => {
      const { environment, run } = await find(request);
      const from = (request.body as { from?: string } | null | undefined)?.from;
      if (from !== undefined && !run.steps.some((step) => step.id === from)) {
        throw new RestRefusal("step_not_found", `The run ${run.id} has no step ${from}.`);
      }
      const id = await runs.rerun(run, from as StepId | undefined);
      const fresh = id && (await store.runGet({ environmentId: environment.id, id }));
      if (!fresh) throw new RestRefusal("run_not_repeatable", "The function or the event of this run no longer exists.");
      await note(request, "repeated", fresh, environment, { originalRunId: run.id, ...(from !== undefined && { from }) });
      reply.status(201);
      return sendRun(request, reply, fresh, environment);
    },
  );
}

function listParams({ runs }: RunsRoutesParts, environment: Environment, query: ListQuery): Omit<RunListParams, "environmentId"> {
  return { limit: query.limit, ...after(query.cursor), ...runFilter(runs, environment, query) };
}

export function runFilter(
  runs: Pick<RunsRoutesParts["runs"], "functionNos">,
  environment: Environment,
  query: RunFilterQuery,
): Omit<RunListParams, "environmentId" | "limit" | "after"> {
  return {
    ...(query.status !== undefined && { status: query.status }),
    ...(query.function !== undefined && { functionNos: runs.functionNos(environment, query.function) }),
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.event !== undefined && { eventId: query.event.toUpperCase() as EventId }),
    ...(query.error !== undefined && { errorText: query.error }),
    ...(query.errorPattern !== undefined && { errorPattern: query.errorPattern }),
    ...(query.rerun !== undefined && { rerun: query.rerun }),
    ...(query.where !== undefined && { where: readWhere(query.where) }),
    ...(query.job !== undefined && { jobId: query.job.toUpperCase() as JobId }),
    ...(query.run !== undefined && { ids: query.run.toUpperCase().split(",") as RunId[] }),
  };
}

/** A page ends with a run, and the next begins after it. */
function after(cursor: string | undefined): { after?: RunId } {
  if (cursor === undefined) return {};
  if (!isEventId(cursor)) throw new RestRefusal("request_invalid", "The cursor is not one that a page of runs ended with.");
  return { after: cursor as string as RunId };
}
