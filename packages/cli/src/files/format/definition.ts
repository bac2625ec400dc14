/** Objects as files describe them. */

export type Fields = Readonly<Record<string, unknown>>;

export type Section = "environments" | "eventTypes" | "alertRules" | "functions" | "apiKeys";

export interface Definition {
  section: Section;
  /** Null for API keys. That of an environment is itself. */
  environment: string | null;
  name: string;
  /** The fields that the file names. */
  fields: Fields;
  /** `file:line:column`, which begins messages. */
  at: string;
}

/** A map of objects in a file, also an empty one: what it leaves out may be deleted when asked. */
export interface SectionPlace {
  section: Section;
  environment: string | null;
}

export interface Definitions {
  objects: Definition[];
  places: SectionPlace[];
}

export const NOUNS: Readonly<Record<Section, string>> = {
  environments: "environment",
  eventTypes: "event type",
  alertRules: "alert rule",
  functions: "function",
  apiKeys: "API key",
};
