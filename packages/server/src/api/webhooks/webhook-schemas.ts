/** The shapes of webhook requests, and webhooks as REST shows them. */

import { type AcceptList, eventNameFault } from "@inlet/protocol";
import type { Webhook } from "../../store/contract/index.ts";
import { nameText } from "../name-text.ts";
import { invalid } from "../rest-errors.ts";
import { ACCEPT_LIST, closed } from "../rest-schemas.ts";
import { BOOLEAN, INSTANT, INTEGER, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import { SETTINGS_FIELDS, SETTINGS_SHOWN, settingsView } from "./verify-settings.ts";

const TRANSFORM_UNITS_MAX = 262_144;

const WEBHOOK_FIELDS = {
  name: nameText(128),
  transform: { type: "string", minLength: 1, maxLength: TRANSFORM_UNITS_MAX, description: "JavaScript that defines `transform`." },
  eventNames: ACCEPT_LIST,
  ips: ACCEPT_LIST,
  enabled: { type: "boolean" },
  ...SETTINGS_FIELDS,
} as const;

export const WEBHOOK_CREATE = closed(
  { ...WEBHOOK_FIELDS, environment: { type: "string", minLength: 1, description: "An environment, or branch." } },
  ["name", "transform"],
);
export const WEBHOOK_UPDATE = closed({
  ...WEBHOOK_FIELDS,
  version: { type: "integer", minimum: 1, description: "Restores an earlier version." },
});

export const WEBHOOK = shape(
  {
    id: TEXT,
    name: TEXT,
    environment: { type: "string", description: "An environment, or `branch`." },
    url: { type: "string", description: "The URL for the provider. Its last part is a secret, and is hidden from read-only keys." },
    transform: TEXT,
    eventNames: ACCEPT_LIST,
    ips: ACCEPT_LIST,
    enabled: BOOLEAN,
    ...SETTINGS_SHOWN,
    version: INTEGER,
    createdAt: INSTANT,
    updatedAt: INSTANT,
  },
  { title: "Webhook" },
);
export const WEBHOOK_VERSION = shape(
  {
    version: INTEGER,
    transform: TEXT,
    createdAt: INSTANT,
    author: { ...TEXT_OR_NULL, description: "The name of the key or person that saved it; null if that is not known." },
    current: BOOLEAN,
  },
  { title: "WebhookVersion" },
);

const STRINGS = { type: "object", additionalProperties: { type: "string" } } as const;
const STRING_LISTS = {
  type: "object",
  additionalProperties: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
} as const;

export const TRIAL_FIELDS = {
  body: { description: "The parsed body; without it `raw` is parsed by `contentType`." },
  headers: STRINGS,
  queryParams: STRING_LISTS,
  raw: { type: "string" },
  contentType: { type: "string" },
  requestId: { type: "string", minLength: 1, description: "A recorded request to use instead of these fields." },
} as const;

export const WEBHOOK_TRIAL_FIELDS = {
  ...TRIAL_FIELDS,
  method: { type: "string", enum: ["POST", "GET", "HEAD"], description: "Default POST; other methods reach only the handshake." },
  sign: { type: "boolean", description: "Sign the request first, as the provider would, with the webhook's first secret." },
} as const;

/** Checks lists for what a schema cannot express. Event keys have the same lists. */
export function checkLists(lists: { eventNames?: AcceptList | null; ips?: AcceptList | null }, isIpRange: (text: string) => boolean): void {
  const { eventNames, ips } = lists;
  const badName = eventNames?.list.find((name) => name !== "*" && eventNameFault(name.replace(/\*$/, "")) !== null);
  if (badName !== undefined) throw invalid("eventNames", `"${badName}" is not an event name, nor one that ends in *`);
  const badRange = ips?.list.find((range) => !isIpRange(range));
  if (badRange !== undefined) throw invalid("ips", `"${badRange}" is neither an address nor a CIDR range`);
}

export function webhookView(webhook: Webhook, environment: string, url: string) {
  return {
    id: webhook.id,
    name: webhook.name,
    environment,
    url,
    transform: webhook.transform,
    eventNames: webhook.eventNames,
    ips: webhook.ips,
    enabled: webhook.enabled,
    ...settingsView(webhook),
    version: webhook.version,
    createdAt: new Date(webhook.createdAt).toISOString(),
    updatedAt: new Date(webhook.updatedAt).toISOString(),
  };
}
