/** The threats that docs/explanation/security.md lists, each with the tests that prove its protection. */

import { readFileSync } from "node:fs";
import { PROOFS } from "./security-proofs.ts";

const DOCUMENT = new URL("../docs/explanation/security.md", import.meta.url);

export interface Threat {
  threat: string;
  /** Paths of test files, from the root of the repository. */
  proof: readonly string[];
}

/** The rows of the table of threats. */
export function threats(): Threat[] {
  const [, table = ""] = /^## Threats[^\n]*\n([\s\S]*?)^## /m.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
  const names = [...table.matchAll(/^\| (.*?) \| .* \|$/gm)].map(([, name = ""]) => name).filter((name) => name !== "threat");
  return names.map((threat) => ({ threat, proof: PROOFS[threat] ?? [] }));
}

export function provenBy(): string[] {
  return [...new Set(Object.values(PROOFS).flat())];
}
