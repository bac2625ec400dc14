import assert from "node:assert/strict";
import { test } from "node:test";
import { readHandshakeResponse } from "./handshake-response.ts";

test("whatever code returns as headers is either passed on as text or refused", () => {
  const headersOf = (headers: unknown) => {
    const read = readHandshakeResponse({ headers, body: "ok" });
    return typeof read === "string" ? read : read.headers;
  };
  assert.deepEqual(headersOf({ "X-Hook-Secret": "s", "webhook-allowed-rate": 120, "X-Other": "dropped" }), [
    "X-Hook-Secret",
    "s",
    "webhook-allowed-rate",
    "120",
  ]);
  for (const value of [{ toString: 1, valueOf: 1 }, ["s"], {}]) {
    for (const name of ["X-Hook-Secret", "X-Other"]) assert.equal(headersOf({ [name]: value }), "headers must hold texts");
  }
});
