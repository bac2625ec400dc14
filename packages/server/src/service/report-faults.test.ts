import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../test/support/runs.ts";
import { reportFaults } from "./report-faults.ts";

test("a database that fails and works in turns is reported once, and its recovery when it stays well", async () => {
  const said: unknown[] = [];
  const note = (level: string) => (facts: object) => void said.push([level, facts]);
  const log = { error: note("error"), info: note("info") };
  const { onFault, onRecovery } = reportFaults(log as never, "eu", 1);
  for (const reason of ["full", "locked", "full"]) {
    onFault(reason);
    onRecovery();
  }
  assert.deepEqual(said, [["error", { database: "eu", reason: "full" }]]);
  await until("the recovery", () => (said.length > 1 ? true : undefined));
  onFault("locked");
  assert.deepEqual(said.slice(1), [
    ["info", { database: "eu" }],
    ["error", { database: "eu", reason: "locked" }],
  ]);
});
