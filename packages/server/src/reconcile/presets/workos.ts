/** WorkOS: the list of events of the types that are asked for, oldest first. https://workos.com/docs/reference/events */

import { addressOf, bearer, fieldOf, get, listIn, objectOf, type Preset } from "./preset.ts";

const LIMIT = "50";

export const workos: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const first = addressOf(options, "https://api.workos.com", "/events", {
      limit: LIMIT,
      range_end: until,
      // A cursor and the beginning of a range exclude each other.
      ...(typeof cursor === "string" ? { after: cursor } : { range_start: since }),
    });
    const url = new URL(first);
    for (const type of options.events ?? []) url.searchParams.append("events[]", type);
    return get(url.href, bearer(secrets));
  },
  read(response) {
    const page = objectOf(response);
    const items = listIn(page, "data").map((event) => ({ id: event.id, body: event }));
    const after = fieldOf(page.list_metadata, "after");
    return typeof after === "string" && after !== "" && items.length > 0 ? { items, cursor: after } : { items };
  },
});
