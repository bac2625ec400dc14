/**
 * The parts of the store and what each may import. `store/<noun>/` has the contract, the policy, the rows, both engines and the
 * conformance cases of one noun, each as a file or a folder of that name; `store/<part>/` has what belongs to no single noun.
 *
 * Policy, rows and contract never import an engine, and no engine imports the other, so that what both decide stands in one place.
 */

import { builtinModules } from "node:module";
import { posix } from "node:path";

export const STORE = "packages/server/src/store";

export type Part = "contract" | "policy" | "rows" | "shared" | "sqlite" | "postgres" | "conformance" | "copy" | "placement";

/** What each part imports in addition to itself, of any noun. */
const MAY_IMPORT: Readonly<Record<Part, readonly Part[]>> = {
  contract: [],
  policy: ["contract"],
  shared: ["contract"],
  rows: ["contract", "shared"],
  sqlite: ["contract", "policy", "rows", "shared"],
  postgres: ["contract", "policy", "rows", "shared"],
  conformance: ["contract"],
  copy: ["contract", "sqlite", "postgres"],
  placement: ["contract"],
};

/** The part that a file of the store belongs to: its first or second folder, or its own name. */
export function partOf(file: string): Part | undefined {
  const [first = "", second = ""] = file.slice(STORE.length + 1).split(/\/|(?:\.test)?\.ts$/);
  return [first, second].find((name) => Object.hasOwn(MAY_IMPORT, name)) as Part | undefined;
}

/** Whether a file may use a database. */
export function isEngine(file: string): boolean {
  const part = file.startsWith(`${STORE}/`) ? partOf(file) : undefined;
  return part === "sqlite" || part === "postgres" || part === "copy";
}

/** What is wrong with the imports of a file, if it belongs to the store. Tests may import any part. */
export function checkStoreImports(file: string, specifiers: readonly string[]): string[] {
  if (!file.startsWith(`${STORE}/`)) return [];
  const part = partOf(file);
  if (part === undefined) return [`${file} is none of: ${Object.keys(MAY_IMPORT).join(", ")}`];
  if (file.endsWith(".test.ts")) return [];
  return specifiers.filter((specifier) => !isAllowed(file, part, specifier)).map((name) => `${file} (${part}) must not import ${name}`);
}

function isAllowed(file: string, part: Part, specifier: string): boolean {
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(file), specifier);
    const other = target.startsWith(`${STORE}/`) ? partOf(target) : undefined;
    return other !== undefined && (other === part || MAY_IMPORT[part].includes(other));
  }
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return part !== "policy";
  return /^@inlet\/protocol(\/|$)/.test(specifier) || isEngine(file);
}
