import assert from "node:assert/strict";
import { test } from "node:test";
import { errorPattern } from "./error-pattern.ts";

const patternOf = (message: string) => errorPattern({ name: "E", message });

test("what differs between failures of the same cause is left out of a pattern", () => {
  const cases: [string, string][] = [
    ["card declined for order ord_698 (11866)", "card declined for order * (*)"],
    ["user 3f2c1a90-0b1e-4c55-9d0a-6a1f0c9e7b12 is gone.", "user * is gone."],
    ["event 01M7JH49B90KFGS3MJT3JDM2WX, attempt 2", "event *, attempt *"],
    ["connect ECONNREFUSED 10.0.0.7:3000", "connect ECONNREFUSED *:*"],
    ["mail to ada+1@example.com. refused", "mail to *. refused"],
    ["seat 578 of row 407", "seat * of row *"],
    ["paid 12.50 of 1,200", "paid * of *,*"],
  ];
  for (const [message, pattern] of cases) assert.equal(patternOf(message), `E: ${pattern}`);
});

test("what tells causes apart is kept", () => {
  for (const message of [
    "upstream answered 503",
    "upstream answered 404",
    "no sha256 in utf8",
    "card declined",
    "E11000 duplicate key",
    "",
  ])
    assert.equal(patternOf(message), `E: ${message}`);
  assert.equal(errorPattern(null), "Error: ");
  assert.equal(
    patternOf(`${"x".repeat(500)} and more`),
    patternOf(`${"x".repeat(500)} and less`),
    "of a long message the beginning counts",
  );
});
