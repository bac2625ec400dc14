import assert from "node:assert/strict";
import { test } from "node:test";
import { checkStoreImports, isEngine, STORE } from "./store-parts.ts";

const faults = (file: string, ...specifiers: string[]) => checkStoreImports(`${STORE}/${file}`, specifiers).length;

test("an engine imports the contract, the policy and the rows of any noun, and itself", () => {
  assert.equal(
    faults("limits/sqlite.ts", "./policy.ts", "./rows.ts", "../contract/index.ts", "../sqlite/group-commit.ts", "node:sqlite"),
    0,
  );
  assert.equal(faults("runs/postgres/runs.ts", "../rows/run-rows.ts", "../../queue/postgres/queue.ts", "../../queue/policy.ts", "pg"), 0);
});

test("no engine imports the other one", () => {
  assert.equal(faults("limits/sqlite.ts", "./postgres.ts"), 1);
  assert.equal(faults("runs/postgres/runs.ts", "../sqlite/runs.ts", "../../sqlite/database.ts"), 2);
  assert.equal(faults("copy/copy-store.ts", "../sqlite/database.ts", "../postgres/database.ts"), 0);
});

test("contract, policy, rows and conformance cases import no engine and no driver", () => {
  for (const part of ["contract", "policy", "rows", "conformance"])
    assert.equal(faults(`jobs/${part}.ts`, "./sqlite.ts", "../postgres/database.ts", "pg"), 3, part);
});

test("policy is pure: not even modules of Node", () => {
  assert.equal(faults("jobs/policy.ts", "./contract.ts", "../queue/policy.ts", "node:crypto"), 1);
});

test("no part of the store imports a stage", () => {
  assert.equal(faults("runs/sqlite/runs.ts", "../../../execute/executor.ts"), 1);
});

test("every file of a noun is one of its parts", () => {
  assert.equal(faults("jobs/other.ts"), 1);
  assert.equal(faults("limits/postgres.test.ts", "../../../test/support/postgres.ts"), 0);
});

test("only engines and the copy between them contain SQL", () => {
  assert.deepEqual(
    ["limits/sqlite.ts", "runs/postgres/runs.ts", "postgres/database.ts", "copy/copy-table.ts", "jobs/rows.ts", "jobs/policy.ts"].map(
      (file) => isEngine(`${STORE}/${file}`),
    ),
    [true, true, true, true, false, false],
  );
});
