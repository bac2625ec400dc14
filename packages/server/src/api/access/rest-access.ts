/**
 * Who may call the REST API, and the environment of each request.
 *
 * A request has an API key, or the cookie of a session. Keys and tokens are looked up by their hash, so that timing reveals nothing
 * about them. Failures with keys are counted per address. Cookies are not: an open dashboard may retry with one that
 * has expired, and 256 random bits cannot be guessed.
 */

import { isDeepStrictEqual } from "node:util";
import { type EnvironmentId, environmentNamed } from "@inlet/protocol";
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import type { Environment, Key } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";
import { cutOffInvalid } from "../streams/cut-off-streams.ts";
import type { AttemptBudget } from "./attempt-budget.ts";
import { environmentsOf, roleEverywhere } from "./grants.ts";
import {
  checkMayFind,
  checkMayUse,
  checkRole,
  DEV_PRINCIPAL,
  holding,
  mayUse,
  type Principal,
  principalOf,
  restrictionText,
  signingPrincipal,
} from "./principal.ts";
import { NO_ENVIRONMENT, requestEnvironment } from "./request-environment.ts";
import { isReading, roleRefusal } from "./roles.ts";
import { originOf } from "./same-origin.ts";
import { type Sessions, sessionToken } from "./sessions.ts";

/** Goes before the cookie. A browser repeats other credentials, such as those for a proxy with basic authentication, on every request. */
const BEARER = /^Bearer(?: |$)/i;

export interface ApiDirectory {
  environments(): Environment[];
  environmentNamed(name: string): Environment | undefined;
  environment(id: EnvironmentId): Environment | undefined;
  key(kind: "api", text: string): Key | null;
  /** The signing key of this bearer token, or null. */
  signingKeyOf(bearer: string): Key | null;
  /** The key with this id, unless it is revoked. */
  workingKey(id: Key["id"]): Key | null;
}

export interface AccessRules {
  directory: ApiDirectory;
  /** A dev server requires no key; pages of other sites are refused before every route. */
  open: boolean;
  publicUrl: string | null;
  attempts: AttemptBudget;
  sessions: Sessions;
  defaultEnvironment: string;
}

export function registerAccess(app: FastifyInstance, rules: AccessRules): void {
  app.decorateRequest("principal", null);
  app.decorateRequest("session", null);
  const watch = cutOffInvalid(app);
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.about === undefined) throw new Error(`the route ${String(method)} ${url} does not declare which environments it is about`);
  });
  app.addHook("onRequest", async (request, reply) => {
    const { config } = request.routeOptions;
    if (config.about === "anyone") return;
    const principal = rules.open ? DEV_PRINCIPAL : await identify(rules, request);
    request.principal = principal;
    watch(principal, reply);
    if (config.about !== "self") checkAccess(rules, request, config);
  });
}

/** The environment of the request, if the caller may use it; `NO_ENVIRONMENT` if it is not clear which one is meant, and nothing is created. */
export function environmentOf(rules: AccessRules, request: FastifyRequest): Environment {
  return requestEnvironment(rules, request);
}

async function identify(rules: AccessRules, request: FastifyRequest): Promise<Principal> {
  const { authorization } = request.headers;
  const token = BEARER.test(authorization ?? "") ? null : sessionToken(rules, request);
  if (token === null) return principalWithKey(rules, request, authorization);
  const living = await rules.sessions.use(token);
  if (!living) throw new RestRefusal("session_missing", "The session has ended. Sign in again.");
  if (!isReading(request.method) && originOf(request, rules.publicUrl) !== "same") throw fromElsewhere();
  request.session = living.session;
  return living.principal;
}

/** The holder of the API key, or of the signing key where the route takes one. */
export function principalWithKey(
  { directory, attempts }: AccessRules,
  request: FastifyRequest,
  authorization: string | undefined,
): Principal {
  const text = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (!text) {
    if (request.routeOptions.config.about === "self") throw new RestRefusal("session_missing", "You are not signed in.");
    throw new RestRefusal("api_key_missing", "The header Authorization: Bearer <API key> is missing.");
  }
  const { signingKey = false } = request.routeOptions.config;
  const signing = signingKey ? principalOfSigningKey(directory, text) : null;
  if (signing) return signing;
  const key = directory.key("api", text);
  attempts.check(request.ip, key?.id ?? null);
  if (!key) throw new RestRefusal("api_key_invalid", "This API key is unknown or was revoked.");
  const { id, name, role, environments } = key;
  const isValid = () => isSameGrant(directory.workingKey(id), key);
  return { kind: "api-key", id, keyId: id, name, ...holding([{ role: role ?? "read", environments }]), isValid };
}

/** Whether the key still works and allows the same: what is open ends with a change of its rights. */
function isSameGrant(now: Key | null, { role, environments }: Key): boolean {
  return now !== null && now.role === role && isDeepStrictEqual(now.environments, environments);
}

/** The app with this bearer token, or null. */
export function principalOfSigningKey(
  directory: Pick<ApiDirectory, "signingKeyOf" | "environment" | "workingKey">,
  bearer: string,
): Principal | null {
  const key = directory.signingKeyOf(bearer);
  if (!key) return null;
  const home = key.environmentId === null ? undefined : directory.environment(key.environmentId);
  return signingPrincipal(key, home, () => directory.workingKey(key.id) !== null);
}

function fromElsewhere(): RestRefusal {
  return new RestRefusal("origin_forbidden", "Pages of other sites cannot make changes here.");
}

/** Where a principal meets the environments that its request is about, as the route declares them. */
function checkAccess(rules: AccessRules, request: FastifyRequest, { about, unrestricted }: FastifyContextConfig): void {
  const principal = principalOf(request);
  const environment = about === "environment" ? environmentOf(rules, request) : null;
  if (environment && environment !== NO_ENVIRONMENT) return checkMayUse(request, environment);
  if (principal.grants.every(({ role }) => roleRefusal(role, request.method, request.routeOptions.config) !== null))
    checkRole(request, principal.role);
  if (environment) return;
  checkNamed(rules, request);
  if (about === "path") {
    const { name = "" } = request.params as { name?: string };
    checkMayFind(request, rules.directory.environmentNamed(name), () => environmentUnknown(name));
  }
  if (about === "installation" || unrestricted) checkEverywhere(request, principal);
}

/** A header that the route does not use must not name an environment out of reach either. */
function checkNamed({ directory }: AccessRules, request: FastifyRequest): void {
  const name = environmentNamed(request.headers);
  const principal = principalOf(request);
  if (name === null || mayUse(principal, { name, kind: directory.environmentNamed(name)?.kind ?? "branch" })) return;
  throw new RestRefusal("environment_forbidden", `${restrictionText(principal)}; the request is for "${name}".`);
}

function checkEverywhere(request: FastifyRequest, principal: Principal): void {
  const role = roleEverywhere(principal.grants);
  if (role !== null) return checkRole(request, role);
  throw new RestRefusal("environment_forbidden", `${restrictionText(principal)}; the request is for the whole installation.`);
}

export function environmentUnknown(name: string): RestRefusal {
  return new RestRefusal("environment_not_found", `There is no environment "${name}". A slash in a name is written %2F in a path.`);
}

/** The environments in which the caller's role allows the request; null: everywhere. */
export function environmentsAllowed(request: FastifyRequest): readonly string[] | null {
  const allowing = principalOf(request).grants.filter(
    ({ role }) => roleRefusal(role, request.method, request.routeOptions.config) === null,
  );
  return environmentsOf(allowing);
}
