/** The declared schema and the inferred shape of an event type, as its page shows them. */

import type { EnvironmentId } from "@inlet/protocol";
import { iso } from "../../observe/run-view.ts";
import { type EventSchema, type EventSchemaStore, SCHEMA_MODES } from "../../store/contract/index.ts";
import { BOOLEAN, INSTANT, INSTANT_OR_NULL, INTEGER, listOf, NUMBER, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

interface Seen {
  count: number;
  firstSeenAt: number;
  lastSeenAt: number;
}

/** As inferred by the catalogue. */
export interface InferredShape {
  samples: number;
  fields: Readonly<Record<string, Seen & { types: Readonly<Record<string, Seen | undefined>> }>>;
  isTruncated: boolean;
  drift: readonly { kind: string; path: string; type: string; at: number; eventId: string }[];
}

export type Compared = { schema: unknown } | { shape: InferredShape | null };

export interface DeclaredParts {
  store: EventSchemaStore;
  catalogue: {
    scopeOf(environmentId: EnvironmentId): EnvironmentId;
    /** Why a schema cannot be used; null: it can. */
    schemaFault(schema: object): string | null;
    check(environmentId: EnvironmentId, event: { name: string; data: string }): object | null;
    flush(): Promise<void>;
    refresh(): Promise<void>;
  };
  shapes: { catchUp(): Promise<void>; get(environmentId: EnvironmentId, name: string): Promise<InferredShape | null> };
  compareShapes(from: Compared, to: Compared): object[];
}

const SEEN = { count: INTEGER, firstSeenAt: INSTANT, lastSeenAt: INSTANT } as const;

export const DECLARED_FIELDS = {
  schema: { type: ["object", "null"], additionalProperties: true, description: "The declared JSON Schema of `data`." },
  mode: { type: "string", enum: SCHEMA_MODES },
  description: TEXT_OR_NULL,
  version: { ...INTEGER, description: "The version of the schema; 0: none was declared." },
  faults: { ...INTEGER, description: "Events that did not match, in every mode." },
  lastFaultAt: INSTANT_OR_NULL,
  shape: {
    description: "Inferred from traffic; null: no event was seen.",
    anyOf: [
      shape({
        samples: { ...INTEGER, description: "How many events were examined." },
        isTruncated: { ...BOOLEAN, description: "There are more fields than are stored." },
        fields: listOf(
          shape({
            path: { ...TEXT, description: "Such as customer.id or items[].sku." },
            ...SEEN,
            frequency: { ...NUMBER, description: "The fraction of events in which it occurs, from 0 to 1." },
            types: listOf(shape({ type: TEXT, ...SEEN })),
          }),
        ),
      }),
      { type: "null" },
    ],
  },
  drift: {
    ...listOf(shape({ kind: { type: "string", enum: ["field", "type"] }, path: TEXT, type: TEXT, at: INSTANT, eventId: TEXT })),
    description: "When unknown fields and types first appeared, newest first.",
  },
} as const;

export async function declaredView({ store, catalogue, shapes }: DeclaredParts, environmentId: EnvironmentId, name: string) {
  await Promise.all([catalogue.flush(), shapes.catchUp()]);
  const declared = await store.eventSchemaGet({ environmentId: catalogue.scopeOf(environmentId), name });
  const inferred = await shapes.get(environmentId, name);
  return {
    isDeclared: declared !== null,
    fields: { ...schemaFields(declared), shape: inferred && shapeView(inferred), drift: driftView(inferred) },
  };
}

function schemaFields(declared: EventSchema | null) {
  const { schema = null, mode = "observe", description = null, version = 0, faults = 0, lastFaultAt = null } = declared ?? {};
  return {
    schema: schema === null ? null : (JSON.parse(schema) as object),
    mode,
    description,
    version,
    faults,
    lastFaultAt: lastFaultAt === null ? null : iso(lastFaultAt),
  };
}

function shapeView({ samples, isTruncated, fields }: InferredShape) {
  const view = Object.entries(fields).map(([path, { types, ...seen }]) => ({
    path,
    ...seenView(seen),
    frequency: Math.round((seen.count / samples) * 10_000) / 10_000,
    types: Object.entries(types).flatMap(([type, times]) => (times ? [{ type, ...seenView(times) }] : [])),
  }));
  return { samples, isTruncated, fields: view.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}

function seenView({ count, firstSeenAt, lastSeenAt }: Seen) {
  return { count, firstSeenAt: iso(firstSeenAt), lastSeenAt: iso(lastSeenAt) };
}

function driftView(inferred: InferredShape | null) {
  return (inferred?.drift ?? []).map(({ at, ...drift }) => ({ ...drift, at: iso(at) })).reverse();
}
