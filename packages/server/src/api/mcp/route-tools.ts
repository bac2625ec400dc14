/**
 * The tools, made from the routes of the REST API with the descriptions and schemas that the OpenAPI document has. A route that is added
 * becomes part of a tool without further code.
 *
 * `<resource>_read` consists of the GET routes of a resource and `<resource>_write` of others, so that clients, which grant tools by name,
 * can grant reading alone.
 */

import type { DocumentedRoute } from "../open-api.ts";
import type { JsonSchema, Tool, ToolRoute } from "./tool.ts";
import { ACTIONS, type Action, actionOf, IS_DESTRUCTIVE, placesOf } from "./tool-rules.ts";

type Properties = ToolRoute["query"];

export type ToolsMode = "read" | "write";

export function routeTools(routes: readonly DocumentedRoute[], mode: ToolsMode): Tool[] {
  const members = routes.filter(hasJson).flatMap(membersOf);
  const byName = Map.groupBy(members, ({ name }) => name);
  return [...byName]
    .filter(([name]) => mode === "write" || name.endsWith("_read"))
    .map(([name, found]) =>
      toolOf(
        name,
        found.map(({ route }) => route),
      ),
    );
}

/** Streams and the OpenAPI document are not answers for a tool. */
function hasJson({ schema }: DocumentedRoute): boolean {
  const answers = Object.entries((schema.response ?? {}) as Record<string, { content?: object; properties?: object }>);
  const [, answer] = answers.find(([status]) => status.startsWith("2")) ?? [];
  return answer?.content === undefined && "data" in (answer?.properties ?? {});
}

function membersOf(route: DocumentedRoute): { name: string; route: ToolRoute }[] {
  const path = route.url.replace(/^\/v1/, "");
  return placesOf(path).flatMap((place) => {
    if (route.method === "get") return [{ name: `${place.resource}_read`, route: toolRoute(route, place.part, null) }];
    const action = actionOf(route.method, path, place);
    return action === null ? [] : [{ name: `${place.resource}_write`, route: toolRoute(route, null, action) }];
  });
}

function toolRoute({ method, url, schema }: DocumentedRoute, part: string | null, action: Action | null): ToolRoute {
  const query = propertiesOf(schema.querystring);
  return {
    method: method.toUpperCase() as ToolRoute["method"],
    url,
    part,
    action,
    params: [...url.matchAll(/:(\w+)/g)].map(([, name = ""]) => name),
    query,
    body: propertiesOf(schema.body),
    isPaged: "limit" in query && "cursor" in query,
    text: [`${schema.summary ?? ""}.`, schema.description].filter(Boolean).join(" "),
  };
}

function toolOf(name: string, routes: readonly ToolRoute[]): Tool {
  const isReading = name.endsWith("_read");
  const title = name.replace(/_(read|write)$/, "").replaceAll("_", " ");
  const actions = ACTIONS.filter((action) => routes.some((route) => route.action === action));
  const idFilter = routes.some(({ params }) => params.length > 0) ? "dedupId" : "id";
  return {
    name,
    description: routes.map((route) => [usageOf(route, idFilter === "dedupId"), route.text].filter(Boolean).join(": ")).join("\n"),
    inputSchema: {
      type: "object",
      properties: isReading ? readProperties(routes, idFilter) : { action: { type: "string", enum: actions }, ...writeProperties(routes) },
      ...(!isReading && { required: ["action"] }),
      additionalProperties: false,
    },
    annotations: {
      title: `${isReading ? "Read" : "Change"} ${title}`,
      readOnlyHint: isReading,
      destructiveHint: actions.some((action) => IS_DESTRUCTIVE[action]),
      // Runs call apps.
      openWorldHint: !isReading,
    },
    routes,
    idFilter,
  };
}

/** How a call reaches the route: `part "runs" with id`. */
function usageOf({ action, part, params }: ToolRoute, hasIds: boolean): string {
  const what = action === null ? (part === null ? "" : `part "${part}"`) : `action "${action}"`;
  const names = params.map((name, index) => (index === 0 ? "id" : name));
  const how = names.length === 0 ? (hasIds ? "without id" : "") : `with ${names.join(" and ")}`;
  return [what, how].filter(Boolean).join(" ");
}

const ENVIRONMENT: JsonSchema = {
  type: "string",
  description: "Environment; default `production`, or `dev` on a dev server.",
};

function readProperties(routes: readonly ToolRoute[], idFilter: Tool["idFilter"]): Record<string, JsonSchema> {
  const parts = [...new Set(routes.flatMap(({ part }) => part ?? []))];
  const filters = routes.flatMap(({ query }) =>
    Object.entries(query).map(([name, schema]) => [name === "id" ? idFilter : name, schema] as const),
  );
  return {
    ...pathProperties(routes),
    ...(parts.length > 0 && {
      part: { type: "string", enum: parts, description: "The part to read; leave it out for the object itself." },
    }),
    ...firstOf(filters),
    cursor: { type: "string", description: "`page.next` of the previous response: the list continues there." },
    environment: ENVIRONMENT,
  };
}

function writeProperties(routes: readonly ToolRoute[]): Record<string, JsonSchema> {
  const fields = routes.flatMap(({ query, body }) => [...Object.entries(query), ...Object.entries(body)]);
  return { ...pathProperties(routes), ...firstOf(fields.filter(([name]) => name !== "id")), environment: ENVIRONMENT };
}

function pathProperties(routes: readonly ToolRoute[]): Record<string, JsonSchema> {
  const [first, ...rest] = [...new Set(routes.flatMap(({ params }) => params))];
  if (first === undefined) return {};
  const owners = [...new Set(routes.flatMap(({ url }) => /^\/v1\/([\w-]+)\/:/.exec(url)?.[1] ?? []))];
  const id = {
    type: "string",
    description: `${first === "id" ? "Id" : "Name"} of one of the ${owners.join(" or ").replaceAll("-", " ")}.`,
  };
  return { id, ...Object.fromEntries(rest.map((name) => [name, { type: "string" }])) };
}

/** Of parameters with the same name, the first describes it; the route checks the value. */
function firstOf(entries: readonly (readonly [string, JsonSchema])[]): Record<string, JsonSchema> {
  return Object.fromEntries([...Map.groupBy(entries, ([name]) => name)].map(([name, [first]]) => [name, first?.[1] ?? {}]));
}

function propertiesOf(schema: unknown): Properties {
  return (schema as { properties?: Properties } | undefined)?.properties ?? {};
}
