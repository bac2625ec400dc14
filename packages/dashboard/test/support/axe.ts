/** Accessibility with axe-core: serious and critical findings fail, and whatever is wrong with headings and landmarks. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  id: string;
  impact: string | null;
  help: string;
  nodes: { target: unknown; failureSummary?: string }[];
}

const STRUCTURE: ReadonlySet<string> = new Set([
  ...["region", "page-has-heading-one", "heading-order", "empty-heading", "landmark-one-main", "landmark-unique"],
  ...["landmark-no-duplicate-banner", "landmark-no-duplicate-main", "landmark-banner-is-top-level", "landmark-main-is-top-level"],
]);

export interface AxeScope {
  /** Absent: all. */
  rules?: string[];
  /** A selector. Absent: the whole document. */
  within?: string;
}

export async function assertAccessible(page: Page, where: string, { rules, within }: AxeScope = {}): Promise<void> {
  // A colour change is rendered in the second frame.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  // Evaluated by the debugger, not by a script element, which the content policy would block.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(SOURCE);
  // Without the style sheets, which only a rule about the orientation of screens reads.
  const options = { resultTypes: ["violations"], preload: false, ...(rules && { runOnly: rules }) };
  const run = `axe.run(${within === undefined ? "document" : JSON.stringify(within)}, ${JSON.stringify(options)})`;
  const { violations } = (await page.evaluate(run)) as { violations: Finding[] };
  const serious = violations.filter(({ id, impact }) => impact === "serious" || impact === "critical" || STRUCTURE.has(id));
  const said = serious.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => `  ${node.target} ${node.failureSummary}`).join("\n")}`,
  );
  assert.deepEqual(said, [], `accessibility of ${where}`);
}
