/** Inngest's REST API: runs, their jobs, and cancelling one. */

import type { FunctionNo } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Environment, RunDetails, RunEnd, RunStatus, RunStore, RunSummary, StoreViews } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { RestRefusal } from "../rest-errors.ts";
import { findEvent } from "./events-routes.ts";
import { FOR_PEER } from "./peer-requests.ts";
import { readEventId, readRunId } from "./read-requests.ts";
import { environmentUuid, sendData } from "./responses.ts";

export interface PeerRunsParts {
  store: RunStore;
  views: StoreViews;
  audit: AuditTrail;
  environmentOf(request: FastifyRequest): Environment;
  functionOf(no: FunctionNo): { id: string; uuid: string };
  /** False if the run has already ended. */
  cancel(run: RunDetails): Promise<boolean>;
  now(): number;
}

/** An event starts each function once, so there are rarely more. */
const RUNS_MAX = 1_000;
/** Of a list. Beyond it, runs are listed without their outputs, which `/v1/runs/{id}` returns. */
const OUTPUT_UNITS_MAX = 16 * 1024 * 1024;
const PAGE_RUNS = 100;
const STATUSES: Readonly<Partial<Record<RunStatus, string>>> = { completed: "Completed", failed: "Failed", cancelled: "Cancelled" };

type ById = { Params: { id: string } };

export function registerPeerRuns(app: FastifyInstance, parts: PeerRunsParts): void {
  const { store, views, audit, environmentOf, now } = parts;

  async function find(
    request: FastifyRequest<ById>,
    from: Pick<StoreViews, "runGet">,
  ): Promise<{ environment: Environment; run: RunDetails }> {
    const environment = environmentOf(request);
    const run = await from.runGet({ environmentId: environment.id, id: readRunId(request.params.id) });
    if (!run) throw new RestRefusal("run_not_found", `Unable to load function run: ${request.params.id}`);
    return { environment, run };
  }

  app.get<ById>("/v1/events/:id/runs", { constraints: FOR_PEER }, async (request, reply) => {
    const environment = environmentOf(request);
    const event = await findEvent(views, environment, readEventId(request.params.id));
    const runs = await runsOfEvent(views, environment, event.id);
    const texts: string[] = [];
    let units = 0;
    for (const run of runs) {
      const end = units > OUTPUT_UNITS_MAX ? null : await store.runEnd({ environmentId: environment.id, runNo: run.no });
      const text = runText(parts, run, end);
      units += text.length;
      texts.push(text);
    }
    return sendData(reply, now(), `[${texts.join(",")}]`);
  });

  app.get<ById>("/v1/runs/:id", { constraints: FOR_PEER }, async (request, reply) => {
    const { run } = await find(request, views);
    return sendData(reply, now(), runText(parts, run, run));
  });

  app.get<ById>("/v1/runs/:id/jobs", { constraints: FOR_PEER }, async (request, reply) => {
    const { run } = await find(request, views);
    return sendData(reply, now(), JSON.stringify(jobsOf(run)));
  });

  app.delete<ById>("/v1/runs/:id", { constraints: FOR_PEER }, async (request, reply) => {
    const { environment, run } = await find(request, store);
    if (!(await parts.cancel(run))) throw new RestRefusal("run_ended", `The run ${run.id} has already ended: it is ${run.status}.`);
    const target = { kind: "run", id: run.id, name: parts.functionOf(run.functionNo).id };
    await audit.note(request, { action: "run.cancelled", target, environment: environment.name });
    return reply.code(200).type("application/json").send("");
  });
}

async function runsOfEvent(views: StoreViews, { id: environmentId }: Environment, eventId: StoredEventId): Promise<RunSummary[]> {
  const runs: RunSummary[] = [];
  let after: RunSummary["id"] | null = null;
  do {
    const page = await views.runList({ environmentId, eventId, limit: PAGE_RUNS, ...(after !== null && { after }) });
    runs.push(...page.runs);
    after = page.next;
  } while (after !== null && runs.length < RUNS_MAX);
  return runs;
}

type StoredEventId = NonNullable<RunSummary["event"]>["id"];

/** JSON text: the output is the function's own. For a failed or cancelled run, it is the error. */
export function runText(
  { functionOf }: Pick<PeerRunsParts, "functionOf">,
  run: RunSummary,
  end: Pick<RunEnd, "output" | "error"> | null,
): string {
  const fields = {
    run_id: run.id,
    run_started_at: new Date(run.createdAt).toISOString(),
    function_id: functionOf(run.functionNo).uuid,
    function_version: 1,
    environment_id: environmentUuid(run.environmentId),
    event_id: run.event?.id ?? null,
    batch_id: null,
    original_run_id: run.originalRunId,
    cron: run.cron,
    status: STATUSES[run.status] ?? "Running",
    ended_at: run.endedAt === null ? null : new Date(run.endedAt).toISOString(),
  };
  const output = end?.error ? JSON.stringify(end.error) : (end?.output ?? "null");
  return `${JSON.stringify(fields).slice(0, -1)},"output":${output}}`;
}

/** The outstanding work of a run, earliest first: a call for each open step, or for the function itself. */
function jobsOf(run: RunDetails): object[] {
  if (run.endedAt !== null) return [];
  const open = run.steps.filter(({ endedAt }) => endedAt === null);
  const jobs = open.map(({ id, kind, attempts, startedAt, until }) => ({ id, kind, attempt: attempts, at: until ?? startedAt }));
  if (jobs.length === 0) jobs.push({ id: run.id as never, kind: "run", attempt: 0, at: run.startedAt ?? run.createdAt });
  return jobs
    .sort((a, b) => a.at - b.at)
    .map(({ id, kind, attempt, at }, position) => ({ JobID: id, at: new Date(at).toISOString(), position, kind, attempt }));
}
