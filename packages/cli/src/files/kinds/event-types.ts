/** Event types in files: schema, mode, description and retention. */

import { parseDuration } from "@inlet/protocol";
import type { RestClient } from "../../rest/rest-client.ts";
import type { Fields } from "../format/definition.ts";
import { type NamedKind, type ServerObject, setAsWhole } from "./named-object.ts";

export const EVENT_TYPE_DEFAULTS = { schema: null, mode: "observe", description: null, retention: null } as const;

interface ServerEventType {
  name: string;
  schema: unknown;
  mode: string;
  description: string | null;
  retention: string | null;
}

export function eventTypes(rest: RestClient): NamedKind {
  const put = (environment: string | null, name: string, body: Fields) =>
    rest.call({ method: "PUT", path: `/event-types/${encodeURIComponent(name)}`, env: environment, body });
  return {
    section: "eventTypes",
    ...setAsWhole(EVENT_TYPE_DEFAULTS, put),
    comparable: (field, value) => (field === "retention" ? durationOf(value) : value),
  };
}

/** Those that have settings. One whose settings are all defaults is as good as none. */
export async function listEventTypes(rest: RestClient, environment: string): Promise<ServerObject[]> {
  const { items } = await rest.list<ServerEventType>({ path: "/event-schemas", env: environment });
  return items
    .map(({ name, schema, mode, description, retention }) => ({
      environment,
      name,
      id: null,
      fields: { schema, mode, description, retention },
    }))
    .filter(({ fields }) => Object.entries(EVENT_TYPE_DEFAULTS).some(([field, value]) => fields[field as keyof typeof fields] !== value));
}

/** Durations are compared by their length: the server shows 24h as 1d. */
export function durationOf(value: unknown): unknown {
  return typeof value === "string" ? (parseDuration(value) ?? value) : value;
}
