/** Event types, as the REST API responds with them. */

export interface EventType {
  name: string;
  /** Null: it is declared, but no event has been accepted. */
  firstSeenAt: string | null;
  lastSeenAt: string | null;
  count24h: number;
  count: number;
  functions: { id: string; name: string }[];
  /** One count for each of the last 25 hours, oldest first. */
  hours: number[];
}

export type SchemaMode = "observe" | "warn" | "refuse";

interface Seen {
  count: number;
  firstSeenAt: string;
  lastSeenAt: string;
}

/** Inferred from traffic. */
export interface EventShape {
  samples: number;
  isTruncated: boolean;
  fields: (Seen & { path: string; frequency: number; types: (Seen & { type: string })[] })[];
}

export interface EventTypeDetails extends Omit<EventType, "hours"> {
  volume: { at: string; count: number }[];
  schema: object | null;
  mode: SchemaMode;
  version: number;
  faults: number;
  lastFaultAt: string | null;
  shape: EventShape | null;
  drift: { kind: "field" | "type"; path: string; type: string; at: string; eventId: string }[];
}
