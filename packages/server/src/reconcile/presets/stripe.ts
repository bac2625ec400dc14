/** Stripe: the list of events, newest first. An event in the list is what its webhook delivers. https://docs.stripe.com/api/events/list */

import { addressOf, bearer, get, isOfType, listIn, objectOf, type Preset, type PresetOptions, secondsOf } from "./preset.ts";

/** Events of Stripe have up to some 40 KB, and a page 1 MB. */
const LIMIT = 25;
/** Stripe filters by as many types; by more they are filtered here. */
const TYPES_MAX = 20;

export const stripe: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const url = new URL(
      addressOf(options, "https://api.stripe.com", "/v1/events", {
        limit: String(LIMIT),
        "created[gte]": String(secondsOf(since)),
        "created[lte]": String(secondsOf(until) + 1),
        ...(typeof cursor === "string" && { starting_after: cursor }),
      }),
    );
    for (const type of typesOf(options)) url.searchParams.append("types[]", type);
    return get(url.href, bearer(secrets));
  },
  read(response) {
    const page = objectOf(response);
    const events = listIn(page, "data");
    const items = events.filter(({ type }) => isOfType(options, type)).map((event) => ({ id: event.id, body: event }));
    const last = events.at(-1)?.id;
    return page.has_more === true && typeof last === "string" ? { items, cursor: last } : { items };
  },
});

function typesOf({ events }: PresetOptions): readonly string[] {
  return Array.isArray(events) && events.length <= TYPES_MAX ? events : [];
}
