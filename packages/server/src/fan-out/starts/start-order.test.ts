import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { FunctionNo } from "@inlet/protocol";
import { StartOrder } from "./start-order.ts";

const ONE = 1 as FunctionNo;
const OTHER = 2 as FunctionNo;

function begin() {
  const order = new StartOrder();
  const log: string[] = [];
  const pass = (functionNo: FunctionNo, name: string) => {
    const ready = Promise.withResolvers<void>();
    const submitted = Promise.withResolvers<void>();
    const done = order.pass(
      functionNo,
      () => ready.promise,
      async () => {
        log.push(name);
        await submitted.promise;
      },
    );
    return { done, ready: ready.resolve, fail: () => ready.reject(new Error(name)), submitted: submitted.resolve };
  };
  return { log, pass };
}

test("starts of one function are submitted in their order, whichever is ready first; those of another do not wait", async () => {
  const { log, pass } = begin();
  const [a, b, c] = [pass(ONE, "a"), pass(ONE, "b"), pass(OTHER, "c")];
  b.ready();
  c.ready();
  await turn();
  assert.deepEqual(log, ["c"]);
  a.ready();
  await turn();
  assert.deepEqual(log, ["c", "a", "b"], "b does not wait for the outcome of a");
  for (const one of [a, b, c]) one.submitted();
  await Promise.all([a.done, b.done, c.done]);
});

test("a start that cannot be prepared holds up nobody, and changes nothing of the order of the others", async () => {
  const { log, pass } = begin();
  const [a, b, c] = [pass(ONE, "a"), pass(ONE, "b"), pass(ONE, "c")];
  b.fail();
  c.ready();
  await assert.rejects(b.done, /b/);
  await turn();
  assert.deepEqual(log, []);
  a.ready();
  await turn();
  assert.deepEqual(log, ["a", "c"]);
  for (const one of [a, c]) one.submitted();
  await Promise.all([a.done, c.done]);
});
