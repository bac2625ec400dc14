/** A plan as text and as JSON. `apply` prints its steps in the same format, in the past tense. */

import { styleText } from "../../command-line/terminal-text.ts";
import type { Entry } from "../folder/entry.ts";
import { changeLines, indented, written, writtenSetting } from "../write-difference.ts";
import type { Plan, PlanStep } from "./make-plan.ts";
import type { ServerWebhook } from "./server-webhook.ts";

export type Tense = "to do" | "done";

const VERBS = {
  "to do": { create: "create", change: "change", delete: "delete" },
  done: { create: "created", change: "changed", delete: "deleted" },
} as const;

export function planText(plan: Plan): string {
  return [...plan.steps.flatMap((step) => [...stepLines(step, "to do"), ""]), ...summary(plan)].join("\n");
}

export function planJson({ steps, unchanged, unlisted }: Plan) {
  return {
    changes: steps.map(stepJson),
    unchanged: unchanged.map(({ entry, webhook }) => ({ folder: entry.files.folder, ...identity(webhook) })),
    unlisted: unlisted.map(identity),
  };
}

export function stepJson(step: PlanStep) {
  if (step.action === "delete") return { action: step.action, folder: null, ...identity(step.webhook), fields: [] };
  const { action, entry } = step;
  const { name, environment } = entry;
  if (action === "create") return { action, folder: entry.files.folder, id: null, name, environment, fields: [] };
  return { action, folder: entry.files.folder, ...identity(step.webhook), fields: step.changes };
}

export function stepLines(step: PlanStep, tense: Tense): string[] {
  const verb = VERBS[tense][step.action];
  switch (step.action) {
    case "create":
      return [styleText("green", `+ ${verb} ${step.entry.slug}: ${entryName(step.entry)}`), ...indented(4, settingLines(step.entry))];
    case "change": {
      const details = step.changes.flatMap((change) => changeLines(change, "to server"));
      return [styleText("yellow", `~ ${verb} ${step.entry.slug}: ${webhookName(step.webhook)}`), ...indented(4, details)];
    }
    case "delete":
      return [styleText("red", `- ${verb} ${webhookName(step.webhook)}`), ...indented(4, [urlNote(tense)])];
  }
}

function urlNote(tense: Tense): string {
  return tense === "done" ? "its URL no longer works" : "its URL would no longer work";
}

export function webhookName({ name, environment, id }: ServerWebhook): string {
  return `"${name}" in ${environment} (${id})`;
}

function entryName({ name, environment }: Entry): string {
  return `"${name}" in ${environment ?? "the server's default environment"}`;
}

/** Only settings that differ from the defaults. */
function settingLines({ eventNames, ips, enabled, transform, verify, handshake, answer, mirror }: Entry): string[] {
  const settings = Object.entries({ verify, handshake, answer, mirror }).filter(([, value]) => value !== null);
  const lines = transform.trimEnd().split("\n").length;
  return [
    ...(enabled ? [] : ["enabled: false"]),
    ...(eventNames ? [`eventNames: ${written(eventNames)}`] : []),
    ...(ips ? [`ips: ${written(ips)}`] : []),
    ...settings.map(([field, value]) => `${field}: ${writtenSetting(value)}`),
    `transform: ${lines === 1 ? "1 line" : `${lines} lines`}`,
  ];
}

function summary({ steps, unchanged, unlisted }: Plan): string[] {
  const count = (action: PlanStep["action"]) => steps.filter((step) => step.action === action).length;
  const total =
    steps.length === 0
      ? `No changes: the server matches the folder (${unchanged.length} unchanged).`
      : `${count("create")} to create, ${count("change")} to change, ${count("delete")} to delete, ${unchanged.length} unchanged.`;
  if (unlisted.length === 0) return [total];
  return [total, `Only on the server (use --prune to delete): ${unlisted.map(webhookName).join(", ")}.`];
}

function identity(webhook: ServerWebhook | null) {
  return { id: webhook?.id ?? null, name: webhook?.name ?? null, environment: webhook?.environment ?? null };
}
