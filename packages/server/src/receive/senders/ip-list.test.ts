import assert from "node:assert/strict";
import { test } from "node:test";
import { ipAllowed, isIpRange } from "./ip-list.ts";

test("no list lets everybody through", () => {
  assert.ok(ipAllowed(null, "203.0.113.7"));
});

test("allow and deny, single addresses and ranges of both families", () => {
  const list = ["203.0.113.7", "10.0.0.0/8", "2001:db8::/32", "::1"];
  const inside = ["203.0.113.7", "10.255.0.1", "2001:db8::42", "::1", "::ffff:10.1.2.3", "::FFFF:203.0.113.7"];
  const outside = ["203.0.113.8", "11.0.0.1", "2001:db9::1", "::2", "", "unknown"];
  for (const address of inside) {
    assert.ok(ipAllowed({ mode: "allow", list }, address), address);
    assert.ok(!ipAllowed({ mode: "deny", list }, address), address);
  }
  for (const address of outside) {
    assert.ok(!ipAllowed({ mode: "allow", list }, address), address);
    assert.ok(ipAllowed({ mode: "deny", list }, address), address);
  }
});

test("an empty allow list lets nobody through, an empty deny list everybody", () => {
  assert.ok(!ipAllowed({ mode: "allow", list: [] }, "10.0.0.1"));
  assert.ok(ipAllowed({ mode: "deny", list: [] }, "10.0.0.1"));
});

test("what is an address or a range", () => {
  for (const good of ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::/0", "fe80::1/64"]) assert.ok(isIpRange(good), good);
  for (const bad of ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "1/2/3", "example.com", "/8", "::1/x"])
    assert.ok(!isIpRange(bad), bad);
  for (const bad of ["10.0.0.0/8/8", "10.0.0.0/8x", "10.0.0.0/x8", "10.0.0.0/ 8"]) assert.ok(!isIpRange(bad), bad);
});
