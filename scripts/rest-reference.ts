/** docs/reference/rest-api.md, generated from the OpenAPI document of a running service. */

import { askService } from "./docs/ask-service.ts";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  description?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
}

interface Operation {
  summary: string;
  description?: string;
  tags: string[];
  security?: unknown[];
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content: Record<string, { schema: Schema }> }>;
}

interface OpenApi {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Errors that any call can return. They are described once, not with each call. */
const SHARED_CODES = new Set([
  "api_key_missing",
  "api_key_invalid",
  "session_missing",
  "too_many_attempts",
  "role_forbidden",
  "environment_forbidden",
  "origin_forbidden",
  "environment_not_found",
  "request_invalid",
  "body_invalid",
  "body_too_large",
  "content_type_unsupported",
  "store_unavailable",
  "internal_error",
]);

export async function restReference(header: string): Promise<string> {
  const { info, paths, components } = await openApi();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? "");
  const sections = [...byTag].map(([tag, members]) =>
    [`## ${tag}`, ...members.map(({ name, operation }) => operationText(name, operation))].join("\n\n"),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) => schemaText(name, schema));
  return `${header}

# REST API

${info.description.replaceAll('\\"', '"')}

Authenticate with \`Authorization: Bearer <API key>\` or the session cookie of the dashboard. A dev server requires neither. Select the
environment with the header \`x-service-env\`. If a key is restricted to several environments, requests without the header read
nothing and change nothing. \`GET /v1/openapi.json\` returns this reference as an OpenAPI 3.1 document. Any call can fail
because of its key, role, environment, parameters or body, or while the store is unreachable. [Errors](errors.md) lists all codes. Each call
below lists only its specific ones.

${sections.join("\n\n")}

# Objects

${schemas.join("\n\n")}
`;
}

/** The OpenAPI document as a service answers with it. */
export function openApi(): Promise<OpenApi> {
  return askService([], async (url) => (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApi);
}

function operationText(name: string, { summary, description, security, parameters, requestBody, responses }: Operation): string {
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const inputs = [
    ...parameters.map(({ name: parameter, in: location, required, description: meaning, schema }) =>
      row(`\`${parameter}\``, location, schema, required, meaning ?? ""),
    ),
    ...fieldRows(body, "body"),
  ];
  const codes = Object.values(responses)
    .flatMap(({ description: text }) => [...text.matchAll(/^`(\w+)`: /gm)].map(([, code]) => code ?? ""))
    .filter((code) => !SHARED_CODES.has(code));
  return [
    `### \`${name}\``,
    [`${summary}.`, description, security?.length === 0 ? "No authentication required." : null].filter(Boolean).join(" "),
    ...(inputs.length > 0 ? [["| | in | value | meaning |", "|---|---|---|---|", ...inputs].join("\n")] : []),
    responseText(responses),
    ...(codes.length > 0 ? [`Errors: ${codes.map((code) => `\`${code}\``).join(", ")}.`] : []),
  ].join("\n\n");
}

function responseText(responses: Operation["responses"]): string {
  const [status = "", response] = Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  const [[contentType, { schema }] = ["", { schema: {} as Schema }]] = Object.entries(response?.content ?? {});
  if (contentType !== "application/json") return `Returns ${status} with \`${contentType}\`: ${response?.description}`;
  if (!schema.properties?.data) return `Returns ${status}: ${response?.description}`;
  const { data } = schema.properties;
  return `Returns ${status} with \`data\`: ${valueText(data)}${schema.properties.page ? ", paginated" : ""}.`;
}

function schemaText(name: string, schema: Schema): string {
  return [
    `## ${name}`,
    ...(schema.description ? [schema.description] : []),
    ["| field | value | meaning |", "|---|---|---|", ...fieldRows(schema)].join("\n"),
  ].join("\n\n");
}

function fieldRows(schema: Schema | undefined, location?: string): string[] {
  return Object.entries(schema?.properties ?? {}).map(([field, value]) => {
    const required = schema?.required?.includes(field) ?? false;
    if (location) return row(`\`${field}\``, location, value, required, value.description ?? "");
    return `| \`${field}\` | ${valueText(value)}${required ? "" : ", optional"} | ${value.description ?? ""} |`;
  });
}

function row(name: string, location: string, schema: Schema, required: boolean, meaning: string): string {
  return `| ${name} | ${location} | ${valueText(schema)}${required ? ", required" : ""} | ${meaning} |`;
}

/** A type in a few words: `integer, 1 to 100, default 20`. */
export function valueText(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.anyOf) return schema.anyOf.map(valueText).join(" or ");
  if (schema.enum) return `${schema.enum.map((value) => `\`${value}\``).join(", ")}${defaultText(schema)}`;
  const types = [schema.type ?? "any JSON"].flat().join(" or ");
  if (types.startsWith("array")) return `list of ${valueText(schema.items ?? {})}${types.includes("null") ? " or null" : ""}`;
  if (schema.properties)
    return `{ ${Object.entries(schema.properties)
      .map(([field, value]) => `${field}: ${valueText(value)}`)
      .join("; ")} }`;
  if (schema.format === "date-time") return types.replace("string", "instant");
  const range = schema.minimum !== undefined && schema.maximum !== undefined ? `, ${schema.minimum} to ${schema.maximum}` : "";
  return `${types}${range}${defaultText(schema)}`;
}

function defaultText({ default: value }: Schema): string {
  return value === undefined ? "" : `, default \`${value}\``;
}
