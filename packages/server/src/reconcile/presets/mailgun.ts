/**
 * Mailgun: the events of a domain, oldest first. A webhook delivers an event as `event-data`, beside a signature that is not listed.
 * https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/events/get-v3-domain_name-events
 */

import { addressOf, basic, fieldOf, get, listIn, objectOf, type Preset, type PresetOptions, secondsOf } from "./preset.ts";

const LIMIT = "100";
/** The kinds that webhooks can be set for. */
const KINDS = ["accepted", "delivered", "opened", "clicked", "unsubscribed", "complained", "failed"];

export const mailgun: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const headers = basic("api", secrets);
    const range = { begin: String(secondsOf(since)), end: String(secondsOf(until) + 1), ascending: "yes" };
    if (typeof cursor === "string") return get(listAddress(options, `/${encodeURIComponent(cursor)}`), headers);
    return get(listAddress(options, "", { ...range, limit: LIMIT, event: kindsOf(options).join(" OR ") }), headers);
  },
  read(response) {
    const page = objectOf(response);
    const items = listIn(page, "items").map((event) => ({ id: event.id, body: { "event-data": event } }));
    const cursor = tokenOf(fieldOf(page.paging, "next"));
    return items.length === 0 || cursor === undefined ? { items } : { items, cursor };
  },
});

function kindsOf({ events }: PresetOptions): readonly string[] {
  return Array.isArray(events) ? events : KINDS;
}

function listAddress(options: PresetOptions, page: string, query: Readonly<Record<string, string>> = {}): string {
  return addressOf(options, "https://api.mailgun.net", `/v3/${options.domain}/events${page}`, query);
}

/** The address of the next page is Mailgun's: only its last part, the token of the page, is used. */
function tokenOf(address: unknown): string | undefined {
  const path = typeof address === "string" ? URL.parse(address)?.pathname : undefined;
  const [, token] = /\/events\/([^/]+)$/.exec(path ?? "") ?? [];
  return token === undefined ? undefined : decodeURIComponent(token);
}
