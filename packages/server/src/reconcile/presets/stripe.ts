/** Stripe: the list of events, newest first. An event in the list is what its webhook delivers. https://docs.stripe.com/api/events/list */

import { addressOf, bearer, jsonOf, listIn, type Preset, secondsOf } from "./preset.ts";

/** Events of Stripe have up to some 40 KB, and a page 1 MB. */
const LIMIT = 25;

export const stripe: Preset = (options) => ({
  request: ({ since, until, cursor, secrets }) => ({
    method: "GET",
    url: addressOf(options, "https://api.stripe.com", "/v1/events", {
      limit: String(LIMIT),
      "created[gte]": String(secondsOf(since)),
      "created[lte]": String(secondsOf(until) + 1),
      ...(typeof cursor === "string" && { starting_after: cursor }),
    }),
    headers: bearer(secrets),
    body: null,
  }),
  read(answer) {
    const page = jsonOf(answer);
    const events = listIn(page, "data");
    const items = events.map((event) => ({ id: event.id, body: event }));
    const last = events.at(-1)?.id;
    return (page as { has_more?: unknown }).has_more === true && typeof last === "string" ? { items, cursor: last } : { items };
  },
});
