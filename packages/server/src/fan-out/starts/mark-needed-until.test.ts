import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionNo } from "@inlet/protocol";
import type { MarkKey } from "../../store/contract/index.ts";
import { throttleAdmit } from "../gcra.ts";
import { markNeededUntil } from "./mark-needed-until.ts";

const NOON = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const HOURLY = { limit: 1, periodMs: HOUR_MS, burst: 0, key: null };

test("the mark of a rate is needed as long as the rule in force counts what it says", () => {
  const fast = { ...HOURLY, limit: 3_600, burst: 9 };
  const { remember: value, expiresAt } = throttleAdmit(null, NOON, fast, 10);
  assert.equal(expiresAt, NOON + 10_000);
  const neededUntil = (kind: MarkKey["kind"], config: Parameters<typeof markNeededUntil>[1]) =>
    markNeededUntil({ functionNo: 1 as FunctionNo, kind, value }, config);
  const [limited, throttled] = [
    { rateLimit: HOURLY, throttle: null },
    { rateLimit: null, throttle: HOURLY },
  ];
  assert.equal(neededUntil("rate", limited), NOON + HOUR_MS, "a larger burst of before counts as far as the rule allows one");
  assert.equal(neededUntil("throttle", throttled), NOON + HOUR_MS);
  assert.equal(neededUntil("throttle", { ...throttled, throttle: fast }), expiresAt);
  assert.deepEqual([neededUntil("rate", throttled), neededUntil("throttle", limited), neededUntil("debounce", limited)], [0, 0, 0]);
  assert.equal(neededUntil("rate", undefined), 0, "the function is unknown");
});
