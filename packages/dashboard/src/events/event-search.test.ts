import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventItem } from "../api/types.ts";
import { isWanted } from "./event-search.ts";

test("a text is found in everything that the sender sent, as the service finds it", () => {
  const event = {
    name: "shop/order.paid",
    data: '{"city":"Lisboa"}',
    dedupId: "paid-1",
    extras: new Map([["v", '"Needle"']]),
    source: { kind: "key", id: "key_1", name: "k" },
  } as unknown as EventItem;
  for (const q of ["lisBOA", "ORDER", "paid-1", "needle"]) assert.equal(isWanted(event, { q }), true, q);
  assert.equal(isWanted(event, { q: "nowhere" }), false);
  assert.equal(isWanted({ ...event, dedupId: null }, { q: "paid-1" }), false);
});
