import assert from "node:assert/strict";
import { test } from "node:test";
import { readTraceparent, traceIdOf } from "./traceparent.ts";

const GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("a traceparent is carried on as it is; what is none is ignored", () => {
  assert.equal(readTraceparent(GOOD), GOOD);
  assert.equal(traceIdOf(GOOD), "0af7651916cd43dd8448eb211c80319c");
  for (const wrong of [
    undefined,
    "",
    "x",
    GOOD.slice(0, -1),
    `${GOOD}-more`,
    GOOD.toUpperCase(),
    GOOD.replace("00-", "ff-"),
    [GOOD, GOOD],
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
  ])
    assert.equal(readTraceparent(wrong), null, String(wrong));
});
