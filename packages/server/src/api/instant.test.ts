import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTime, readInstant } from "./instant.ts";

test("a time is ISO 8601, in UTC unless it names a zone, and on a day that there is", () => {
  const noon = Date.parse("2027-01-05T12:00:00Z");
  for (const text of ["2027-01-05T12:00:00Z", "2027-01-05T12:00", "2027-01-05T13:00:00.000+01:00"]) assert.equal(parseTime(text), noon);
  for (const text of ["Jan 5, 2027", "2027-02-30", "2027", "12:00", ""]) assert.equal(parseTime(text), Number.NaN, text);
  assert.equal(readInstant("from", String(noon)), noon);
  assert.throws(() => readInstant("from", "Jan 5, 2027"));
});
