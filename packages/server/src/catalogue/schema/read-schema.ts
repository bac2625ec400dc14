/**
 * Reads a schema as a graph: each node is a subschema, each edge a keyword that applies another one, references included. Every
 * keyword that is applied to events is listed here or in the tables of the checks; any other is an annotation and has no effect.
 */

import { SchemaRefused } from "./schema-fault.ts";

export interface SchemaNode {
  /** Where it stands: a JSON Pointer into the schema. */
  place: string;
  /** As written; `false` allows nothing, and `true` is read as `{}`. */
  keywords: Readonly<Record<string, unknown>> | false;
  edges: SchemaEdge[];
}

export interface SchemaEdge {
  keyword: string;
  /** The name or index below the keyword, if it has several. */
  key: string;
  to: SchemaNode;
}

/** Keywords with one subschema, a list of them, or an object of them. */
const SINGLE = ["not", "if", "then", "else", "additionalProperties", "propertyNames", "items", "contains"].concat([
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/** References whose target depends on how a schema was reached, and keywords that change how a schema is read. */
const REFUSED = ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$vocabulary", "$async"];

/** All nodes, the root first. Throws SchemaRefused. `checkForm` is called with the root and with each target of a reference. */
export function readSchema(root: object, checkForm: (schema: object, place: string) => void): SchemaNode[] {
  checkForm(root, "#");
  const known = new Map<unknown, SchemaNode>();
  const nodes: SchemaNode[] = [];
  const nodeFor = (schema: unknown, place: string): SchemaNode => {
    const before = known.get(schema);
    if (before) return before;
    const node: SchemaNode = { place, keywords: schema === false ? false : schema === true ? {} : (schema as object as never), edges: [] };
    if (typeof schema === "object") known.set(schema, node);
    nodes.push(node);
    return node;
  };
  nodeFor(root, "#");
  // Nodes are added while the list is read.
  for (const node of nodes) {
    if (node.keywords === false) continue;
    refuseUnsupported(node.keywords, node.place);
    node.edges = subschemasIn(node.keywords, node.place).map(({ keyword, key, schema, place }) => ({
      keyword,
      key,
      to: nodeFor(schema, place),
    }));
    const { $ref } = node.keywords;
    if (typeof $ref !== "string") continue;
    const target = resolve(root, $ref, node.place);
    const place = $ref.length === 1 ? "#" : $ref;
    if (typeof target === "object" && !known.has(target)) checkForm(target, place);
    node.edges.push({ keyword: "$ref", key: "", to: nodeFor(target, place) });
  }
  return nodes;
}

function subschemasIn(
  keywords: Readonly<Record<string, unknown>>,
  place: string,
): { keyword: string; key: string; schema: unknown; place: string }[] {
  const single = SINGLE.filter((keyword) => isSchema(keywords[keyword])).map((keyword) => ({
    keyword,
    key: "",
    schema: keywords[keyword],
    place: `${place}/${keyword}`,
  }));
  const several = [...LISTS, ...MAPS].flatMap((keyword) =>
    Object.entries(keywords[keyword] ?? {})
      .filter(([, schema]) => isSchema(schema))
      .map(([key, schema]) => ({ keyword, key, schema, place: `${place}/${keyword}/${escaped(key)}` })),
  );
  return [...single, ...several].filter(({ keyword }) => !["then", "else"].includes(keyword) || isSchema(keywords.if));
}

function refuseUnsupported(keywords: Readonly<Record<string, unknown>>, place: string): void {
  for (const keyword of REFUSED) if (Object.hasOwn(keywords, keyword)) throw new SchemaRefused(`must not use ${keyword}`, place);
}

/** References stay inside the document. */
function resolve(root: object, reference: string, place: string): object | boolean {
  if (reference === "#") return root;
  if (!reference.startsWith("#/"))
    throw new SchemaRefused("may refer with $ref only to places inside itself, such as #/$defs/address", place);
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decoded(part);
    at = key !== null && typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
  }
  if (!isSchema(at)) throw new SchemaRefused(`refers to ${reference.slice(0, 200)}, which is not in it`, place);
  return at;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return null;
  }
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isSchema(value: unknown): value is object | boolean {
  return typeof value === "boolean" || (typeof value === "object" && value !== null && !Array.isArray(value));
}
