/** The steps that make the server match the folder. A pure function: `plan` prints the steps, `apply` executes them. */

import type { Entry } from "../folder/entry.ts";
import { changedFields, type FieldChange } from "./changed-fields.ts";
import { type Match, matchEntries } from "./match-entries.ts";
import type { ServerList, ServerWebhook } from "./server-webhook.ts";

export type PlanStep =
  | { action: "create"; entry: Entry }
  | { action: "change"; entry: Entry; webhook: ServerWebhook; changes: FieldChange[] }
  | { action: "delete"; webhook: ServerWebhook };

export interface Plan {
  /** In order of execution. Deletions come last, after everything else has succeeded. */
  steps: PlanStep[];
  unchanged: Match[];
  /** On the server but not in the folder, and not deleted. */
  unlisted: ServerWebhook[];
  faults: string[];
}

export function makePlan(entries: readonly Entry[], lists: readonly ServerList[], { prune }: { prune: boolean }): Plan {
  const { matches, unlisted, faults } = matchEntries(entries, lists);
  const steps: PlanStep[] = [];
  const unchanged: Match[] = [];
  for (const match of matches) {
    const step = stepFor(match);
    if (step) steps.push(step);
    else unchanged.push(match);
  }
  if (prune) steps.push(...unlisted.map((webhook) => ({ action: "delete" as const, webhook })));
  return { steps, unchanged, unlisted: prune ? [] : unlisted, faults };
}

function stepFor({ entry, webhook }: Match): PlanStep | null {
  if (!webhook) return { action: "create", entry };
  const changes = changedFields(entry, webhook);
  return changes.length > 0 ? { action: "change", entry, webhook, changes } : null;
}
