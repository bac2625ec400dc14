/** What was loaded stays when a poll fails, unless the answer takes it away. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "./client.ts";
import { isUnavailable } from "./unavailable.ts";

test("a failed load is shown if nothing was loaded before, or if the object is gone", () => {
  const cases: [status: number | null, data: unknown, isShown: boolean][] = [
    [null, undefined, false],
    [null, [], false],
    [0, undefined, true],
    [500, undefined, true],
    [404, undefined, true],
    [0, [], false],
    [429, [], false],
    [500, null, false],
    [503, {}, false],
    [403, {}, true],
    [404, {}, true],
  ];
  for (const [status, data, isShown] of cases) {
    const error = status === null ? null : new ApiError(status, "code", "message");
    assert.equal(isUnavailable(error, data), isShown, `${status} with ${JSON.stringify(data)}`);
  }
});
