/** The routes for SDKs: registration, detection of a dev server, large state, checkpoints. */

import { environmentNamed, errorBody, isEventId, Refusal, type RunId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { App, Environment, HeaderSet } from "../../store/contract/index.ts";
import type { AttemptBudget } from "../access/attempt-budget.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { DEV_PRINCIPAL, mayUse, type Principal, principalOf } from "../access/principal.ts";
import { requestEnvironment } from "../access/request-environment.ts";
import { type ApiDirectory, principalOfSigningKey } from "../access/rest-access.ts";
import { RestRefusal } from "../rest-errors.ts";
import { SdkAudit } from "./sdk-audit.ts";

export interface SdkRoutesParts {
  isDev: boolean;
  version: string;
  directory: Pick<ApiDirectory, "environments" | "environmentNamed" | "environment" | "signingKeyOf" | "workingKey">;
  defaultEnvironment: string;
  attempts: AttemptBudget;
  audit: AuditTrail;
  sdk: {
    /** Registers an app in an environment that it may use. A missing branch environment is created, but for no registration that is refused. */
    register(registration: {
      principal: Principal;
      /** Null: its own environment, or the default one. */
      environmentName: string | null;
      /** No environment is created. */
      mustExist: boolean;
      headers: HeaderSet;
      body: unknown;
      sdk: string;
      framework: string | null;
      deployId: string | null;
    }): Promise<{ app: App; environment: Environment; modified: boolean } | Refusal>;
    /** JSON text; null if there is no such run in these environments, or it has ended. */
    runEvents(id: RunId, isReachable: IsReachable): Promise<string | null>;
    runSteps(id: RunId, isReachable: IsReachable): Promise<string | null>;
    /** Stores results; otherwise says why not. */
    checkpoint(id: RunId, body: string, isReachable: IsReachable): Promise<Environment | Refusal>;
  };
}

/** Whether a request may reach runs of an environment. */
export type IsReachable = (environment: Environment) => boolean;

const REGISTRATION_BYTES_MAX = 4 * 1024 * 1024;
const CHECKPOINT_BYTES_MAX = 8 * 1024 * 1024;

export function registerSdkRoutes(app: FastifyInstance, parts: SdkRoutesParts): void {
  const audit = new SdkAudit(parts.audit);
  app.register(async (routes) => {
    acceptSdks(routes, parts);

    if (parts.isDev)
      routes.get("/dev", async () => ({ version: parts.version, authed: false, startOpts: {}, functions: [], handlers: [] }));

    routes.post("/fn/register", { bodyLimit: REGISTRATION_BYTES_MAX }, (request, reply) => register(parts, audit, request, reply));

    for (const path of ["/v0/connect/start", "/v0/connect/flush"])
      routes.post(path, (_request, reply) => send(reply, connectUnsupported()));

    routes.get("/v0/runs/:id/batch", (request, reply) => sendState(parts, request, reply, parts.sdk.runEvents));
    routes.get("/v0/runs/:id/actions", (request, reply) => sendState(parts, request, reply, parts.sdk.runSteps));

    for (const prefix of ["/v1/checkpoint", "/v1/http/runs"]) {
      routes.post(`${prefix}/:id/async`, { bodyLimit: CHECKPOINT_BYTES_MAX }, async (request, reply) => {
        const id = runIdOf(request);
        const isReachable = reachableBy(parts, request);
        const outcome = id ? await parts.sdk.checkpoint(id, request.body as string, isReachable) : runUnknown(request);
        if (outcome instanceof Refusal) return send(reply, outcome);
        const target = { kind: "run", id: id as string, name: id as string };
        await audit.note(request, { action: "run.checkpointed", target, environment: outcome.name }, { always: false });
        return { data: {} };
      });
    }
  });
}

async function register(parts: SdkRoutesParts, audit: SdkAudit, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  const header = (name: string) => text(request.headers[name]);
  const headers: HeaderSet = header("x-service-sdk") === null ? "inngest" : "service";
  const refused = wrongKind(parts, header(`x-${headers}-expected-server-kind`));
  if (refused) return send(reply, refused);
  const body = parsed(request.body as string);
  if (body instanceof Refusal) return send(reply, body);
  const { sdk, framework, deployId } = body as { sdk?: unknown; framework?: unknown; deployId?: unknown };
  const deploy = (request.query as { deployId?: string }).deployId ?? (typeof deployId === "string" ? deployId : null);
  const outcome = await parts.sdk.register({
    principal: principalOf(request),
    environmentName: environmentNamed(request.headers),
    mustExist: header("x-service-env-exists") !== null,
    headers,
    body,
    sdk: header(`x-${headers}-sdk`) ?? (typeof sdk === "string" ? sdk : "unknown"),
    framework: typeof framework === "string" ? framework : header(`x-${headers}-framework`),
    deployId: deploy,
  });
  if (outcome instanceof Refusal) return send(reply, outcome);
  const { id, name, url } = outcome.app;
  const note = { action: "app.registered", target: { kind: "app", id, name }, environment: outcome.environment.name, details: { url } };
  await audit.note(request, note, { always: outcome.modified });
  return { ok: true, status: 200, modified: outcome.modified, sync_id: outcome.app.id, app_id: outcome.app.id };
}

async function sendState(
  parts: SdkRoutesParts,
  request: FastifyRequest,
  reply: FastifyReply,
  read: SdkRoutesParts["sdk"]["runSteps"],
): Promise<unknown> {
  const id = runIdOf(request);
  const isReachable = reachableBy(parts, request);
  const state = id && (await read(id, isReachable));
  if (!state)
    return send(reply, new Refusal("run_state_gone", `The run ${(request.params as { id: string }).id} has ended or does not exist.`));
  return reply.type("application/json").send(state);
}

/**
 * A run is known by its id alone: published SDKs do not name its environment when they fetch state or send results. So a key of all
 * branches reaches the runs of every branch here, unless the request names one of them.
 */
function reachableBy(parts: SdkRoutesParts, request: FastifyRequest): IsReachable {
  const principal = principalOf(request);
  if (principal.environments === null) return () => true;
  if (environmentNamed(request.headers) === null) return (environment) => mayUse(principal, environment);
  const { id } = requestEnvironment(parts, request);
  return (environment) => environment.id === id;
}

/** Routes of SDKs know who calls before any of the body is read, and read the body themselves. */
export function acceptSdks(routes: FastifyInstance, parts: Pick<SdkRoutesParts, "isDev" | "directory" | "attempts">): void {
  routes.decorateRequest("principal", null);
  routes.addHook("onRequest", async (request) => {
    request.principal = principalOfSdk(parts, request);
  });
  routes.removeAllContentTypeParsers();
  routes.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
}

/** Outside dev, registrations, results and requests of the peer's API require a signing key. */
export function principalOfSdk(parts: Pick<SdkRoutesParts, "isDev" | "directory" | "attempts">, request: FastifyRequest): Principal {
  if (parts.isDev) return DEV_PRINCIPAL;
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const app = bearer === undefined ? null : principalOfSigningKey(parts.directory, bearer);
  // 128 bits cannot be guessed: a valid key is never delayed by wrong ones from the same address.
  if (bearer !== undefined && !app) parts.attempts.check(request.ip, null);
  if (app) return app;
  throw new RestRefusal(
    "signing_key_invalid",
    "The app's signing key is missing, unknown or revoked: set INLET_SIGNING_KEY (for Inngest's SDKs INNGEST_SIGNING_KEY).",
  );
}

function wrongKind({ isDev }: SdkRoutesParts, expected: string | null): Refusal | null {
  const kind = isDev ? "dev" : "cloud";
  if (expected === null || expected === kind) return null;
  const message = isDev
    ? "This is a dev server, but the app expects one that signs its calls: set INLET_DEV=1 (for Inngest's SDKs INNGEST_DEV=1) in the app."
    : "This server signs its calls, but the app expects a dev server: set INLET_DEV=0 (for Inngest's SDKs INNGEST_DEV=0) and the signing key in the app.";
  return new Refusal("server_kind_wrong", message);
}

function runIdOf(request: FastifyRequest): RunId | null {
  const { id } = request.params as { id: string };
  return isEventId(id) ? (id as string as RunId) : null;
}

function runUnknown(request: FastifyRequest): Refusal {
  return new Refusal("run_not_found", `There is no run ${(request.params as { id: string }).id}.`);
}

function connectUnsupported(): Refusal {
  return new Refusal(
    "connect_unsupported",
    "Workers that connect to the service are not supported: it calls apps over HTTP. Serve the same functions over HTTP (serve() instead of connect()), and sync the app with POST /v1/apps, `inlet apps sync URL` or --app-url.",
  );
}

function parsed(body: string): unknown | Refusal {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Said below.
  }
  return new Refusal("body_invalid", "The body of a registration must be a JSON object.");
}

function send(reply: FastifyReply, refused: Refusal): never {
  return reply.status(refused.status).type("application/json").send(errorBody(refused)) as never;
}

function text(value: string | string[] | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
