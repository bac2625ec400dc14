/** Inngest's REST API: apps and functions, and invoking one. Version 1 lists functions only; the rest is version 2. */

import { jsonMembers, type RunId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { Environment } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { type PeerApp, type PeerAppFunction, secondApp, secondFunction } from "./app-shapes.ts";
import type { PeerFunction } from "./cancellations-routes.ts";
import { FOR_PEER } from "./peer-requests.ts";
import { type Query, queryText, readBody, readLimit } from "./read-requests.ts";
import { environmentUuid, sendData } from "./responses.ts";

export interface PeerAppsParts {
  audit: AuditTrail;
  environmentOf(request: FastifyRequest): Environment;
  apps(environment: Environment): PeerApp[];
  functions(environment: Environment): PeerAppFunction[];
  functionNamed(environment: Environment, app: string, id: string): PeerFunction | null;
  /** Starts a run with this data, JSON text of an object. */
  invoke(environment: Environment, functionId: string, data: string, idempotencyKey: string | null): Promise<Invoked>;
  now(): number;
}

/** `repeated`: the key was used before, and started this run. `held`: the function's rules about starts prevent a start now. */
export type Invoked = { kind: "started" | "repeated"; runId: RunId } | { kind: "held"; rule: string };

type InApp = { Params: { app: string } };
type OneFunction = { Params: { app: string; fn: string } };

const KEY_UNITS_MAX = 256;
const SECOND = ["/v2", "/api/v2"];

export function registerPeerApps(app: FastifyInstance, parts: PeerAppsParts): void {
  const { environmentOf, now } = parts;

  app.get<InApp>("/v1/apps/:app/functions", { constraints: FOR_PEER }, async (request, reply) => {
    const environment = environmentOf(request);
    const known = functionsOf(parts, environment, request.params.app);
    return reply.type("application/json").send(JSON.stringify(known.map((one) => firstFunction(environment, one))));
  });

  for (const prefix of ["/v1", ...SECOND]) {
    // Clients of our own API use an API key: this path has the peer's shape only with a signing key.
    app.get<{ Querystring: Query }>(`${prefix}/apps`, { constraints: FOR_PEER }, async (request, reply) => {
      const known = parts.apps(environmentOf(request));
      return sendPage(reply, now(), known, ({ app: { no } }) => no, request.query, secondApp);
    });
    app.post<OneFunction>(`${prefix}/apps/:app/functions/:fn/invoke`, { constraints: FOR_PEER }, (request, reply) =>
      invoke(parts, request, reply),
    );
  }

  for (const prefix of SECOND) {
    app.get<InApp>(`${prefix}/apps/:app`, { constraints: FOR_PEER }, async (request, reply) => {
      const known = parts.apps(environmentOf(request)).find(({ app: { name } }) => name === request.params.app);
      if (!known) throw new RestRefusal("app_not_found", "App not found");
      return sendData(reply, now(), JSON.stringify(secondApp(known)));
    });
    app.get<InApp & { Querystring: Query }>(`${prefix}/apps/:app/functions`, { constraints: FOR_PEER }, async (request, reply) => {
      const known = functionsOf(parts, environmentOf(request), request.params.app);
      return sendPage(reply, now(), known, ({ stored: { no } }) => no, request.query, secondFunction);
    });
    app.get<OneFunction>(`${prefix}/apps/:app/functions/:fn`, { constraints: FOR_PEER }, async (request, reply) => {
      const environment = environmentOf(request);
      const { id } = find(parts, environment, request);
      const known = parts.functions(environment).find(({ stored }) => stored.id === id) as PeerAppFunction;
      return sendData(reply, now(), JSON.stringify(secondFunction(known)));
    });
  }
}

async function invoke(parts: PeerAppsParts, request: FastifyRequest<OneFunction>, reply: FastifyReply): Promise<FastifyReply> {
  const environment = parts.environmentOf(request);
  const body = readBody(request.body);
  const { id } = find(parts, environment, request);
  const { idempotencyKey = null, data } = body;
  if (typeof data !== "object" || data === null || Array.isArray(data)) throw invalid("data", "is required, and must be an object");
  if (idempotencyKey !== null && (typeof idempotencyKey !== "string" || idempotencyKey === "" || idempotencyKey.length > KEY_UNITS_MAX))
    throw invalid("idempotencyKey", `must be a text of 1 to ${KEY_UNITS_MAX} characters`);
  const outcome = await parts.invoke(environment, id, dataText(request.body as string), idempotencyKey);
  if (outcome.kind === "held")
    throw new RestRefusal("function_not_started", `The invocation was accepted, but its ${outcome.rule} starts no run now.`);
  if (outcome.kind === "repeated")
    throw new RestRefusal("invocation_repeated", `This idempotency key was used before, by the run ${outcome.runId}.`);
  const target = { kind: "run", id: outcome.runId, name: id };
  await parts.audit.note(request, { action: "function.invoked", target, environment: environment.name });
  return sendData(reply, parts.now(), JSON.stringify({ runId: outcome.runId, run_id: outcome.runId, queuedAt: iso(parts.now()) }));
}

function find(parts: PeerAppsParts, environment: Environment, request: FastifyRequest<OneFunction>): PeerFunction {
  const known = parts.functionNamed(environment, request.params.app, request.params.fn);
  if (!known) throw new RestRefusal("function_not_found", "Function not found");
  return known;
}

function functionsOf(parts: PeerAppsParts, environment: Environment, app: string): PeerAppFunction[] {
  return parts.functions(environment).filter((known) => known.app.name === app);
}

/** The caller's own text: numbers keep their digits. */
function dataText(body: string): string {
  const member = jsonMembers(body.trim()).findLast(({ key }) => key === "data");
  return member ? body.trim().slice(member.start, member.end).trim() : "{}";
}

function sendPage<Item>(
  reply: FastifyReply,
  now: number,
  items: Item[],
  rank: (item: Item) => number,
  query: Query,
  view: (item: Item) => object,
): FastifyReply {
  const limit = readLimit(query);
  const cursor = queryText(query, "cursor");
  const page = cutPage(items, (item) => ({ rank: rank(item) }), { limit, ...(cursor !== null && { cursor }) });
  const shown = { ...(page.next !== null && { cursor: page.next }), hasMore: page.next !== null, limit };
  return sendData(reply, now, JSON.stringify(page.items.map(view)), shown);
}

function firstFunction(environment: Environment, { stored, app, uuid, appUuid, config }: PeerAppFunction): object {
  return {
    internal_id: uuid,
    env_id: environmentUuid(environment.id),
    app_id: appUuid,
    id: stored.id,
    name: stored.name,
    config,
    created_at: iso(stored.createdAt),
    archived_at: null,
    app_name: app.name,
  };
}
