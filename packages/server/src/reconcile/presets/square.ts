/** Square: the search for events, which has to be enabled for the application. https://developer.squareup.com/reference/square/events-api/SearchEvents */

import { addressOf, bearer, jsonOf, type Preset } from "./preset.ts";

const LIMIT = 50;

export const square: Preset = (options) => ({
  request: ({ since, until, cursor, secrets }) => ({
    method: "POST",
    url: addressOf(options, "https://connect.squareup.com", "/v2/events"),
    headers: { ...bearer(secrets), "content-type": "application/json" },
    body: JSON.stringify({
      limit: LIMIT,
      query: { filter: { created_at: { start_at: since, end_at: until } } },
      ...(typeof cursor === "string" && { cursor }),
    }),
  }),
  read(answer) {
    const { events, cursor } = jsonOf(answer) as { events?: Record<string, unknown>[]; cursor?: unknown };
    const items = (Array.isArray(events) ? events : []).map((event) => ({ id: event.event_id, body: event }));
    return typeof cursor === "string" && cursor !== "" ? { items, cursor } : { items };
  },
});
