/**
 * What a request brought is garbage as soon as it is answered, and V8 must find that out with its quick collections: what those take
 * for alive costs a copy, a place in old memory, and a full collection later on.
 */

import assert from "node:assert/strict";
import { after, it } from "node:test";
import { getHeapSpaceStatistics } from "node:v8";
import { testRunner } from "../threads/run-for-test.ts";

const { runner, run } = testRunner();
after(() => runner.stop());

const SOURCE = `(evt) => ({ name: "a", data: {} })`;
const REQUEST_BYTES = 8_000;
const AT_ONCE = 64;
const REQUESTS = 12_000;
/** Of the 96 MB that come in. The test itself needs some 6 MB. */
const OLD_BYTES_MAX = 15_000_000;

it("what was answered does not grow old", async () => {
  const before = oldBytes();
  let oldest = before;
  let left = REQUESTS;
  const send = async () => {
    while (left-- > 0) {
      const raw = JSON.stringify({ left, text: "x".repeat(REQUEST_BYTES) });
      await run(SOURCE, { evtJson: raw, raw });
      oldest = Math.max(oldest, oldBytes());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  assert.ok(oldest - before < OLD_BYTES_MAX, `${oldest - before} bytes grew old`);
});

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
}
