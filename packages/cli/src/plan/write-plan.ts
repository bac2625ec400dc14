/** A plan as text and as JSON. */

import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Plan, PlannedStep } from "./make-plan.ts";

export function planResult(plan: Plan): CommandResult {
  return { exitCode: plan.steps.length > 0 ? EXIT.differs : EXIT.ok, text: planText(plan), json: planJson(plan) };
}

function planText({ steps, unchanged, unlisted, notes = [] }: Plan): string {
  const count = (action: PlannedStep["action"]) => steps.filter((step) => step.action === action).length;
  const total =
    steps.length === 0
      ? `No changes: the server matches the folder (${unchanged.length} unchanged).`
      : `${count("create")} to create, ${count("change")} to change, ${count("delete")} to delete, ${unchanged.length} unchanged.`;
  const left = unlisted.map(({ name }) => name).join(", ");
  return [
    ...steps.flatMap(({ lines }) => [...lines, ""]),
    total,
    ...(unlisted.length > 0 ? [`Only on the server (use --prune to delete): ${left}.`] : []),
    ...notes,
  ].join("\n");
}

function planJson({ steps, unchanged, unlisted }: Plan) {
  return { changes: steps.map(({ json }) => json), ...restJson({ unchanged, unlisted }) };
}

function restJson({ unchanged, unlisted }: Pick<Plan, "unchanged" | "unlisted">) {
  return { unchanged: unchanged.map(({ json }) => json), unlisted: unlisted.map(({ json }) => json) };
}
