/** The differences between two JSON values, by readable path: `data.items[2].price`. */

export interface JsonDifference {
  path: string;
  /** Absent on the side without a value. */
  before?: unknown;
  after?: unknown;
}

/** More differences than a person would read. */
const DIFFERENCES_MAX = 100;

export function jsonDiff(before: unknown, after: unknown): JsonDifference[] {
  const differences: JsonDifference[] = [];
  compare("", before, after, differences);
  return differences.slice(0, DIFFERENCES_MAX);
}

function compare(path: string, before: unknown, after: unknown, found: JsonDifference[]): void {
  if (found.length >= DIFFERENCES_MAX || Object.is(before, after)) return;
  const keys = keysOfBoth(before, after);
  if (!keys) {
    found.push({ path: path || "(whole)", ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
    return;
  }
  const [left, right] = [before as Record<string, unknown>, after as Record<string, unknown>];
  for (const key of keys) compare(join(path, key, Array.isArray(before)), own(left, key), own(right, key), found);
}

/** Null if the two are not containers of the same kind. */
function keysOfBoth(before: unknown, after: unknown): string[] | null {
  if (typeof before !== "object" || typeof after !== "object" || before === null || after === null) return null;
  if (Array.isArray(before) !== Array.isArray(after)) return null;
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function join(path: string, key: string, inArray: boolean): string {
  if (inArray) return `${path}[${key}]`;
  return path ? `${path}.${key}` : key;
}
