/** REST: event and signing keys of an environment, API keys of the installation. The text of a key is shown once, when it is created. */

import type { AcceptList, KeyId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type ApiRole, type Environment, KEY_KINDS, type Key, type KeyKind } from "../../store/contract/index.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { checkLists } from "../webhooks/webhook-schemas.ts";
import { type CreateKeyParts, createKey, keyView, noteKey } from "./create-key.ts";
import { CREATE_KEY, KEY, NEW_KEY } from "./key-schemas.ts";
import { checkMayUse, principalOf } from "./principal.ts";
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
      config: { unlimited: true },
      schema: {
        summary: "List valid keys",
        description: "Event and signing keys of the environment, signing keys of every environment, API keys of the installation.",
        querystring: closed({ ...PAGE_PARAMETERS, kind: { type: "string", enum: KEY_KINDS } }),
        response: { 200: pageOf(KEY) },
      },
    },
    async (request) => {
      const { kind } = request.query;
      const environment = environmentOf(parts.access, request);
      const here = (key: Key) => key.environmentId === null || key.environmentId === environment.id;
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
  app.post<{ Body: CreateBody }>("/keys", { config: { unlimited: true, idempotent: "secret" }, schema: create }, async (request, reply) => {
    const { kind, name, role, environments = null, eventNames = null, ips = null } = request.body;
    checkFields(request.body, parts);
    if (role === "owner") checkOwner(request, directory.keys());
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
  app.delete<{ Params: { id: string } }>("/keys/:id", { config: { about: "installation" }, schema: revoke }, async (request) => {
    const id = request.params.id as KeyId;
    if (isLastOfItsUse(directory.keys(), id))
      throw new RestRefusal("key_last", "This is the last key of its kind; create another one before revoking it.");
    if (directory.keys().some((key) => key.id === id && key.role === "owner")) checkOwner(request, directory.keys());
    const revoked = await store.keyRevoke({ id, revokedAt: parts.now() });
    if (!revoked) throw new RestRefusal("key_not_found", `There is no key ${id}, or it is already revoked.`);
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
  const unknown = environments?.find((name) => !directory.environmentNamed(name));
  if (unknown !== undefined) throw invalid("environments", `names "${unknown}", which does not exist`);
  if (role && kind !== "api") throw invalid("role", "belongs to API keys only");
  if (kind !== "event" && eventNames) throw invalid("eventNames", "belongs to event keys only");
  if (kind !== "event" && ips) throw invalid("ips", "belongs to event keys only");
  checkLists({ ...(eventNames && { eventNames }), ...(ips && { ips }) }, isIpRange);
}

/** An admin creates the first owner key; from then on only owners create and revoke owner keys. */
function checkOwner(request: FastifyRequest, keys: Key[]): void {
  if (principalOf(request).role === "owner" || !keys.some(({ role }) => role === "owner")) return;
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
