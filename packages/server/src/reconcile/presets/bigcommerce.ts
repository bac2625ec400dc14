/**
 * BigCommerce: the events that were sent and not received, as they were sent, for at least a week. The filters by time are not documented well
 * enough to be used: every page is read. https://github.com/bigcommerce/docs/blob/main/reference/webhooks.v3.yml
 */

import { addressOf, fieldOf, get, inRange, isOfType, keyHeader, listIn, objectOf, type Preset, pageOf } from "./preset.ts";

const LIMIT = "100";

export const bigcommerce: Preset = (options) => ({
  request({ cursor, secrets }) {
    const query = { page: String(pageOf(cursor)), limit: LIMIT };
    const path = `/stores/${options.store}/v3/hooks/events`;
    return get(addressOf(options, "https://api.bigcommerce.com", path, query), keyHeader("x-auth-token", secrets));
  },
  read({ since, until, cursor, ...response }) {
    const page = objectOf(response);
    const events = listIn(page, "data");
    const { within } = inRange(events, ({ created_at }) => Number(created_at) * 1_000, { since, until });
    const items = within.filter(({ scope }) => isOfType(options, scope)).map((event) => ({ id: event.hash, body: event }));
    const number = pageOf(cursor);
    const pages = Number(fieldOf(fieldOf(page.meta, "pagination"), "total_pages"));
    return number < pages && events.length > 0 ? { items, cursor: number + 1 } : { items };
  },
});
