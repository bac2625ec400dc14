/** REST: declared schemas of event types, their versions, and differences between these and the inferred shape. */

import { type EnvironmentId, eventNameFault } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  databaseOf,
  type Environment,
  type EventSchema,
  type EventSchemaStore,
  type EventTypeStore,
  SCHEMA_MODES,
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
import { BOOLEAN, dataOf, INSTANT, INSTANT_OR_NULL, INTEGER, listOf, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import type { DeclaredParts } from "./declared-view.ts";

export interface EventSchemaRoutesParts extends DeclaredParts {
  access: AccessRules;
  audit: AuditTrail;
  store: EventSchemaStore & EventTypeStore & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  now: () => number;
}

const SCHEMAS_MAX = 1_000;
const MODE = { type: "string", enum: SCHEMA_MODES } as const;
const SCHEMA = { type: ["object", "null"], additionalProperties: true } as const;
const DESCRIPTION_LENGTH_MAX = 2_000;

const DECLARED = shape(
  {
    name: TEXT,
    schema: SCHEMA,
    mode: MODE,
    description: TEXT_OR_NULL,
    version: INTEGER,
    updatedAt: { ...INSTANT_OR_NULL, description: "Null: only its retention is set." },
    faults: { ...INTEGER, description: "Events that did not match, in every mode." },
    retention: RETENTION,
  },
  { title: "EventSchema" },
);
const SETTINGS = shape(
  {
    name: TEXT,
    schema: SCHEMA,
    mode: MODE,
    description: TEXT_OR_NULL,
    version: INTEGER,
    faults: INTEGER,
    retention: RETENTION,
  },
  { title: "EventTypeSettings" },
);
const VERSION = shape({ version: INTEGER, schema: SCHEMA, createdAt: INSTANT }, { title: "EventSchemaVersion" });
const FIELD = { anyOf: [shape({ types: listOf(TEXT), required: BOOLEAN }), { type: "null" }] } as const;
const COMPARISON = shape(
  {
    from: TEXT,
    to: TEXT,
    changes: listOf(shape({ path: TEXT, change: { type: "string", enum: ["added", "removed", "changed"] }, from: FIELD, to: FIELD })),
  },
  { title: "EventTypeComparison" },
);
const CHECK = shape(
  {
    mode: { ...MODE, type: ["string", "null"], enum: [...SCHEMA_MODES, null], description: "Null: no schema is declared." },
    valid: BOOLEAN,
    errors: listOf(shape({ path: TEXT, message: TEXT })),
  },
  { title: "EventSchemaCheck" },
);
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
  response: { 200: dataOf(SETTINGS) },
} as const;
const SIDE = { type: "string", pattern: "^(\\d{1,9}|shape)$" } as const;

type Named = { Params: { name: string } };

export function registerEventSchemaRoutes(app: FastifyInstance, parts: EventSchemaRoutesParts): void {
  const { access, audit, store, catalogue, now } = parts;
  const config = { about: "environment", ingest: true } as const;

  function scoped(request: FastifyRequest): { environment: Environment; scope: EnvironmentId } {
    const environment = environmentOf(access, request);
    return { environment, scope: catalogue.scopeOf(environment.id) };
  }

  /** Every name with settings, by name. */
  async function settingsOf(scope: EnvironmentId) {
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

  const list = {
    summary: "List event types that have settings",
    querystring: closed(PAGE_PARAMETERS),
    response: { 200: pageOf(DECLARED) },
  };
  app.get<{ Querystring: PageQuery }>("/event-schemas", { config, schema: list }, async (request) => {
    const { scope } = scoped(request);
    await catalogue.flush();
    const { items, next } = cutPage([...(await settingsOf(scope)).entries()], ([index]) => ({ rank: -index }), request.query);
    return { data: items.map(([, one]) => one), page: { next } };
  });

  app.put<Named & { Body: PutBody }>("/event-types/:name", { config, schema: PUT }, async (request) => {
    const { environment, scope } = scoped(request);
    const shared = access.directory.environments().find(({ id }) => id === scope);
    if (shared) checkMayUse(request, shared);
    const { name } = request.params;
    const fault = name.includes("*") ? "must be the whole name of an event, without *" : eventNameFault(name);
    if (fault) throw invalid("name", fault);
    const { schema, mode, description, retention } = request.body;
    const retentionMs = readRetention("retention", retention);
    await checkMayDiscard(parts, request, { environmentId: scope, name });
    if (schema !== undefined && schema !== null) await checkSchema(parts, scope, name, schema);
    const change = {
      ...(schema !== undefined && { schema: schema && JSON.stringify(schema) }),
      ...(mode !== undefined && { mode }),
      ...(description !== undefined && { description }),
    };
    const key = { environmentId: scope, name };
    if (Object.keys(change).length > 0) {
      await store.eventSchemaPut({ ...key, ...change, now: now() });
      await catalogue.refresh();
    }
    const settings = await store.eventTypeSettingsPut({ ...key, ...(retentionMs !== undefined && { retentionMs }) });
    const data = settingsView(name, await store.eventSchemaGet(key), writeRetention(settings.retentionMs));
    const details = { mode: data.mode, version: data.version, retention: data.retention };
    const target = { kind: "event-type", id: name, name };
    await audit.note(request, { action: "event-type.updated", target, environment: environment.name, details });
    return { data };
  });

  const versions = {
    summary: "List the schemas an event type had",
    description: "Newest first, at most 100.",
    querystring: closed(PAGE_PARAMETERS),
    response: { 200: pageOf(VERSION) },
  };
  app.get<Named & { Querystring: PageQuery }>("/event-types/:name/versions", { config, schema: versions }, async (request) => {
    const { scope } = scoped(request);
    const found = await store.eventSchemaVersions({ environmentId: scope, name: request.params.name });
    const { items, next } = cutPage(found, ({ version }) => ({ rank: version }), request.query);
    const view = items.map(({ version, schema, createdAt }) => ({ version, schema: parsed(schema), createdAt: iso(createdAt) }));
    return { data: view, page: { next } };
  });

  const compare = {
    summary: "Compare two versions of an event type",
    description: "Each is the number of a declared version, or `shape` for what traffic shows.",
    querystring: closed({ from: SIDE, to: SIDE }, ["from", "to"]),
    response: { 200: dataOf(COMPARISON) },
    errors: ["event_schema_not_found"],
  } as const;
  app.get<Named & { Querystring: { from: string; to: string } }>(
    "/event-types/:name/compare",
    { config, schema: compare },
    async (request) => {
      const { environment, scope } = scoped(request);
      const { from, to } = request.query;
      const found = await store.eventSchemaVersions({ environmentId: scope, name: request.params.name });
      const side = async (wanted: string) => {
        if (wanted === "shape") return { shape: await parts.shapes.get(environment.id, request.params.name) };
        const version = found.find((candidate) => String(candidate.version) === wanted);
        if (!version) throw new RestRefusal("event_schema_not_found", `"${request.params.name}" has no schema version ${wanted}.`);
        return { schema: parsed(version.schema) };
      };
      return { data: { from, to, changes: parts.compareShapes(await side(from), await side(to)) } };
    },
  );

  const check = {
    summary: "Check data against the schema of an event type",
    description: "Stores and counts nothing.",
    body: closed({ data: { type: "object", additionalProperties: true } }, ["data"]),
    querystring: closed({}),
    response: { 200: dataOf(CHECK) },
  } as const;
  app.post<Named & { Body: { data: object } }>("/event-types/:name/check", { config, schema: check }, async (request) => {
    const { environment } = scoped(request);
    const check = catalogue.check(environment.id, { name: request.params.name, data: JSON.stringify(request.body.data) });
    return { data: check ?? { mode: null, valid: true, errors: [] } };
  });
}

interface PutBody {
  schema?: object | null;
  mode?: SchemaMode;
  description?: string | null;
  retention?: string | null;
}

/** Refusing events and removing old ones loses data: that takes more than the right to manage webhooks. */
async function checkMayDiscard(
  { store, access }: EventSchemaRoutesParts,
  request: FastifyRequest,
  key: { environmentId: EnvironmentId; name: string },
): Promise<void> {
  const environment = access.directory.environment(key.environmentId);
  if (environment && callerRole(request, environment) !== "ingest-admin") return;
  const { schema, mode, retention } = request.body as PutBody;
  const known = await store.eventSchemaGet(key);
  const refuses = (mode ?? known?.mode) === "refuse" && (mode !== undefined || schema !== undefined);
  if (retention === undefined && !refuses) return;
  throw new RestRefusal("role_forbidden", "The role ingest-admin does not allow retention or the mode refuse; these need the role admin.");
}

async function checkSchema(
  { catalogue, store }: EventSchemaRoutesParts,
  scope: EnvironmentId,
  name: string,
  schema: object,
): Promise<void> {
  const fault = catalogue.schemaFault(schema);
  if (fault) throw invalid("schema", fault);
  const others = (await databaseOf(store, scope).store.eventSchemaList()).filter(
    (known) => known.environmentId === scope && known.name !== name,
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

function iso(at: number): string {
  return new Date(at).toISOString();
}
