/**
 * Coinbase Commerce: the list of events, newest first. A webhook delivers an event within an envelope, whose own id and count of attempts are
 * not listed. https://docs.cdp.coinbase.com/api-reference/commerce-api/rest-api/events/list-events
 */

import { addressOf, fieldOf, get, inRange, isOfType, keyHeader, listIn, objectOf, type Preset, parameterOf } from "./preset.ts";

const LIMIT = "50";
const VERSION = "2018-03-22";

export const coinbaseCommerce: Preset = (options) => ({
  request({ cursor, secrets }) {
    const query = { limit: LIMIT, ...(typeof cursor === "string" && { starting_after: cursor }) };
    const headers = { ...keyHeader("x-cc-api-key", secrets), "x-cc-version": VERSION };
    return get(addressOf(options, "https://api.commerce.coinbase.com", "/events", query), headers);
  },
  read({ since, until, cursor: _, ...response }) {
    const page = objectOf(response);
    const { within, isPast } = inRange(listIn(page, "data"), ({ created_at }) => created_at, { since, until });
    const items = within.filter(({ type }) => isOfType(options, type)).map((event) => ({ id: event.id, body: { event } }));
    const cursor = parameterOf(fieldOf(page.pagination, "next_uri"), "starting_after");
    return cursor === undefined || isPast ? { items } : { items, cursor };
  },
});
