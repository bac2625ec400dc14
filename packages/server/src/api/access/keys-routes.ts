/** REST: event and signing keys of an environment, API keys of the installation. The text of a key is shown once, when it is created. */

import { type AcceptList, ENVIRONMENT_PATTERN_RULE, isEnvironmentBeginning, isEnvironmentPattern, type KeyId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type ApiRole, type Environment, KEY_KINDS, type Key, type KeyKind } from "../../store/contract/index.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { checkLists } from "../webhooks/webhook-schemas.ts";
import { type CreateKeyParts, createKey, keyView, noteKey } from "./create-key.ts";
import { coverGrant, type Grant, roleEverywhere } from "./grants.ts";
import { CREATE_KEY, KEY, NEW_KEY } from "./key-schemas.ts";
import { checkMayFind, checkMayUse, principalOf, restrictionText } from "./principal.ts";
import { type AccessRules, environmentOf } from "./rest-access.ts";

export interface KeysRoutesParts extends CreateKeyParts {
  access: AccessRules;
  directory: CreateKeyParts["directory"] & {
    environmentNamed(name: string): Environment | undefined;
    keys(): Key[];
  };
  isIpRange(text: string): boolean;
}

interface CreateBody {
  kind: KeyKind;
  name: string;
  environment?: string;
  role?: ApiRole;
  environments?: string[] | null;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
}

export function registerKeysRoutes(app: FastifyInstance, parts: KeysRoutesParts): void {
  const { store, directory } = parts;

  app.get<{ Querystring: { limit: number; cursor?: string; kind?: KeyKind } }>(
    "/keys",
    {
      config: { about: "environment" },
      schema: {
        summary: "List valid keys",
        description:
          "Event and signing keys of the environment; API keys, and signing keys of every environment. A caller who is restricted to environments sees only API keys that are restricted to these.",
        querystring: closed({ ...PAGE_PARAMETERS, kind: { type: "string", enum: KEY_KINDS } }),
        response: { 200: pageOf(KEY) },
      },
    },
    async (request) => {
      const { kind } = request.query;
      const environment = environmentOf(parts.access, request);
      const here = (key: Key) => key.environmentId === environment.id || (key.environmentId === null && isSeen(parts, request, key));
      const all = directory.keys().filter((key) => here(key) && (kind === undefined || key.kind === kind));
      const { items, next } = cutPage(all, ({ createdAt, id }) => ({ rank: createdAt, id }), request.query);
      return { data: items.map((key) => keyView(directory, key)), page: { next } };
    },
  );

  const create = {
    summary: "Create a key",
    body: CREATE_KEY,
    querystring: closed({}),
    response: { 201: dataOf(NEW_KEY) },
    errors: ["environment_not_found"],
  } as const;
  app.post<{ Body: CreateBody }>("/keys", { config: { about: "item", idempotent: "secret" }, schema: create }, async (request, reply) => {
    const { kind, name, role, environments = null, eventNames = null, ips = null } = request.body;
    checkFields(request.body, parts);
    if (kind === "api") checkMayGrant(parts, request, { role: role ?? "admin", environments });
    const environment = kind === "api" ? null : homeOf(parts, request);
    const fields = { kind, name, environment, role: kind === "api" ? (role ?? "admin") : null, environments, eventNames, ips };
    reply.code(201);
    return { data: await createKey(parts, request, fields) };
  });

  const revoke = {
    summary: "Revoke a key",
    description: "It stops working immediately.",
    querystring: closed({}),
    response: { 200: dataOf(KEY) },
    errors: ["key_not_found", "key_last"],
  } as const;
  app.delete<{ Params: { id: string } }>("/keys/:id", { config: { about: "item" }, schema: revoke }, async (request) => {
    const id = request.params.id as KeyId;
    checkMayRevoke(parts, request, id);
    if (isLastOfItsUse(directory.keys(), id))
      throw new RestRefusal("key_last", "This is the last key of its kind; create another one before revoking it.");
    if (directory.keys().some((key) => key.id === id && key.role === "owner")) checkOwner(request, directory.keys());
    const revoked = await store.keyRevoke({ id, revokedAt: parts.now() });
    if (!revoked) throw keyNotFound(id);
    await directory.refresh();
    await noteKey(parts, request, "revoked", revoked);
    return { data: keyView(directory, revoked) };
  });
}

/** The environment of a new event or signing key. The field of the body takes precedence over the header. */
function homeOf({ access, directory }: KeysRoutesParts, request: FastifyRequest<{ Body: CreateBody }>): Environment {
  const { kind, environment: name } = request.body;
  const environment = name === undefined ? environmentOf(access, request) : directory.environmentNamed(name);
  checkMayUse(request, { name: environment?.name ?? name ?? "", kind: environment?.kind ?? "branch" });
  if (!environment) throw new RestRefusal("environment_not_found", `There is no environment "${name}".`);
  if (kind === "signing" && environment.kind === "branch") {
    throw invalid("environment", 'must be "branch": all branch environments share their signing keys');
  }
  return environment;
}

function checkFields(
  { kind, environment, role, environments, eventNames, ips }: CreateBody,
  { directory, isIpRange }: KeysRoutesParts,
): void {
  if (environment !== undefined && kind === "api")
    throw invalid("environment", "belongs to event and signing keys only; API keys have environments");
  if (environments && kind !== "api") throw invalid("environments", "belongs to API keys only");
  const wrong = environments?.find((name) => !isEnvironmentPattern(name));
  if (wrong !== undefined) throw invalid("environments", `has "${wrong}"; each ${ENVIRONMENT_PATTERN_RULE}`);
  const unknown = environments?.find((name) => !isEnvironmentBeginning(name) && !directory.environmentNamed(name));
  if (unknown !== undefined) throw invalid("environments", `names "${unknown}", which does not exist`);
  if (role && kind !== "api") throw invalid("role", "belongs to API keys only");
  if (kind !== "event" && eventNames) throw invalid("eventNames", "belongs to event keys only");
  if (kind !== "event" && ips) throw invalid("ips", "belongs to event keys only");
  checkLists({ ...(eventNames && { eventNames }), ...(ips && { ips }) }, isIpRange);
}

/** A key gives at most the rights of its creator. */
function checkMayGrant(parts: KeysRoutesParts, request: FastifyRequest, grant: Grant): void {
  const principal = principalOf(request);
  const isAdmin = (role: ApiRole | null) => role === "owner" || role === "admin";
  if (isAdmin(roleEverywhere(principal.grants))) {
    if (grant.role === "owner") checkOwner(request, parts.directory.keys());
    return;
  }
  // In none of the environments may the role be the creator's only by another grant that does not allow creating keys.
  const managing = principal.grants.filter(({ role }) => isAdmin(role));
  if (!coverGrant(managing, { ...grant, role: "metrics" }, kindOf(parts)))
    throw new RestRefusal(
      "environment_forbidden",
      `${restrictionText(principal)}; the key would be for ${grant.environments?.join(", ") ?? "every environment"}.`,
    );
  if (!coverGrant(managing, grant, kindOf(parts)))
    throw new RestRefusal("role_forbidden", `Only who has the role ${grant.role} may give it to a key.`);
}

/** A key that the caller may not manage is as unknown as one that does not exist. */
function checkMayRevoke(parts: KeysRoutesParts, request: FastifyRequest, id: KeyId): void {
  const notFound = () => keyNotFound(id);
  const key = parts.directory.keys().find((candidate) => candidate.id === id);
  if (!key) throw notFound();
  const { grants } = principalOf(request);
  if (key.environmentId !== null) return checkMayFind(request, parts.directory.environment(key.environmentId), notFound);
  const everywhere = roleEverywhere(grants);
  if (everywhere === "owner" || everywhere === "admin") return;
  const managing = grants.filter(({ role }) => role === "owner" || role === "admin");
  if (key.role === null || !coverGrant(managing, { role: key.role, environments: key.environments }, kindOf(parts))) throw notFound();
}

/** Whether the caller sees an API key, or a signing key of every environment: only if all of its environments are the caller's. */
function isSeen(parts: KeysRoutesParts, request: FastifyRequest, { environments }: Key): boolean {
  return coverGrant(principalOf(request).grants, { role: "metrics", environments }, kindOf(parts));
}

function kindOf({ directory }: KeysRoutesParts): (name: string) => string {
  return (name) => directory.environmentNamed(name)?.kind ?? "custom";
}

function keyNotFound(id: KeyId): RestRefusal {
  return new RestRefusal("key_not_found", `There is no key ${id}, or it is already revoked.`);
}

/** An admin creates the first owner key; from then on only owners create and revoke owner keys. */
function checkOwner(request: FastifyRequest, keys: Key[]): void {
  if (roleEverywhere(principalOf(request).grants) === "owner" || !keys.some(({ role }) => role === "owner")) return;
  throw new RestRefusal("role_forbidden", "Only an owner may create or revoke an API key with the role owner.");
}

/** Without an admin key no other key could be created. */
function isLastOfItsUse(keys: Key[], id: KeyId): boolean {
  const admins = keys.filter((key) => key.kind === "api" && isFullAdmin(key));
  return admins.length === 1 && admins[0]?.id === id;
}

function isFullAdmin({ role, environments }: Key): boolean {
  return (role === "admin" || role === "owner") && environments === null;
}
