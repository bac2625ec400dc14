/** Times of lists: the durations of the service, counted back from now, beside what the REST API reads itself. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { instant, instantFault } from "./list-flags.ts";

test("a duration is a time before now, in every form that settings take", () => {
  const now = 1_000_000_000;
  for (const [text, agoMs] of [
    ["15m", 900_000],
    ["1.5h", 5_400_000],
    ["1h30m", 5_400_000],
    ["250ms", 250],
    ["1w", 604_800_000],
  ] as const) {
    assert.equal(instant(text, now), String(now - agoMs), text);
    assert.equal(instantFault("--from")(text), null, text);
  }
});

test("milliseconds and ISO 8601 are passed on, anything else is refused", () => {
  for (const text of ["0", "1700000000000", "2026-01-01", "2026-01-01T10:00:00Z"]) {
    assert.equal(instant(text, 5), text);
    assert.equal(instantFault("--from")(text), null, text);
  }
  for (const text of ["", "soon", "15 x", "-1h"]) assert.match(instantFault("--from")(text) ?? "", /^--from must be/, text);
});
