import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault, SentEvent } from "@inlet/protocol";
import { checkNames } from "./check-names.ts";

const events = (...names: string[]): SentEvent[] => names.map((name) => ({ name, data: "{}", extras: null, dedupId: null, ts: null }));

test("names that the list of the key lets through are no matter", () => {
  assert.equal(checkNames(null, events("a")), null);
  assert.equal(checkNames({ mode: "allow", list: ["shop/*"] }, events("shop/a", "shop/b")), null);
  assert.equal(checkNames({ mode: "deny", list: ["shop/*"] }, events("blog/a")), null);
});

test("each of the others is named, with the event it is of", () => {
  const refusal = checkNames({ mode: "allow", list: ["shop/*"] }, events("shop/a", "blog/b", "c"));
  assert.equal(refusal?.code, "event_name_denied");
  assert.equal(refusal?.message, 'events[1].name: "blog/b" is not allowed by the list of this key or webhook.');
  assert.deepEqual(
    refusal?.details?.map((fault) => [(fault as Fault).index, (fault as Fault).field]),
    [
      [1, "name"],
      [2, "name"],
    ],
  );
  const one = checkNames({ mode: "deny", list: ["*"] }, events("a"));
  assert.equal(one?.message, '"a" is not allowed by the list of this key or webhook.', "a single event has no position");
  assert.deepEqual(
    one?.details?.map((fault) => (fault as Fault).index),
    [0],
  );
  const many = checkNames({ mode: "deny", list: ["*"] }, events(...Array.from({ length: 101 }, () => "a")));
  assert.equal(many?.details?.length, 100, "a hundred are enough");
});
