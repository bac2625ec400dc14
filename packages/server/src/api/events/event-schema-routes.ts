/** REST: declared schemas of event types, their versions, and differences between these and the inferred shape. */

import { type EnvironmentId, eventNameFault } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { iso } from "../../observe/run-view.ts";
import {
  databaseOf,
  type Environment,
  type EventSchema,
  type EventSchemaStore,
  type EventTypeStore,
  type SchemaMode,
  type Store,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { callerRole, checkMayUse } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { RETENTION, readRetention, writeRetention } from "../retention-fields.ts";
import { dataOf, pageOf } from "../route-facts.ts";
import { VERSION_OR_SHAPE } from "../text-patterns.ts";
import type { DeclaredParts } from "./declared-view.ts";
import { COMPARISON, DECLARED_SCHEMA, EVENT_TYPE_SETTINGS, MODE, SCHEMA, SCHEMA_CHECK, SCHEMA_VERSION } from "./event-schema-schemas.ts";

export interface EventSchemaRoutesParts extends DeclaredParts {
  access: AccessRules;
  audit: AuditTrail;
  store: EventSchemaStore & EventTypeStore & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  now: () => number;
}

type ListRequest = { Querystring: PageQuery };
type ByName = { Params: { name: string } };
type PutRequest = ByName & { Body: PutBody };
type CompareRequest = ByName & { Querystring: { from: string; to: string } };
type CheckRequest = ByName & { Body: { data: object } };

interface PutBody {
  schema?: object | null;
  mode?: SchemaMode;
  description?: string | null;
  retention?: string | null;
}

const SCHEMAS_MAX = 1_000;
const DESCRIPTION_LENGTH_MAX = 2_000;

const LIST = {
  summary: "List event types that have settings",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(DECLARED_SCHEMA) },
};
const PUT = {
  summary: "Change the settings of an event type: its schema, and how long its events are kept",
  description:
    "Changes the fields given, whether or not such an event was seen. Branch environments share the settings of `branch`. A change takes effect within a second on every node.",
  body: closed({
    schema: { ...SCHEMA, description: "A JSON Schema (draft 2020-12) of `data`; null removes it." },
    mode: { ...MODE, description: "Events that do not match are counted, marked too, or refused." },
    description: { type: ["string", "null"], maxLength: DESCRIPTION_LENGTH_MAX },
    retention: RETENTION,
  }),
  querystring: closed({}),
  response: { 200: dataOf(EVENT_TYPE_SETTINGS) },
} as const;
const SIDE = { type: "string", pattern: VERSION_OR_SHAPE } as const;
const VERSIONS = {
  summary: "List the versions of an event type's schema",
  description: "Newest first, at most 100.",
  querystring: closed(PAGE_PARAMETERS),
  response: { 200: pageOf(SCHEMA_VERSION) },
};
const COMPARE = {
  summary: "Compare two versions of an event type",
  description: "Each is the number of a declared version, or `shape` for what traffic shows.",
  querystring: closed({ from: SIDE, to: SIDE }, ["from", "to"]),
  response: { 200: dataOf(COMPARISON) },
  errors: ["event_schema_not_found"],
} as const;
const CHECK = {
  summary: "Check data against the schema of an event type",
  description: "Stores and counts nothing.",
  body: closed({ data: { type: "object", additionalProperties: true } }, ["data"]),
  querystring: closed({}),
  response: { 200: dataOf(SCHEMA_CHECK) },
} as const;

export function registerEventSchemaRoutes(app: FastifyInstance, parts: EventSchemaRoutesParts): void {
  const config = { about: "environment", ingest: true } as const;
  app.get<ListRequest>("/event-schemas", { config, schema: LIST }, (request) => listSettings(parts, request));
  app.put<PutRequest>("/event-types/:name", { config, schema: PUT }, (request) => putSettings(parts, request));
  app.get<ByName & ListRequest>("/event-types/:name/versions", { config, schema: VERSIONS }, (request) => listVersions(parts, request));
  app.get<CompareRequest>("/event-types/:name/compare", { config, schema: COMPARE }, (request) => compareVersions(parts, request));
  app.post<CheckRequest>("/event-types/:name/check", { config, schema: CHECK }, async (request) => checkData(parts, request));
}

async function listSettings(parts: EventSchemaRoutesParts, request: FastifyRequest<ListRequest>) {
  const { scope } = scopeOf(parts, request);
  await parts.catalogue.flush();
  const settings = await settingsOf(parts, scope);
  const { items, next } = cutPage([...settings.entries()], ([index]) => ({ rank: -index }), request.query);
  return { data: items.map(([, one]) => one), page: { next } };
}

async function putSettings(parts: EventSchemaRoutesParts, request: FastifyRequest<PutRequest>) {
  const { access, audit, store } = parts;
  const { environment, scope } = scopeOf(parts, request);
  const shared = access.directory.environments().find(({ id }) => id === scope);
  if (shared) checkMayUse(request, shared);
  const { name } = request.params;
  const fault = name.includes("*") ? "must be the whole name of an event, without *" : eventNameFault(name);
  if (fault) throw invalid("name", fault);
  const retentionMs = readRetention("retention", request.body.retention);
  const key = { environmentId: scope, name };
  await checkMayDiscard(parts, request, key);
  await parts.catalogue.flush();
  await putSchema(parts, key, request.body);
  const settings = await store.eventTypeSettingsPut({ ...key, ...(retentionMs !== undefined && { retentionMs }) });
  const data = settingsView(name, await store.eventSchemaGet(key), writeRetention(settings.retentionMs));
  const details = { mode: data.mode, version: data.version, retention: data.retention };
  const target = { kind: "event-type", id: name, name };
  await audit.note(request, { action: "event-type.updated", target, environment: environment.name, details });
  return { data };
}

async function listVersions(parts: EventSchemaRoutesParts, request: FastifyRequest<ByName & ListRequest>) {
  const { scope } = scopeOf(parts, request);
  const found = await parts.store.eventSchemaVersions({ environmentId: scope, name: request.params.name });
  const { items, next } = cutPage(found, ({ version }) => ({ rank: version }), request.query);
  const view = items.map(({ version, schema, createdAt }) => ({ version, schema: parsed(schema), createdAt: iso(createdAt) }));
  return { data: view, page: { next } };
}

async function compareVersions(parts: EventSchemaRoutesParts, request: FastifyRequest<CompareRequest>) {
  const { environment, scope } = scopeOf(parts, request);
  const { name } = request.params;
  const { from, to } = request.query;
  const found = await parts.store.eventSchemaVersions({ environmentId: scope, name });
  const side = async (wanted: string) => {
    if (wanted === "shape") return { shape: await parts.shapes.get(environment.id, name) };
    const version = found.find((candidate) => String(candidate.version) === wanted);
    if (!version) throw new RestRefusal("event_schema_not_found", `"${name}" has no schema version ${wanted}.`);
    return { schema: parsed(version.schema) };
  };
  return { data: { from, to, changes: parts.compareShapes(await side(from), await side(to)) } };
}

function checkData(parts: EventSchemaRoutesParts, request: FastifyRequest<CheckRequest>) {
  const { environment } = scopeOf(parts, request);
  const check = parts.catalogue.check(environment.id, { name: request.params.name, data: JSON.stringify(request.body.data) });
  return { data: check ?? { mode: null, valid: true, errors: [] } };
}

/** The environment of the request, and the one whose settings apply to it. */
function scopeOf(
  { access, catalogue }: EventSchemaRoutesParts,
  request: FastifyRequest,
): { environment: Environment; scope: EnvironmentId } {
  const environment = environmentOf(access, request);
  return { environment, scope: catalogue.scopeOf(environment.id) };
}

/** Every name with settings, by name. */
async function settingsOf({ store }: EventSchemaRoutesParts, scope: EnvironmentId) {
  const own = databaseOf(store, scope).store;
  const declared = (await own.eventSchemaList()).filter(({ environmentId }) => environmentId === scope);
  const kept = (await own.eventTypeSettingsList()).filter((one) => one.environmentId === scope && one.retentionMs !== null);
  const retentions = new Map(kept.map(({ name, retentionMs }) => [name, writeRetention(retentionMs)]));
  const schemas = new Map(declared.map((one) => [one.name, one]));
  const names = [...new Set([...schemas.keys(), ...retentions.keys()])].sort();
  return names.map((name) => {
    const schema = schemas.get(name) ?? null;
    return { ...settingsView(name, schema, retentions.get(name) ?? null), updatedAt: schema && iso(schema.updatedAt) };
  });
}

interface EventTypeKey {
  environmentId: EnvironmentId;
  name: string;
}

/** Refusing events and removing old ones loses data: that takes more than the right to manage webhooks. */
async function checkMayDiscard(
  { store, access }: EventSchemaRoutesParts,
  request: FastifyRequest<PutRequest>,
  key: EventTypeKey,
): Promise<void> {
  const environment = access.directory.environment(key.environmentId);
  if (environment && callerRole(request, environment) !== "ingest-admin") return;
  const { schema, mode, retention } = request.body;
  const known = await store.eventSchemaGet(key);
  const refuses = (mode ?? known?.mode) === "refuse" && (mode !== undefined || schema !== undefined);
  if (retention === undefined && !refuses) return;
  throw new RestRefusal("role_forbidden", "The role ingest-admin does not allow retention or the mode refuse; these need the role admin.");
}

async function putSchema(parts: EventSchemaRoutesParts, key: EventTypeKey, { schema, mode, description }: PutBody): Promise<void> {
  if (schema !== undefined && schema !== null) await checkSchema(parts, key, schema);
  const change = {
    ...(schema !== undefined && { schema: schema && JSON.stringify(schema) }),
    ...(mode !== undefined && { mode }),
    ...(description !== undefined && { description }),
  };
  if (Object.keys(change).length === 0) return;
  await parts.store.eventSchemaPut({ ...key, ...change, now: parts.now() });
  await parts.catalogue.refresh();
}

async function checkSchema(
  { catalogue, store }: EventSchemaRoutesParts,
  { environmentId, name }: EventTypeKey,
  schema: object,
): Promise<void> {
  const fault = catalogue.schemaFault(schema);
  if (fault) throw invalid("schema", fault);
  const others = (await databaseOf(store, environmentId).store.eventSchemaList()).filter(
    (known) => known.environmentId === environmentId && known.name !== name,
  );
  if (others.length >= SCHEMAS_MAX) throw invalid("name", `would be more than ${SCHEMAS_MAX} declared event types of one environment`);
}

function settingsView(name: string, declared: EventSchema | null, retention: string | null) {
  const { schema = null, mode = "observe", description = null, version = 0, faults = 0 } = declared ?? {};
  return { name, schema: parsed(schema), mode, description, version, faults, retention };
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
