import assert from "node:assert/strict";
import { test } from "node:test";
import { addressGroup } from "@inlet/protocol";
import { AttemptBudget, type Proof } from "./attempt-budget.ts";

const isRefused = (attempt: () => void): boolean => {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
};

test("ten failures, then one every six seconds", () => {
  let now = 1_000_000;
  const budget = new AttemptBudget({ now: () => now });
  const guess = (ip = "10.0.0.1") => isRefused(() => budget.check(ip, null));
  assert.deepEqual(
    Array.from({ length: 12 }, () => guess()),
    [...Array(10).fill(false), true, true],
  );
  assert.equal(guess("10.0.0.2"), false, "another address is not concerned");
  now += 5_999;
  assert.equal(guess(), true);
  now += 1;
  assert.deepEqual([guess(), guess()], [false, true]);
  now += 60_000;
  assert.equal(Array.from({ length: 10 }, () => guess()).includes(true), false, "all is forgiven after a minute");
});

test("a right key that did not work from there before has to wait too; one that did goes on", () => {
  const budget = new AttemptBudget({ now: () => 0 });
  budget.check("10.0.0.1", "key_known");
  for (let n = 0; n < 10; n++) budget.check("10.0.0.1", null);
  assert.equal(
    isRefused(() => budget.check("10.0.0.1", "key_guessed")),
    true,
  );
  assert.equal(
    isRefused(() => budget.check("10.0.0.1", "key_known")),
    false,
  );
  assert.equal(
    isRefused(() => budget.check("10.0.0.2", "key_guessed")),
    false,
  );
});

test("what worked while its address was failing is handed on once, and holds after a restart", () => {
  const kept: Proof[] = [];
  const budget = new AttemptBudget({ now: () => 0, keep: (proof) => kept.push(proof) });
  budget.check("10.0.0.1", "key_early");
  assert.deepEqual(kept, [], "where nobody fails there is nothing to keep");
  budget.check("10.0.0.1", null);
  for (let n = 0; n < 3; n++) for (const key of ["key_early", "key_late"]) budget.check("10.0.0.1", key);
  budget.check("10.0.0.2", "key_elsewhere");
  assert.deepEqual(
    kept.map(({ address, credential }) => `${address} ${credential}`),
    ["10.0.0.1 key_early", "10.0.0.1 key_late"],
  );
  const restarted = new AttemptBudget({ now: () => 0 });
  restarted.restore(kept);
  for (let n = 0; n < 10; n++) restarted.check("10.0.0.1", null);
  assert.deepEqual(
    ["key_early", "key_late", "key_other"].map((key) => isRefused(() => restarted.check("10.0.0.1", key))),
    [false, false, true],
  );
});

test("memory is bounded", () => {
  const budget = new AttemptBudget({ now: () => 0 });
  for (let n = 0; n < 10; n++) budget.check("10.0.0.1", null);
  assert.equal(
    isRefused(() => budget.check("10.0.0.1", null)),
    true,
  );
  for (let n = 0; n < 10_000; n++) budget.check(`192.168.${n >> 8}.${n & 255}`, null);
  assert.equal(
    isRefused(() => budget.check("10.0.0.1", null)),
    false,
    "the oldest address was forgotten",
  );
});

test("a /64 of IPv6 counts as one address", () => {
  assert.equal(addressGroup("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2");
  assert.equal(addressGroup("2001:0DB8:1:2::9"), "2001:db8:1:2");
  assert.equal(addressGroup("2001:db8::9"), "2001:db8:0:0");
  assert.equal(addressGroup("::1"), "0:0:0:0");
  assert.equal(addressGroup("fe80::1%eth0"), "fe80:0:0:0");
  assert.equal(addressGroup("::ffff:10.0.0.1"), "10.0.0.1");
  assert.equal(addressGroup("10.0.0.1"), "10.0.0.1");
});
