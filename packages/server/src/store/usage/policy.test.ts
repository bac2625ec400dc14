import assert from "node:assert/strict";
import { test } from "node:test";
import { grantLease } from "./policy.ts";

const asked = { period: 10, limit: 100, needed: 5, wanted: 20 };

test("leases of a quota never exceed its limit, and begin again with each period", () => {
  assert.deepEqual(grantLease(null, 0, asked), { period: 10, leased: 20, granted: 20 });
  assert.deepEqual(grantLease({ period: 10, leased: 90 }, 0, asked), { period: 10, leased: 100, granted: 10 });
  assert.deepEqual(grantLease({ period: 10, leased: 96 }, 0, asked), { period: 10, leased: 96, granted: 0 });
  assert.deepEqual(grantLease({ period: 9, leased: 96 }, 0, asked), { period: 10, leased: 20, granted: 20 });
});

test("what was used without leases counts, and a late request leases from the period in force", () => {
  assert.deepEqual(grantLease({ period: 10, leased: 20 }, 85, asked), { period: 10, leased: 100, granted: 15 });
  assert.deepEqual(grantLease({ period: 11, leased: 50 }, 0, asked), { period: 11, leased: 70, granted: 20 });
});
