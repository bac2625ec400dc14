/** Square: the search for events, which has to be enabled for the application. https://developer.squareup.com/reference/square/events-api/SearchEvents */

import { addressOf, bearer, objectOf, type Preset, recordsOf } from "./preset.ts";

const LIMIT = 50;

export const square: Preset = (options) => ({
  request: ({ since, until, cursor, secrets }) => ({
    method: "POST",
    url: addressOf(options, "https://connect.squareup.com", "/v2/events"),
    headers: { ...bearer(secrets), "content-type": "application/json" },
    body: JSON.stringify({
      limit: LIMIT,
      query: { filter: { created_at: { start_at: since, end_at: until }, ...(options.events && { event_types: options.events }) } },
      ...(typeof cursor === "string" && { cursor }),
    }),
  }),
  read(response) {
    const { events, cursor } = objectOf(response);
    const items = recordsOf(events ?? [], "events").map((event) => ({ id: event.event_id, body: event }));
    return typeof cursor === "string" && cursor !== "" ? { items, cursor } : { items };
  },
});
