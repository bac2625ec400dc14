/**
 * Parses a YAML or JSON file. JSON is read as YAML, of which it is a part, because that knows positions and repeated keys. Nothing in a
 * file can run code, and what it takes to read one is bounded: size, depth, and how often an alias is used.
 */

import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument, type Scalar, visit, type YAMLMap } from "yaml";

const BYTES_MAX = 4 * 1024 * 1024;
const DEPTH_MAX = 100;
const ALIASES_MAX = 100;
const FAULTS_MAX = 20;
/** Brackets that are open at the same time, those in texts included. */
const OPEN_MAX = 500;
const REPEATED = "this key stands twice in the same map";

export interface ParsedFile {
  file: string;
  value: unknown;
  /** `file:line:column` of the value at a path, or of the nearest one around it. With `key`: of that key in it. */
  at(path: readonly string[], key?: string): string;
}

/** Null if there are faults. */
export function parseFile(file: string, text: string, faults: string[]): ParsedFile | null {
  if (Buffer.byteLength(text) > BYTES_MAX) {
    faults.push(`${file}: is larger than ${BYTES_MAX / 1024 / 1024} MiB`);
    return null;
  }
  if (opensTooDeep(text)) {
    faults.push(`${file}: is nested too deeply`);
    return null;
  }
  const lines = new LineCounter();
  // The library compares each key with every other one of its map; ours are looked up.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, stringKeys: true, prettyErrors: false, version: "1.2" });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const found = [...document.errors, ...document.warnings].map(({ code, message, pos }) => `${at(pos[0])}: ${sentence(code, message)}`);
  if (found.length === 0) found.push(...nodeFaults(document).map(({ offset, fault }) => `${at(offset)}: ${fault}`));
  const value = found.length === 0 ? plainValue(file, document, found) : undefined;
  faults.push(...found.slice(0, FAULTS_MAX));
  if (found.length > 0) return null;
  return { file, value, at: (path, key) => at(offsetOf(document, path, key)) };
}

function sentence(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "the file has several documents; use one file for each";
  if (code === "RESOURCE_EXHAUSTION") return "is nested too deeply";
  return `${message.replace(/\.$/, "")} (not valid YAML)`;
}

/** A parser takes long to find that a file consists of brackets. */
function opensTooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === "[" || bracket === "{" ? 1 : -1));
    if (depth > OPEN_MAX) return true;
  }
  return false;
}

function nodeFaults(document: Document): { offset: number; fault: string }[] {
  const found: { offset: number; fault: string }[] = [];
  visit(document, {
    Node(_, node) {
      if ("tag" in node && node.tag !== undefined)
        found.push({ offset: node.range?.[0] ?? 0, fault: `tags such as ${node.tag} are not supported` });
      if (isMap(node)) found.push(...repeatedKeys(node).map(({ range }) => ({ offset: range?.[0] ?? 0, fault: REPEATED })));
    },
  });
  return found;
}

function repeatedKeys({ items }: YAMLMap): Scalar[] {
  const seen = new Set<unknown>();
  const keys = items.flatMap(({ key }) => (isScalar(key) ? [key] : []));
  return keys.filter(({ value }) => seen.size === seen.add(value).size);
}

function plainValue(file: string, document: Document, faults: string[]): unknown {
  try {
    const value = document.toJS({ maxAliasCount: ALIASES_MAX });
    const fault = shapeFault(value);
    if (fault) faults.push(`${file}: ${fault}`);
    return value;
  } catch {
    faults.push(`${file}: uses aliases more than ${ALIASES_MAX} times`);
    return undefined;
  }
}

/** What an alias stands for is looked at once, however often it is used. */
function shapeFault(value: unknown, depth = 0, seen = new Map<object, "open" | "known">()): string | null {
  if (typeof value === "number" && !Number.isFinite(value)) return "numbers must be finite";
  if (typeof value !== "object" || value === null || seen.get(value) === "known") return null;
  if (seen.get(value) === "open") return "an alias must not contain itself";
  if (depth >= DEPTH_MAX) return `is nested more than ${DEPTH_MAX} deep`;
  seen.set(value, "open");
  for (const item of Object.values(value)) {
    const fault = shapeFault(item, depth + 1, seen);
    if (fault) return fault;
  }
  seen.set(value, "known");
  return null;
}

function offsetOf(document: Document, path: readonly string[], key?: string): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = (depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true)) as Node | null | undefined;
    const named = depth === path.length && key !== undefined ? keyOf(node, key) : keyOf(parentOf(document, path, depth), path[depth - 1]);
    const range = (named ?? node)?.range;
    if (range) return range[0];
  }
  return 0;
}

function parentOf(document: Document, path: readonly string[], depth: number): unknown {
  if (depth === 0) return undefined;
  return depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
}

function keyOf(map: unknown, key: string | undefined): Node | undefined {
  if (!isMap(map) || key === undefined) return undefined;
  return map.items.map((item) => item.key).find((candidate) => isScalar(candidate) && String(candidate.value) === key) as Node | undefined;
}
