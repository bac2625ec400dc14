/**
 * Resend: the events of a webhook, newest first. The list has no payloads: the one of each event that is not known by its id is asked for.
 * https://resend.com/docs/api-reference/webhooks/list-events
 */

import { addressOf, bearer, get, inRange, listIn, objectOf, type Preset } from "./preset.ts";

type Cursor = { after: string } | { event: string } | undefined;

const LIMIT = "100";

export const resend: Preset = (options) => ({
  request({ cursor, secrets }) {
    const place = cursor as Cursor;
    const path = `/webhooks/${options.hook}/events`;
    const single = place && "event" in place ? `/${encodeURIComponent(place.event)}` : "";
    const query = { limit: LIMIT, ...(place && "after" in place && { after: place.after }) };
    return get(addressOf(options, "https://api.resend.com", `${path}${single}`, single === "" ? query : {}), bearer(secrets));
  },
  read({ since, until, cursor, ...response }) {
    const page = objectOf(response);
    const place = cursor as Cursor;
    if (place && "event" in place) return { items: [{ id: place.event, headers: { "Svix-Id": place.event }, body: page.payload ?? {} }] };
    const events = listIn(page, "data");
    const { within, isPast } = inRange(events, ({ created_at }) => created_at, { since, until });
    const references = within.map(({ id }) => ({ id: String(id), cursor: { event: String(id) } }));
    const last = events.at(-1)?.id;
    if (page.has_more !== true || isPast || typeof last !== "string") return { items: [], references };
    return { items: [], references, cursor: { after: last } };
  },
});
