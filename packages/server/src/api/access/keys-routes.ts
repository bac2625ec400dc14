/** REST: event keys of an environment, API and signing keys of the installation. The text of a key is shown once, when it is created. */

import type { AcceptList, KeyId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { API_ROLES, type ApiRole, type Environment, KEY_KINDS, type Key, type KeyKind, type KeyStore } from "../../store/contract/index.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { ACCEPT_LIST, closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INSTANT_OR_NULL, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { checkLists } from "../webhooks/webhook-schemas.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { principalOf } from "./principal.ts";
import { type AccessRules, environmentOf } from "./rest-access.ts";

export interface KeysRoutesParts {
  audit: AuditTrail;
  access: AccessRules;
  store: KeyStore;
  directory: {
    environmentNamed(name: string): Environment | undefined;
    keys(): Key[];
    environment(id: NonNullable<Key["environmentId"]>): Environment | undefined;
    refresh(): Promise<void>;
  };
  issueKey(kind: KeyKind): { text: string; key: Pick<Key, "id" | "hash" | "prefix" | "secret"> };
  isIpRange(text: string): boolean;
  now: () => number;
}

interface CreateBody {
  kind: KeyKind;
  name: string;
  role?: ApiRole;
  environments?: string[] | null;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
}

const CREATE = closed(
  {
    kind: { type: "string", enum: KEY_KINDS },
    name: { type: "string", minLength: 1, maxLength: 128, pattern: "^[^\\u0000]*$" },
    role: { type: "string", enum: API_ROLES, description: "API keys only; default admin." },
    environments: {
      type: ["array", "null"],
      minItems: 1,
      maxItems: 1000,
      uniqueItems: true,
      items: { type: "string" },
      description: "API keys only: the environments it is restricted to; `branch` stands for every branch environment. Null: all.",
    },
    eventNames: ACCEPT_LIST,
    ips: ACCEPT_LIST,
  },
  ["kind", "name"],
);

const KEY_FIELDS = {
  id: TEXT,
  kind: { type: "string", enum: KEY_KINDS },
  name: TEXT,
  prefix: { type: "string", description: "Its first characters, which identify it to people." },
  environment: { ...TEXT_OR_NULL, description: "Event keys only." },
  eventNames: ACCEPT_LIST,
  ips: ACCEPT_LIST,
  role: { type: "string", enum: API_ROLES, description: "API keys only." },
  environments: {
    type: ["array", "null"],
    items: TEXT,
    description: "API keys only: the environments it is restricted to, or null for all.",
  },
  createdAt: INSTANT,
  revokedAt: INSTANT_OR_NULL,
};
const SOME_KINDS_ONLY = ["environment", "eventNames", "ips", "role", "environments"];
const KEY = shape(KEY_FIELDS, { optional: SOME_KINDS_ONLY, title: "Key" });
const NEW_KEY = shape(
  { ...KEY_FIELDS, key: { type: "string", description: "The key itself, shown only now." } },
  { optional: SOME_KINDS_ONLY, title: "NewKey" },
);

export function registerKeysRoutes(app: FastifyInstance, parts: KeysRoutesParts): void {
  const { store, directory } = parts;
  const environmentName = (key: Key) => (key.environmentId === null ? null : (directory.environment(key.environmentId)?.name ?? null));

  const note = (request: FastifyRequest, action: string, key: Key) => {
    const { id, name, kind, prefix, role, environments } = key;
    const details = { kind, prefix, ...(kind === "api" && { role, environments }) };
    return parts.audit.note(request, {
      action: `key.${action}`,
      target: { kind: "key", id, name },
      environment: environmentName(key),
      details,
    });
  };

  app.get<{ Querystring: { limit: number; cursor?: string; kind?: KeyKind } }>(
    "/keys",
    {
      config: { unlimited: true },
      schema: {
        summary: "List valid keys",
        description: "Event keys of the environment, API and signing keys of the installation.",
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
      return { data: items.map((key) => view(key, environmentName(key))), page: { next } };
    },
  );

  const create = { summary: "Create a key", body: CREATE, querystring: closed({}), response: { 201: dataOf(NEW_KEY) } };
  app.post<{ Body: CreateBody }>("/keys", { config: { unlimited: true, idempotent: "secret" }, schema: create }, async (request, reply) => {
    const { kind, name, role, environments = null, eventNames = null, ips = null } = request.body;
    checkFields(request.body, parts);
    if (role === "owner") checkOwner(request, directory.keys());
    const issued = parts.issueKey(kind);
    const environmentId = kind === "event" ? environmentOf(parts.access, request).id : null;
    const created = await store.keyInsert({
      ...issued.key,
      kind,
      name,
      environmentId,
      role: kind === "api" ? (role ?? "admin") : null,
      environments,
      eventNames,
      ips,
      createdAt: parts.now(),
    });
    if (!created) throw new Error("a generated key was not new");
    await directory.refresh();
    await note(request, "created", created);
    reply.code(201);
    return { data: { ...view(created, environmentName(created)), key: issued.text } };
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
    await note(request, "revoked", revoked);
    return { data: view(revoked, environmentName(revoked)) };
  });
}

function checkFields({ kind, role, environments, eventNames, ips }: CreateBody, { directory, isIpRange }: KeysRoutesParts): void {
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

/** Without an admin key no other key could be created; without a signing key calls could not be signed. */
function isLastOfItsUse(keys: Key[], id: KeyId): boolean {
  const key = keys.find((candidate) => candidate.id === id);
  if (!key || key.kind === "event" || (key.kind === "api" && !isFullAdmin(key))) return false;
  return keys.filter((other) => other.kind === key.kind && (other.kind === "signing" || isFullAdmin(other))).length === 1;
}

function isFullAdmin({ role, environments }: Key): boolean {
  return (role === "admin" || role === "owner") && environments === null;
}

function view(key: Key, environment: string | null) {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    prefix: key.prefix,
    ...(key.kind === "event" && { environment, eventNames: key.eventNames, ips: key.ips }),
    ...(key.kind === "api" && { role: key.role, environments: key.environments }),
    createdAt: new Date(key.createdAt).toISOString(),
    revokedAt: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  };
}
