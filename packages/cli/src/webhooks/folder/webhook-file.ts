/** webhook.json: reading it, writing it, and noting the id in one that a person wrote. */

import { isEnvironmentName } from "../../command-line/connection-flags.ts";
import { FieldChecks } from "./check-fields.ts";
import type { WebhookFile } from "./entry.ts";
import { parseJson } from "./parse-json.ts";

const FIELDS = ["id", "name", "environment", "eventNames", "ips", "enabled"];

export function readWebhookFile(file: string, text: string, faults: string[]): WebhookFile | null {
  const before = faults.length;
  const value = parseJson(file, text, faults);
  if (value === undefined) return null;
  const check = new FieldChecks(file, faults);
  const fields = check.object(value, "the webhook", FIELDS);
  if (!fields) return null;
  const environment = check.optionalText(fields.environment, "environment");
  if (environment !== null && environment !== "" && !isEnvironmentName(environment)) {
    check.fault(`environment "${environment}" is not a name: letters, digits and . _ - / are allowed`);
  }
  const webhook = {
    id: check.optionalText(fields.id, "id"),
    name: check.text(fields.name, "name"),
    environment,
    eventNames: check.acceptList(fields.eventNames, "eventNames"),
    ips: check.acceptList(fields.ips, "ips"),
    enabled: check.yesOrNo(fields.enabled, "enabled", true),
  };
  return faults.length === before ? webhook : null;
}

/** Lists and the switch are written even when they say nothing, so that a person sees what there is to set. */
export function webhookFileText({ id, name, environment, eventNames, ips, enabled }: WebhookFile): string {
  const fields = { ...(id !== null && { id }), name, ...(environment !== null && { environment }), eventNames, ips, enabled };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** Puts the id in front of the other fields of a file that has none, and leaves the rest as its author wrote it. */
export function withId(text: string, id: string): string {
  return text.replace(/^(\uFEFF?\s*\{)(\s*)/, (_, start, space) => `${start}${space}"id": ${JSON.stringify(id)},${space || " "}`);
}
