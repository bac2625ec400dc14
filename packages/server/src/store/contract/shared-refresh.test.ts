import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedRefresh } from "./shared-refresh.ts";

test("calls during a read share the next one, which begins after they were made", async () => {
  const reads: { resolve(): void; reject(error: Error): void }[] = [];
  const refresh = sharedRefresh(() => new Promise((resolve, reject) => reads.push({ resolve, reject })));
  const settle = () => new Promise(setImmediate);
  const first = refresh();
  await settle();
  const others = Array.from({ length: 200 }, () => refresh());
  await settle();
  assert.equal(reads.length, 1);
  reads[0]?.reject(new Error("away"));
  await assert.rejects(first, /away/);
  await settle();
  assert.equal(reads.length, 2, "a read that failed is no reason not to read again");
  reads[1]?.resolve();
  await Promise.all(others);
  const last = refresh();
  await settle();
  assert.equal(reads.length, 3);
  reads[2]?.resolve();
  await last;
});
