/**
 * Inngest's REST API: bulk cancellations. One cancels the runs of a function that were created in a time range, with an optional
 * expression over the event that started them. The range ends in the past, so runs of later events are not affected.
 */

import { type CancellationId, isEventId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { Cancellation, CancellationStore, Environment, StoreViews } from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { readInstant } from "../instant.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { FOR_PEER } from "./peer-requests.ts";
import { readBody } from "./read-requests.ts";
import { ACCOUNT_ID, environmentUuid, sendData } from "./responses.ts";

export interface PeerFunction {
  /** `<app>-<function>`. */
  id: string;
  uuid: string;
  name: string;
  appUuid: string;
}

export interface PeerCancellationsParts {
  store: CancellationStore;
  views: StoreViews;
  audit: AuditTrail;
  environmentOf(request: FastifyRequest): Environment;
  /** By the app's id and the function's, with or without the app id as a prefix. */
  functionNamed(environment: Environment, app: string, id: string): PeerFunction | null;
  functionWithId(environment: Environment, id: string): PeerFunction | null;
  /** The fault of an expression, or null. */
  expressionFault(text: string): string | null;
  /** Stores it, and processes it until every run has been handled. */
  cancelMany(cancellation: Cancellation): Promise<void>;
  newId(): string;
  now(): number;
}

/** Tolerance for clients whose clock is ahead. */
const CLOCK_MS = 5_000;

export function registerPeerCancellations(app: FastifyInstance, parts: PeerCancellationsParts): void {
  const { store, views, audit, environmentOf, now } = parts;
  const note = (request: FastifyRequest, action: string, { id, functionId }: Cancellation, environment: Environment) =>
    audit.note(request, {
      action: `cancellation.${action}`,
      target: { kind: "cancellation", id, name: functionId },
      environment: environment.name,
    });

  app.post("/v1/cancellations", { constraints: FOR_PEER }, async (request, reply) => {
    const environment = environmentOf(request);
    const cancellation = readCancellation(parts, environment, readBody(request.body));
    await parts.cancelMany(cancellation);
    await note(request, "created", cancellation, environment);
    return sendData(reply, now(), JSON.stringify(view(parts, environment, cancellation)));
  });

  app.get("/v1/cancellations", { constraints: FOR_PEER }, async (request, reply) => {
    const environment = environmentOf(request);
    const all = await views.cancellationList({ environmentId: environment.id });
    return sendData(reply, now(), JSON.stringify(all.map((one) => view(parts, environment, one))));
  });

  app.delete<{ Params: { id: string } }>("/v1/cancellations/:id", { constraints: FOR_PEER }, async (request, reply) => {
    const environment = environmentOf(request);
    const id = request.params.id.toUpperCase();
    if (!isEventId(id)) throw invalid("cancellation id", `"${request.params.id}" is not a ULID`);
    const deleted = await store.cancellationDelete({ environmentId: environment.id, id: id as string as CancellationId });
    if (!deleted) throw new RestRefusal("cancellation_not_found", "Cancellation not found");
    await note(request, "deleted", deleted, environment);
    return sendData(reply, now(), '{"ok":true}');
  });
}

function readCancellation(parts: PeerCancellationsParts, environment: Environment, body: Record<string, unknown>): Cancellation {
  const text = (field: string) => {
    const value = body[field];
    if (typeof value !== "string" || value === "") throw invalid(field, "is required");
    return value;
  };
  const known = parts.functionNamed(environment, text("app_id"), text("function_id"));
  const startedBefore = readInstant("started_before", text("started_before"));
  const startedAfter = body.started_after == null ? null : readInstant("started_after", text("started_after"));
  const expression = body.if == null || body.if === "" ? null : text("if");
  if (startedBefore > parts.now() + CLOCK_MS) throw invalid("started_before", "must be in the past");
  if (startedAfter !== null && startedAfter > startedBefore) throw invalid("started_after", "must be before started_before");
  const fault = expression === null ? null : parts.expressionFault(expression);
  if (fault !== null) throw invalid("if", `is not a valid expression: ${fault}`);
  if (!known) throw new RestRefusal("function_not_found", "function not found");
  const id = parts.newId() as CancellationId;
  const createdAt = parts.now();
  return { id, environmentId: environment.id, functionId: known.id, startedAfter, startedBefore, expression, createdAt, endedAt: null };
}

function view({ functionWithId }: PeerCancellationsParts, environment: Environment, cancellation: Cancellation): object {
  const { id, functionId, startedAfter, startedBefore, expression, createdAt } = cancellation;
  const known = functionWithId(environment, functionId);
  return {
    id,
    name: null,
    created_at: iso(createdAt),
    account_id: ACCOUNT_ID,
    environment_id: environmentUuid(environment.id),
    app_id: known?.appUuid ?? null,
    function_internal_id: known?.uuid ?? null,
    function_id: functionId,
    started_after: startedAfter === null ? null : iso(startedAfter),
    started_before: iso(startedBefore),
    ...(expression !== null && { if: expression }),
    kind: "bulk_run",
    cause: "api",
  };
}
