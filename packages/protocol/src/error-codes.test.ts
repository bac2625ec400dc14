import assert from "node:assert/strict";
import { test } from "node:test";
import { ERRORS, type ErrorCode, errorBody, Refusal } from "./error-codes.ts";

test("every error has a message, its code, its status and the page that explains it", () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const expected = { error: "What happened.", code, status: ERRORS[code].status, docs: `/docs/errors/${code}` };
    assert.deepEqual(JSON.parse(errorBody(new Refusal(code, "What happened."))), expected);
  }
  const details = [{ index: 1, field: "name", message: "must not be empty" }];
  assert.deepEqual(JSON.parse(errorBody(new Refusal("event_invalid", "An event.", details))).details, details);
});
