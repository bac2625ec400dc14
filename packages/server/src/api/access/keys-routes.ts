/** REST: event and signing keys of an environment, API keys of the installation. The text of a key is shown once, when it is created. */

import type { KeyId } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Environment, KEY_KINDS, type Key, type KeyKind } from "../../store/contract/index.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { type CreateKeyParts, createKey, keyView, noteKey } from "./create-key.ts";
import {
  checkFields,
  checkGrant,
  checkMayManage,
  checkOwner,
  type GivenKey,
  isFullAdmin,
  isFullOwner,
  isLastOfItsUse,
  isSeen,
  type KeyRightsParts,
  keyNotFound,
} from "./key-rights.ts";
import { CHANGE_KEY, CREATE_KEY, KEY, NEW_KEY } from "./key-schemas.ts";
import { checkMayFind, checkMayUse } from "./principal.ts";
import { type AccessRules, environmentOf } from "./rest-access.ts";

export interface KeysRoutesParts extends CreateKeyParts {
  access: AccessRules;
  directory: CreateKeyParts["directory"] & KeyRightsParts["directory"];
  isIpRange: KeyRightsParts["isIpRange"];
}

interface CreateBody extends GivenKey {
  name: string;
}

type ChangeBody = Omit<GivenKey, "kind" | "environment"> & { name?: string };

type ById = { Params: { id: string } };

export function registerKeysRoutes(app: FastifyInstance, parts: KeysRoutesParts): void {
  registerReading(app, parts);
  registerCreating(app, parts);
  registerChanging(app, parts);
  registerRevoking(app, parts);
}

function registerReading(app: FastifyInstance, parts: KeysRoutesParts): void {
  const { directory } = parts;

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

  const one = {
    summary: "Get a key",
    querystring: closed({}),
    response: { 200: dataOf(KEY) },
    errors: ["key_not_found"],
  } as const;
  app.get<ById>("/keys/:id", { config: { about: "item" }, schema: one }, async (request) => {
    const id = request.params.id as KeyId;
    const key = directory.keys().find((candidate) => candidate.id === id);
    if (!key) throw keyNotFound(id);
    if (key.environmentId !== null) checkMayFind(request, directory.environment(key.environmentId), () => keyNotFound(id));
    else if (!isSeen(parts, request, key)) throw keyNotFound(id);
    return { data: keyView(directory, key) };
  });
}

function registerCreating(app: FastifyInstance, parts: KeysRoutesParts): void {
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
    if (kind === "api") checkGrant(parts, request, { role: role ?? "admin", environments });
    const environment = kind === "api" ? null : homeOf(parts, request);
    const fields = { kind, name, environment, role: kind === "api" ? (role ?? "admin") : null, environments, eventNames, ips };
    reply.code(201);
    return { data: await createKey(parts, request, fields) };
  });
}

function registerChanging(app: FastifyInstance, parts: KeysRoutesParts): void {
  const { store, directory } = parts;
  const change = {
    summary: "Change what a key allows",
    description:
      "Changes the fields given; the key itself stays the same. Takes effect within a second on every node, also for open streams.",
    body: CHANGE_KEY,
    querystring: closed({}),
    response: { 200: dataOf(KEY) },
    errors: ["key_not_found", "key_last"],
  } as const;
  app.put<ById & { Body: ChangeBody }>("/keys/:id", { config: { about: "item" }, schema: change }, async (request) => {
    const id = request.params.id as KeyId;
    checkMayManage(parts, request, id);
    const key = directory.keys().find((candidate) => candidate.id === id) as Key;
    const changed = { ...key, ...request.body };
    checkFields({ ...request.body, kind: key.kind }, parts);
    if (key.kind === "api") {
      if (isFullOwner(key)) checkOwner(request, directory.keys());
      checkGrant(parts, request, { role: changed.role ?? "admin", environments: changed.environments });
    }
    if (isLastOfItsUse(directory.keys(), id) && !isFullAdmin(changed))
      throw new RestRefusal("key_last", "This is the last key that can manage everything; create another one before changing it.");
    const updated = await store.keyUpdate({ id, changes: request.body });
    if (!updated) throw keyNotFound(id);
    await directory.refresh();
    await noteKey(parts, request, "updated", updated);
    return { data: keyView(directory, updated) };
  });
}

function registerRevoking(app: FastifyInstance, parts: KeysRoutesParts): void {
  const { store, directory } = parts;
  const revoke = {
    summary: "Revoke a key",
    description: "It stops working immediately.",
    querystring: closed({}),
    response: { 200: dataOf(KEY) },
    errors: ["key_not_found", "key_last"],
  } as const;
  app.delete<ById>("/keys/:id", { config: { about: "item" }, schema: revoke }, async (request) => {
    const id = request.params.id as KeyId;
    checkMayManage(parts, request, id);
    if (isLastOfItsUse(directory.keys(), id))
      throw new RestRefusal(
        "key_last",
        "This is the last API key with the role admin or owner for all environments: create another one before revoking it.",
      );
    if (directory.keys().some((key) => key.id === id && isFullOwner(key))) checkOwner(request, directory.keys());
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
