import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "@inlet/protocol";
import { StreamSlots } from "./stream-slots.ts";

test("a key has fifty slots, all keys together five hundred, and slots are given back", () => {
  const slots = new StreamSlots();
  const taken = Array.from({ length: 500 }, (_, n) => slots.take(`key ${n % 10}`));
  assert.ok(taken.every((slot) => typeof slot === "function"));
  const refused = (key: string) => {
    const slot = slots.take(key);
    return slot instanceof Refusal ? slot.message : assert.fail("there was a slot");
  };
  assert.match(refused("another"), /^The service has 500 open streams/);
  const [first] = taken;
  if (typeof first === "function") first();
  assert.match(refused("key 1"), /^This key has 50/);
  assert.equal(typeof slots.take("key 0"), "function");
});
