/** Fields with their types, of a declared schema or of an inferred shape, so that two of them can be compared. */

import { JSON_TYPES, type JsonType, type Shape } from "./infer-shape.ts";

export interface OutlineField {
  types: JsonType[];
  /** Every event has this field. */
  required: boolean;
}

export type Outline = Record<string, OutlineField>;

export interface OutlineChange {
  path: string;
  change: "added" | "removed" | "changed";
  from: OutlineField | null;
  to: OutlineField | null;
}

const DEPTH_MAX = 12;
const FIELDS_MAX = 2_000;

export function outlineOfShape({ fields, samples }: Shape): Outline {
  return Object.fromEntries(
    Object.entries(fields).map(([path, { types, count }]) => [
      path,
      { types: sorted(Object.keys(types) as JsonType[]), required: count === samples },
    ]),
  );
}

type Node = Record<string, unknown>;

export function outlineOfSchema(schema: unknown): Outline {
  const outline: Map<string, OutlineField> = new Map();
  if (isNode(schema)) walk(schema, schema, "", true, 0, outline);
  return Object.fromEntries(outline);
}

export function compareOutlines(from: Outline, to: Outline): OutlineChange[] {
  const paths = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
  return paths.flatMap((path): OutlineChange[] => {
    const [one, other] = [from[path] ?? null, to[path] ?? null];
    if (one && other) {
      const isSame = one.required === other.required && one.types.join() === other.types.join();
      return isSame ? [] : [{ path, change: "changed", from: one, to: other }];
    }
    return [{ path, change: one ? "removed" : "added", from: one, to: other }];
  });
}

function walk(root: Node, node: Node, path: string, required: boolean, depth: number, outline: Map<string, OutlineField>): void {
  if (depth > DEPTH_MAX || outline.size >= FIELDS_MAX) return;
  const parts = partsOf(root, node);
  if (path !== "") {
    const known = outline.get(path);
    const types = sorted([...(known?.types ?? []), ...parts.flatMap(typesOf)]);
    outline.set(path, { types, required: required && (known?.required ?? true) });
  }
  for (const part of parts) {
    const names = Array.isArray(part.required) ? part.required : [];
    for (const [key, inner] of Object.entries(isNode(part.properties) ? part.properties : {})) {
      const isRequired = required && names.includes(key);
      if (isNode(inner)) walk(root, inner, path === "" ? key : `${path}.${key}`, isRequired, depth + 1, outline);
    }
    if (isNode(part.items)) walk(root, part.items, `${path}[]`, false, depth + 1, outline);
  }
}

/** The schema itself and the subschemas applied to the same value. */
function partsOf(root: Node, node: Node, depth = 0): Node[] {
  if (depth > DEPTH_MAX) return [];
  const others = [...listIn(node.allOf), ...listIn(node.anyOf), ...listIn(node.oneOf), ...listIn([resolve(root, node.$ref)])];
  return [node, ...others.flatMap((other) => partsOf(root, other, depth + 1))];
}

function resolve(root: Node, reference: unknown): unknown {
  if (reference === "#") return root;
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  return reference
    .slice(2)
    .split("/")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, key) => (typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Node)[key] : undefined), root);
}

function typesOf({ type, enum: values, const: value, properties, items }: Node): JsonType[] {
  if (typeof type === "string") return [type as JsonType];
  if (Array.isArray(type)) return type as JsonType[];
  if (Array.isArray(values)) return values.map(typeOfValue);
  if (value !== undefined) return [typeOfValue(value)];
  if (isNode(properties)) return ["object"];
  return isNode(items) ? ["array"] : [];
}

function typeOfValue(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as JsonType;
}

function sorted(types: readonly JsonType[]): JsonType[] {
  return JSON_TYPES.filter((type) => types.includes(type));
}

function listIn(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
