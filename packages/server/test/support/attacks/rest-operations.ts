/** The routes that a service documents, as an attacker reads them from its OpenAPI document. */

import { call } from "../service.ts";
import type { ValueSchema } from "./hostile-values.ts";

export interface Operation {
  method: string;
  /** From the root, with its parameters in braces. */
  path: string;
  query: readonly { name: string; schema: ValueSchema }[];
  body: ValueSchema | null;
}

interface Described {
  parameters?: { in: string; name: string; schema: ValueSchema }[];
  requestBody?: { content: Record<string, { schema: ValueSchema }> };
}

export async function operationsOf({ url }: { url: string }): Promise<Operation[]> {
  const document = (await call(`${url}/v1/openapi.json`)).body;
  const paths = resolved(document, document.paths) as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((parameter) => parameter.in === "query"),
      body: requestBody?.content["application/json"]?.schema ?? null,
    })),
  );
}

function resolved(document: unknown, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((item) => resolved(document, item));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part && typeof part.$ref === "string") {
    const found = part.$ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
    return resolved(document, found);
  }
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(document, value)]));
}
