/** Alert rules in files. A webhook is named, or given by its id. */

import { CommandFault } from "../../command-line/command-fault.ts";
import type { RestClient } from "../../rest/rest-client.ts";
import type { Definition, Fields } from "../format/definition.ts";
import type { NamedKind, ServerObject } from "./named-object.ts";

export const ALERT_RULE_DEFAULTS = {
  kind: null,
  function: null,
  webhook: null,
  event: null,
  threshold: null,
  windowSeconds: 300,
  quietHours: null,
  enabled: true,
} as const;

interface Named {
  id: string;
  name: string;
}

interface ServerRule extends ServerObject {
  webhookId: unknown;
}

export function alertRules(rest: RestClient, onServer: readonly ServerRule[]): NamedKind {
  const bodyOf = async ({ environment, name, at }: Definition, fields: Fields) => ({
    name,
    ...fields,
    webhook: typeof fields.webhook === "string" ? await webhookIdOf(rest, environment, fields.webhook, at) : null,
  });
  return {
    section: "alertRules",
    defaults: ALERT_RULE_DEFAULTS,
    comparable(field, value) {
      if (field === "quietHours" && value) return { timeZone: "UTC", ...(value as object) };
      // A file may give the id of a webhook that `listAlertRules` names.
      if (field === "webhook") return onServer.find(({ webhookId }) => webhookId === value)?.fields.webhook ?? value;
      return value;
    },
    async create(mine, fields) {
      await rest.call({ method: "POST", path: "/alert-rules", env: mine.environment, body: await bodyOf(mine, fields) });
      return [];
    },
    async change(mine, theirs, fields) {
      await rest.call({ method: "PUT", path: pathOf(theirs), env: mine.environment, body: await bodyOf(mine, fields) });
    },
    async remove(theirs) {
      await rest.call({ method: "DELETE", path: pathOf(theirs), env: theirs.environment });
    },
  };
}

export async function listAlertRules(rest: RestClient, environment: string): Promise<ServerRule[]> {
  const { items } = await rest.list<Named & Record<string, unknown>>({ path: "/alert-rules", env: environment });
  const webhooks = items.some(({ webhook }) => webhook !== null) ? await webhooksIn(rest, environment) : [];
  return items.map((rule) => {
    const fields = Object.fromEntries(Object.keys(ALERT_RULE_DEFAULTS).map((field) => [field, rule[field]]));
    const shown = { ...fields, webhook: shownWebhook(webhooks, rule.webhook) };
    return { environment, name: rule.name, id: rule.id, fields: shown, webhookId: rule.webhook };
  });
}

/** As files name it: by its name, or by its id if others have that name. */
function shownWebhook(webhooks: readonly Named[], id: unknown): unknown {
  const webhook = webhooks.find((one) => one.id === id);
  return webhook && webhooks.filter(({ name }) => name === webhook.name).length === 1 ? webhook.name : id;
}

async function webhookIdOf(rest: RestClient, environment: string | null, given: string, at: string): Promise<string> {
  const found = (await webhooksIn(rest, environment)).filter(({ id, name }) => id === given || name === given);
  const [webhook] = found;
  if (webhook && found.length === 1) return webhook.id;
  throw new CommandFault(
    webhook ? `${at}: ${found.length} webhooks are named "${given}"; use an id` : `${at}: ${environment} has no webhook "${given}"`,
  );
}

async function webhooksIn(rest: RestClient, environment: string | null): Promise<Named[]> {
  return (await rest.list<Named>({ path: "/webhooks", env: environment })).items;
}

function pathOf({ id }: ServerObject): string {
  return `/alert-rules/${encodeURIComponent(id as string)}`;
}
