/** TypeScript types as text, from a JSON Schema or from a shape inferred from traffic. */

type Node = Record<string, unknown>;

const DEPTH_MAX = 24;

/** A type, and the types it refers to by name. */
export interface TypeText {
  text: string;
  /** By name; those of a schema's definitions. */
  definitions: ReadonlyMap<string, string>;
}

/** `name` is the name of the type itself: schemas may be recursive. */
export function typeOfSchema(schema: unknown, name: string): TypeText {
  const writer = new SchemaWriter(isNode(schema) ? schema : {}, name);
  const text = writer.type(schema, 0);
  return { text, definitions: writer.definitions };
}

class SchemaWriter {
  readonly definitions = new Map<string, string>();
  readonly #root: Node;
  readonly #name: string;

  constructor(root: Node, name: string) {
    this.#root = root;
    this.#name = name;
  }

  type(schema: unknown, depth: number): string {
    if (schema === false) return "never";
    if (!isNode(schema) || depth > DEPTH_MAX) return "unknown";
    const parts = [
      ...(typeof schema.$ref === "string" ? [this.#referred(schema.$ref, depth)] : []),
      ...listOf(schema.allOf).map((part) => this.type(part, depth + 1)),
      ...["anyOf", "oneOf"].flatMap((key) =>
        Array.isArray(schema[key]) ? [union(listOf(schema[key]).map((one) => this.type(one, depth + 1)))] : [],
      ),
      this.#own(schema, depth),
    ].filter((part) => part !== "unknown");
    const distinct = [...new Set(parts)];
    if (distinct.length <= 1) return distinct[0] ?? "unknown";
    return distinct.map(grouped).join(" & ");
  }

  #own(schema: Node, depth: number): string {
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
    if (schema.const !== undefined) return literal(schema.const);
    const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? impliedTypes(schema) : [schema.type];
    return types.length === 0 ? "unknown" : union(types.map((type) => this.#named(type, schema, depth)));
  }

  #named(type: unknown, schema: Node, depth: number): string {
    if (type === "integer" || type === "number") return "number";
    if (type === "string" || type === "boolean" || type === "null") return type;
    if (type === "array") return this.#array(schema, depth);
    return type === "object" ? this.#object(schema, depth) : "unknown";
  }

  #array({ prefixItems, items }: Node, depth: number): string {
    const rest = items === undefined ? "unknown" : this.type(items, depth + 1);
    if (!Array.isArray(prefixItems)) return `Array<${rest}>`;
    const first = prefixItems.map((item) => `${grouped(this.type(item, depth + 1))}?`);
    return `[${[...first, ...(items === false ? [] : [`...Array<${rest}>`])].join(", ")}]`;
  }

  #object({ properties, required, additionalProperties }: Node, depth: number): string {
    const names = listOfTexts(required);
    const known = isNode(properties) ? properties : {};
    const fields = Object.entries(known).map(([key, inner]) => {
      const comment =
        isNode(inner) && typeof inner.description === "string"
          ? `/** ${inner.description.replaceAll("*/", "* /").replace(/\s+/g, " ")} */ `
          : "";
      return `${comment}${JSON.stringify(key)}${names.includes(key) ? "" : "?"}: ${this.type(inner, depth + 1)}`;
    });
    const unlisted = names.filter((key) => !Object.hasOwn(known, key)).map((key) => `${JSON.stringify(key)}: unknown`);
    // Fields and other keys share one index signature, so with fields it cannot restrict the values.
    const hasFields = fields.length + unlisted.length > 0;
    const others = isNode(additionalProperties) && !hasFields ? this.type(additionalProperties, depth + 1) : "unknown";
    return objectText([...fields, ...unlisted, ...(additionalProperties === false ? [] : [`[key: string]: ${others}`])]);
  }

  #referred(reference: string, depth: number): string {
    if (reference === "#") return this.#name;
    const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1];
    const target = resolve(this.#root, reference);
    if (name === undefined) return this.type(target, depth + 1);
    const own = `${this.#name}_${identifier(name)}`;
    if (!this.definitions.has(own)) {
      this.definitions.set(own, "unknown");
      this.definitions.set(own, this.type(target, 0));
    }
    return own;
  }
}

export interface ShapeFields {
  fields: readonly { path: string; frequency: number; types: readonly { type: string }[] }[];
}

interface Branch {
  types: readonly string[];
  isOptional: boolean;
  children: Map<string, Branch>;
}

/** Fields that not every event has are optional. */
export function typeOfShape({ fields }: ShapeFields): string {
  const root: Branch = { types: ["object"], isOptional: false, children: new Map() };
  for (const { path, frequency, types } of fields) {
    const parts = pathParts(path);
    let at = root;
    for (const [index, part] of parts.entries()) {
      const next: Branch = at.children.get(part) ?? { types: [], isOptional: true, children: new Map() };
      at.children.set(part, next);
      if (index === parts.length - 1) Object.assign(next, { types: types.map(({ type }) => type), isOptional: frequency < 1 });
      at = next;
    }
  }
  return branchText(root);
}

function branchText({ types, children }: Branch): string {
  const named = types.map((type) => {
    if (type === "integer" || type === "number") return "number";
    if (type === "array") return `Array<${children.has("[]") ? branchText(children.get("[]") as Branch) : "unknown"}>`;
    if (type !== "object") return type;
    const inner = [...children].filter(([key]) => key !== "[]");
    const [map] = inner.filter(([key]) => key === "*").map(([, branch]) => branchText(branch));
    if (map !== undefined) return objectText([`[key: string]: ${inner.length > 1 ? "unknown" : map}`]);
    return objectText([
      ...inner.map(([key, branch]) => `${JSON.stringify(key)}${branch.isOptional ? "?" : ""}: ${branchText(branch)}`),
      "[key: string]: unknown",
    ]);
  });
  return named.length === 0 ? "unknown" : union(named);
}

/** `items[].sku` is `items`, `[]`, `sku`; keys with such characters are quoted. */
function pathParts(path: string): string[] {
  return [...path.matchAll(/"(?:[^"\\]|\\.)*"|\[\]|[^.[\]"]+/g)].map(([part]) =>
    part.startsWith('"') ? (JSON.parse(part) as string) : part,
  );
}

/** A name as an identifier of TypeScript, in PascalCase. */
export function identifier(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const text = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(text) ? text : `Event${text}`;
}

function objectText(fields: readonly string[]): string {
  return fields.length === 0 ? "{ [key: string]: never }" : `{ ${fields.join("; ")} }`;
}

function union(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.includes("unknown") ? "unknown" : distinct.join(" | ") || "never";
}

function literal(value: unknown): string {
  return typeof value === "object" && value !== null
    ? Array.isArray(value)
      ? "Array<unknown>"
      : "{ [key: string]: unknown }"
    : JSON.stringify(value);
}

/** As a part of a larger type. */
function grouped(text: string): string {
  return /[|&]/.test(text) ? `(${text})` : text;
}

function impliedTypes({ properties, required, additionalProperties, items, prefixItems }: Node): string[] {
  if (properties !== undefined || required !== undefined || additionalProperties !== undefined) return ["object"];
  return items !== undefined || prefixItems !== undefined ? ["array"] : [];
}

function resolve(root: Node, reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, key) => (typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Node)[key] : undefined), root);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function listOfTexts(value: unknown): string[] {
  return listOf(value).filter((item) => typeof item === "string");
}
