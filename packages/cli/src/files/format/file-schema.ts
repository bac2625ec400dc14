/**
 * The format of the files, as a JSON Schema: files are checked with it, and editors complete with it. A test compares its fields with what
 * the REST API takes. It uses draft 7, which editors know best.
 */

const ENVIRONMENT_NAME = "^[A-Za-z0-9._/-]{1,128}$";
const OPEN_MAP = { type: ["object", "null"] } as const;

function closed<Properties extends object>(properties: Properties, required: readonly string[] = []) {
  return { type: "object", additionalProperties: false, properties, required } as const;
}

const RETENTION = {
  type: ["string", "null"],
  maxLength: 32,
  description: "A duration from 1m to 3660d, such as 30d. null: the next wider rule.",
} as const;
const QUOTA = { type: ["integer", "null"], minimum: 1 } as const;
const RATE = {
  ...closed({ limit: { type: "integer", minimum: 1, maximum: 1_000_000 }, period: { type: "string", maxLength: 32 } }, ["limit", "period"]),
  type: ["object", "null"],
} as const;
const TIME = { type: "string", pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" } as const;

export const ENVIRONMENT_SETTINGS = {
  kind: {
    type: "string",
    enum: ["custom", "branch"],
    description: "Of a new environment; it cannot be changed. Leave it out for production and dev.",
  },
  database: {
    type: "string",
    pattern: "^[A-Za-z0-9._-]{1,64}$",
    description: "The database that holds it, of a new environment. An existing one is moved with `inlet env move`.",
  },
  archived: { type: "boolean", description: "true: it keeps its events and refuses new ones." },
  bodyLimitBytes: {
    type: ["integer", "null"],
    minimum: 1,
    maximum: 268_435_456,
    description: "Largest request body. null: the service's own limit.",
  },
  retention: {
    ...closed({ events: RETENTION, runs: RETENTION, requests: RETENTION }),
    description: "How long events, runs and webhook requests are kept. What it leaves out follows the service's settings.",
  },
  quotas: {
    ...closed({ eventsPerSecond: QUOTA, eventsPerDay: QUOTA, bytesPerDay: QUOTA, callsAtOnce: QUOTA, storedBytes: QUOTA }),
    description: "Bounds of the environment's use. What it leaves out is unlimited.",
  },
} as const;

export const EVENT_TYPE = closed({
  schema: { type: ["object", "null"], description: "A JSON Schema (draft 2020-12) of `data`." },
  mode: {
    type: "string",
    enum: ["observe", "warn", "refuse"],
    description: "Events that do not match are counted, marked too, or refused. Default observe.",
  },
  description: { type: ["string", "null"], maxLength: 2_000 },
  retention: RETENTION,
});

export const ALERT_RULE = {
  ...closed(
    {
      kind: { type: "string", description: "What is measured, such as failure_count; see the guide on alerts." },
      function: { type: ["string", "null"], description: "Only this function." },
      webhook: { type: ["string", "null"], description: "Only with silence: the name or the id of a webhook of the environment." },
      event: {
        type: ["string", "null"],
        minLength: 1,
        maxLength: 256,
        description: "Only with silence: an event name; * may stand at its end.",
      },
      threshold: { type: ["number", "null"], exclusiveMinimum: 0, description: "Raised at this value or above. Not with silence." },
      windowSeconds: {
        type: ["integer", "string"],
        minimum: 10,
        pattern: "^usual$",
        description: 'The measured window; default 300. With silence, how long it may last, or "usual".',
      },
      quietHours: {
        ...closed({ from: TIME, to: TIME, timeZone: { type: "string", maxLength: 64 } }, ["from", "to"]),
        type: ["object", "null"],
        description: "Hours of the day during which no alert is raised.",
      },
      enabled: { type: "boolean", description: "Default true." },
    },
    ["kind"],
  ),
  if: { properties: { kind: { const: "silence" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["windowSeconds"] },
  else: { required: ["threshold"] },
} as const;

export const FUNCTION_LIMITS = closed({
  concurrency: {
    type: ["integer", "null"],
    minimum: 1,
    maximum: 1_000_000,
    description: "Maximum number of concurrent steps, or of concurrent runs if the function limits its runs.",
  },
  throttle: { ...RATE, description: "How many runs start in a period; others wait." },
  rateLimit: { ...RATE, description: "How many runs start in a period; others are dropped." },
});

export const API_KEY = closed(
  {
    role: { type: "string", enum: ["owner", "admin", "operator", "viewer", "metrics", "ingest-admin", "read"] },
    environments: {
      type: ["array", "null"],
      minItems: 1,
      maxItems: 1000,
      uniqueItems: true,
      items: { type: "string" },
      description: "The environments it is restricted to: names, beginnings such as payments-*, and branch. null: every environment.",
    },
  },
  ["role"],
);

export const FILE_SCHEMA = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Inlet: environments, event types, alert rules, limits of functions and API keys",
  ...closed({
    $schema: { type: "string" },
    environments: {
      ...OPEN_MAP,
      description: "By name. `branch`: what all branch environments share.",
      propertyNames: { pattern: ENVIRONMENT_NAME },
      additionalProperties: {
        ...closed({
          ...ENVIRONMENT_SETTINGS,
          eventTypes: { ...OPEN_MAP, description: "By event name.", additionalProperties: EVENT_TYPE },
          alertRules: { ...OPEN_MAP, description: "By name.", additionalProperties: ALERT_RULE },
          functions: {
            ...OPEN_MAP,
            description: "Limits that take precedence over those of the app, by the id of the function (app-function).",
            additionalProperties: FUNCTION_LIMITS,
          },
        }),
        type: ["object", "null"],
      },
    },
    apiKeys: {
      ...OPEN_MAP,
      description: "What each API key allows, by its name. Files never contain the keys.",
      additionalProperties: API_KEY,
    },
  }),
} as const;

export const SCHEMA_FILE = "inlet.schema.json";

export function schemaFileText(): string {
  return `${JSON.stringify(FILE_SCHEMA, null, 2)}\n`;
}
