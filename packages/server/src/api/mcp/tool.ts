/** A tool of the Model Context Protocol, and what a call of it takes and gives. */

import type { Action } from "./tool-rules.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, JsonSchema>>;

export type Json = Record<string, unknown>;
export type Arguments = Readonly<Record<string, unknown>>;

export interface ToolResponse {
  isError: boolean;
  /** JSON. */
  text: string;
}

/** Asks the REST API for a path below /v1; throws a RefusedResponse. */
export type Ask = <Body = { data: Json }>(path: string) => Promise<Body>;

export interface ToolRoute {
  method: "GET" | "POST" | "PUT";
  /** With `/v1`. */
  url: string;
  part: string | null;
  action: Action | null;
  /** Names of parameters in the path, in order. The first is also called `id`. */
  params: readonly string[];
  query: Properties;
  body: Properties;
  /** Whether its list has pages. */
  isPaged: boolean;
  text: string;
}

export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: "object"; properties: Record<string, JsonSchema>; required?: string[]; additionalProperties: false };
  annotations: { title: string; readOnlyHint: boolean; destructiveHint: boolean; openWorldHint: boolean };
  routes: readonly ToolRoute[];
  /** The argument for a filter called `id`, which is that of an object if there are objects. */
  idFilter: "id" | "dedupId";
  /** Instead of routes: asks several of them about the object with this id, which is encoded for a path. */
  explain?: (ask: Ask, id: string) => Promise<Json>;
}
