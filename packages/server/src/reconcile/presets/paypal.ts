/** PayPal: the notifications of an application, each the body that was sent. https://developer.paypal.com/api/webhooks/v1/webhooks-events-list */

import { addressOf, basic, bearer, clientCredentials, fieldOf, get, listIn, objectOf, type Preset, type PresetOptions } from "./preset.ts";

const LIMIT = "50";
const ORIGIN = "https://api-m.paypal.com";

export const paypal: Preset = (options) => ({
  signIn: clientCredentials((secrets) => ({
    method: "POST",
    url: addressOf(options, ORIGIN, "/v1/oauth2/token"),
    headers: { ...basic(String(options.clientId), secrets), "content-type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials",
  })),
  request: ({ since, until, cursor, secrets }) =>
    get(listAddress(options, typeof cursor === "string" ? cursor : firstQuery(since, until)), bearer(secrets)),
  read(response) {
    const page = objectOf(response);
    const items = listIn(page, "events").map((event) => ({ id: event.id, body: event }));
    const next = Array.isArray(page.links) ? page.links.find((link) => fieldOf(link, "rel") === "next") : undefined;
    const query = queryOf(fieldOf(next, "href"));
    return query === "" || items.length === 0 ? { items } : { items, cursor: query };
  },
});

function firstQuery(since: string, until: string): string {
  return `?${new URLSearchParams({ page_size: LIMIT, start_time: since, end_time: until })}`;
}

function listAddress(options: PresetOptions, query: string): string {
  return addressOf(options, ORIGIN, `/v1/notifications/webhooks-events${query}`);
}

/** The address of the next page is PayPal's: only its parameters are used. */
function queryOf(address: unknown): string {
  return typeof address === "string" ? (URL.parse(address)?.search ?? "") : "";
}
