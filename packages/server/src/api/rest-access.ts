/** Who may call the REST API, and which environment a call is about. */

import { environmentNamed } from "@inlet/protocol";
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import type { ApiRole, Environment, Key } from "../store/contract/index.ts";
import { checkMayUse, DEV_PRINCIPAL, type Principal, principalOf } from "./principal.ts";
import { RestRefusal } from "./rest-errors.ts";

export interface ApiDirectory {
  environmentNamed(name: string): Environment | undefined;
  key(kind: "api", text: string): Key | null;
  /** Whether a key was not revoked. */
  keyWorks(id: Key["id"]): boolean;
}

export interface AccessRules {
  directory: ApiDirectory;
  /** A dev server asks nobody for a key. */
  open: boolean;
  defaultEnvironment: string;
}

const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export function registerAccess(app: FastifyInstance, rules: AccessRules): void {
  app.decorateRequest("principal", null);
  app.addHook("onRequest", async (request) => {
    const { config } = request.routeOptions;
    if (config.about === "anyone") return;
    const principal = rules.open ? DEV_PRINCIPAL : principalWithKey(rules.directory, request.headers.authorization);
    request.principal = principal;
    checkRole(principal.role, request.method, config);
    checkLimits(rules, request, config);
  });
}

/** The environment named by the header, or the default one. Archived ones can still be read. */
export function environmentOf({ directory, defaultEnvironment }: AccessRules, request: FastifyRequest): Environment {
  const name = environmentNamed(request.headers) ?? defaultEnvironment;
  const environment = directory.environmentNamed(name);
  if (!environment) throw new RestRefusal("environment_not_found", `There is no environment "${name}".`);
  checkMayUse(request, environment);
  return environment;
}

function principalWithKey(directory: ApiDirectory, authorization: string | undefined): Principal {
  const text = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (!text) throw new RestRefusal("api_key_missing", "The header Authorization: Bearer <API key> is missing.");
  const key = directory.key("api", text);
  if (!key) throw new RestRefusal("api_key_invalid", "This API key is unknown or was revoked.");
  const { id, name, role, environments } = key;
  return { kind: "api-key", id, name, role: role ?? "read", environments, isValid: () => directory.keyWorks(id) };
}

function checkRole(role: ApiRole, method: string, { ingest = false }: FastifyContextConfig): void {
  if (role === "admin" || (role === "read" && READING_METHODS.has(method)) || (role === "ingest-admin" && ingest)) return;
  const allowed = role === "read" ? "GET requests only" : "webhooks, transforms and reading events only";
  throw new RestRefusal("role_forbidden", `This API key has the role ${role}, which allows ${allowed}.`);
}

/** What concerns the whole installation is not for keys that are limited to some of it. */
function checkLimits(rules: AccessRules, request: FastifyRequest, { about = "environment", unlimited }: FastifyContextConfig): void {
  const { environments } = principalOf(request);
  if (environments === null) return;
  if (unlimited ?? about === "installation") {
    throw new RestRefusal(
      "environment_forbidden",
      `This API key is limited to ${environments.join(", ")}; the call concerns the whole installation.`,
    );
  }
  if (about === "environment") environmentOf(rules, request);
}
