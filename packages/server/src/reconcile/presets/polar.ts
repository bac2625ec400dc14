/**
 * Polar: the deliveries to an endpoint, with the body that was sent. Attempts of one event are one item.
 * https://github.com/polarsource/polar/blob/main/server/polar/webhook/schemas.py
 */

import type { ReadPage } from "../page-reader.ts";
import { addressOf, bearer, fieldOf, get, listIn, objectOf, type Preset, pageOf } from "./preset.ts";

const LIMIT = "50";
const ARCHIVED = "Polar has archived this event: its body is not listed any more.";

export const polar: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const query = {
      endpoint_id: String(options.endpoint),
      start_timestamp: since,
      end_timestamp: until,
      page: String(pageOf(cursor)),
      limit: LIMIT,
    };
    return get(addressOf(options, "https://api.polar.sh", "/v1/webhooks/deliveries", query), bearer(secrets));
  },
  read({ cursor, ...response }) {
    const page = objectOf(response);
    const deliveries = listIn(page, "items");
    const events = new Map(
      deliveries.map(({ webhook_event }) => [String(fieldOf(webhook_event, "id")), fieldOf(webhook_event, "payload")]),
    );
    const found = itemsOf([...events]);
    const number = pageOf(cursor);
    const isLast = deliveries.length === 0 || number >= Number(fieldOf(page.pagination, "max_page"));
    return isLast ? found : { ...found, cursor: number + 1 };
  },
});

function itemsOf(events: readonly (readonly [id: string, payload: unknown])[]): ReadPage {
  const items = events.flatMap(([id, payload]) =>
    typeof payload === "string" ? [{ id, headers: { "Webhook-Id": id }, body: payload }] : [],
  );
  const references = events.flatMap(([id, payload]) => (typeof payload === "string" ? [] : [{ id, fault: ARCHIVED }]));
  return { items, references };
}
