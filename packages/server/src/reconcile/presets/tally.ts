/**
 * Tally: the events of a webhook, with the body that was sent. In which order they are listed is not documented: every page is read.
 * https://developers.tally.so/api-reference/endpoint/webhooks/events/get
 */

import { addressOf, bearer, fieldOf, get, inRange, listIn, objectOf, type Preset, pageOf } from "./preset.ts";

export const tally: Preset = (options) => ({
  request({ cursor, secrets }) {
    const query = { page: String(pageOf(cursor)) };
    return get(addressOf(options, "https://api.tally.so", `/webhooks/${options.hook}/events`, query), bearer(secrets));
  },
  read({ since, until, cursor, ...response }) {
    const page = objectOf(response);
    const events = listIn(page, "events");
    const { within } = inRange(events, ({ createdAt }) => createdAt, { since, until });
    const items = within.map(({ id, payload }) => ({ id: fieldOf(payload, "eventId") ?? id, body: payload ?? {} }));
    return page.hasMore === true && events.length > 0 ? { items, cursor: pageOf(cursor) + 1 } : { items };
  },
});
