/** The tests that docs/explanation/security.md names as proof, as paths from the root of the repository. */

import { readFileSync } from "node:fs";

const DOCUMENT = new URL("../docs/explanation/security.md", import.meta.url);

export interface Threat {
  threat: string;
  /** Paths of test files. */
  proof: string[];
}

/** The table of threats: one row each, the proof in the last column. */
export function threats(): Threat[] {
  const [, table = ""] = /^## Threats[^\n]*\n([\s\S]*?)^```/m.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
  const rows = [...table.matchAll(/^\| (.*) \|$/gm)]
    .map(([, row = ""]) => row.split(" | "))
    .filter(([first]) => first !== "threat" && first !== undefined);
  return rows.filter((cells) => cells.length === 3).map(([threat = "", , names = ""]) => ({ threat, proof: namesIn(names).map(pathOf) }));
}

export function provenBy(): string[] {
  return [...new Set(threats().flatMap(({ proof }) => proof))];
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

function pathOf(name: string): string {
  if (name.startsWith("packages/")) return name;
  return name.startsWith("src/") ? `packages/server/${name}` : `packages/server/test/${name}.test.ts`;
}
