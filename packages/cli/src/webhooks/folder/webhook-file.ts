/** Reads and writes webhook.json, and adds the id to an existing file. */

import { isEnvironmentName } from "../../command-line/connection-flags.ts";
import { FieldChecks } from "./check-fields.ts";
import type { WebhookFile } from "./entry.ts";
import { parseJson } from "./parse-json.ts";
import { readSettings } from "./secret-names.ts";

const FIELDS = ["id", "name", "environment", "eventNames", "ips", "enabled", "verify", "handshake", "answer", "mirror", "reconcile"];

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
    verify: readSettings(check, fields.verify, "verify"),
    handshake: readSettings(check, fields.handshake, "handshake"),
    answer: readSettings(check, fields.answer, "answer"),
    mirror: readSettings(check, fields.mirror, "mirror"),
    reconcile: readSettings(check, fields.reconcile, "reconcile"),
  };
  return faults.length === before ? webhook : null;
}

/** Writes the basic settings with their defaults, so that the user sees what can be set, and the others only if they are used. */
export function webhookFileText({ id, name, environment, eventNames, ips, enabled, ...more }: WebhookFile): string {
  const { verify, handshake, answer, mirror, reconcile } = more;
  const used = Object.fromEntries(Object.entries({ verify, handshake, answer, mirror, reconcile }).filter(([, value]) => value !== null));
  const fields = { ...(id !== null && { id }), name, ...(environment !== null && { environment }), eventNames, ips, enabled, ...used };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

/** Inserts the id as the first field and leaves the rest of the file unchanged. */
export function withId(text: string, id: string): string {
  return text.replace(/^(\uFEFF?\s*\{)(\s*)/, (_, start, space) => `${start}${space}"id": ${JSON.stringify(id)},${space || " "}`);
}
