/**
 * Bounds the cost of checking an event against a schema. A schema is a graph whose edges are its subschemas and references:
 *
 * - A reference cycle that does not descend into the data would never end: refused.
 * - Subschemas that share definitions multiply. With its references expanded, a schema may have at most NODES_MAX of them.
 * - A recursive schema is expanded once for each level of the data. It may refer to itself once for each property or
 *   item: with two references, as in `allOf: [{$ref: "#"}, {$ref: "#"}]`, the cost would double with every level.
 */

const NODES_MAX = 5_000;

/** Applied to the same value as the schema that contains them. */
const IN_PLACE_LISTS = ["allOf", "anyOf", "oneOf"];
const IN_PLACE = ["not", "if", "then", "else"];
const IN_PLACE_MAPS = ["dependentSchemas"];
/** Applied to a part of the value; those of one map, or of prefixItems, each to a different part. */
const PART_LISTS = ["prefixItems"];
const PARTS = ["additionalProperties", "propertyNames", "items", "contains", "unevaluatedItems", "unevaluatedProperties"];
const PART_MAPS = ["properties"];
const OVERLAPPING_PART_MAPS = ["patternProperties"];

type Node = Record<string, unknown>;

interface Edge {
  to: Node;
  /** False: it descends into the data. */
  isInPlace: boolean;
  /** Edges of one group lead to different parts of the data. */
  group: string;
}

/** Why a schema is refused; null: it is accepted. */
export function schemaGraphFault(root: Node): string | null {
  try {
    const walk = new Walk(root);
    const size = walk.sizeOf(root, new Map());
    if (size > NODES_MAX) return `is too complex: with its references written out it has more than ${NODES_MAX} subschemas`;
    return null;
  } catch (error) {
    if (error instanceof GraphFault) return error.message;
    throw error;
  }
}

class GraphFault extends Error {}

class Walk {
  readonly #root: Node;
  readonly #edges = new Map<Node, Edge[]>();

  constructor(root: Node) {
    this.#root = root;
  }

  /** `open`: the schemas on the current path, and whether the path has descended into the data since each. */
  sizeOf(node: Node, known: Map<Node, number>, open: Map<Node, boolean> = new Map()): number {
    const size = known.get(node);
    if (size !== undefined) return size;
    let sum = 1;
    const recursive = new Set<string>();
    open.set(node, false);
    for (const { to, isInPlace, group } of this.#edgesOf(node)) {
      const before = new Map(open);
      if (!isInPlace) for (const key of open.keys()) open.set(key, true);
      if (open.has(to)) this.#refuseCycle(open, to, recursive, group);
      else {
        sum += this.sizeOf(to, known, open);
        if (this.#leadsBack(to, open)) this.#noteRecursion(recursive, group);
      }
      if (sum > NODES_MAX) throw new GraphFault(`is too complex: it has more than ${NODES_MAX} subschemas`);
      for (const [key, value] of before) open.set(key, value);
    }
    open.delete(node);
    known.set(node, sum);
    return sum;
  }

  #refuseCycle(open: ReadonlyMap<Node, boolean>, to: Node, recursive: Set<string>, group: string): void {
    if (open.get(to) === false) throw new GraphFault("has a reference that leads back to itself");
    this.#noteRecursion(recursive, group);
  }

  #noteRecursion(recursive: Set<string>, group: string): void {
    recursive.add(group);
    if (recursive.size > 1) throw new GraphFault("contains itself more than once for the same part of the data");
  }

  /** Whether one of the schemas on the current path is reachable from it. */
  #leadsBack(from: Node, open: ReadonlyMap<Node, boolean>): boolean {
    const seen = new Set<Node>();
    const next = [from];
    for (let node = next.pop(); node; node = next.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      for (const { to } of this.#edgesOf(node)) {
        if (open.has(to)) return true;
        next.push(to);
      }
    }
    return false;
  }

  #edgesOf(node: Node): Edge[] {
    const known = this.#edges.get(node);
    if (known) return known;
    const edges: Edge[] = [];
    const add = (to: unknown, isInPlace: boolean, group: string) => {
      if (isNode(to)) edges.push({ to, isInPlace, group });
    };
    if (typeof node.$ref === "string") add(this.#resolve(node.$ref), true, "$ref");
    for (const name of IN_PLACE) add(node[name], true, name);
    for (const name of [...IN_PLACE_LISTS, ...IN_PLACE_MAPS])
      for (const [index, to] of valuesOf(node[name]).entries()) add(to, true, `${name} ${index}`);
    for (const name of [...PART_MAPS, ...PART_LISTS]) for (const to of valuesOf(node[name])) add(to, false, "parts");
    for (const name of PARTS) add(node[name], false, ["additionalProperties", "items"].includes(name) ? "parts" : name);
    for (const name of OVERLAPPING_PART_MAPS) for (const [index, to] of valuesOf(node[name]).entries()) add(to, false, `${name} ${index}`);
    this.#edges.set(node, edges);
    return edges;
  }

  #resolve(reference: string): unknown {
    if (reference === "#") return this.#root;
    let at: unknown = this.#root;
    for (const part of reference.slice(2).split("/")) {
      const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      at = typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Node)[key] : undefined;
    }
    if (!isNode(at) && typeof at !== "boolean") throw new GraphFault(`refers to ${reference}, which is not in it`);
    return at;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valuesOf(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}
