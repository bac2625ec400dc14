/** The shapes of declared schemas in REST. */

import { SCHEMA_MODES } from "../../store/contract/index.ts";
import { RETENTION } from "../retention-fields.ts";
import { BOOLEAN, INSTANT, INSTANT_OR_NULL, INTEGER, listOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

export const MODE = { type: "string", enum: SCHEMA_MODES } as const;
export const SCHEMA = { type: ["object", "null"], additionalProperties: true } as const;

export const DECLARED_SCHEMA = shape(
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
export const EVENT_TYPE_SETTINGS = shape(
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
export const SCHEMA_VERSION = shape({ version: INTEGER, schema: SCHEMA, createdAt: INSTANT }, { title: "EventSchemaVersion" });
const FIELD = { anyOf: [shape({ types: listOf(TEXT), required: BOOLEAN }), { type: "null" }] } as const;
export const COMPARISON = shape(
  {
    from: TEXT,
    to: TEXT,
    changes: listOf(shape({ path: TEXT, change: { type: "string", enum: ["added", "removed", "changed"] }, from: FIELD, to: FIELD })),
  },
  { title: "EventTypeComparison" },
);
export const SCHEMA_CHECK = shape(
  {
    mode: { ...MODE, type: ["string", "null"], enum: [...SCHEMA_MODES, null], description: "Null: no schema is declared." },
    valid: BOOLEAN,
    errors: listOf(shape({ path: TEXT, message: TEXT })),
  },
  { title: "EventSchemaCheck" },
);
