/** A list of approvals by status reads no others. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { explainEverything, plansWhile } from "../../../../test/support/postgres-plans.ts";
import { makeScene, SAMPLE_RULES } from "../../conformance/run-samples.ts";
import { APPROVAL_STATUSES } from "../contract.ts";

/** The newest are approved; of each other status there are some before them. */
const APPROVALS = `
  INSERT INTO approvals (environment_id, approval_id, wait_name, status, is_pending, prompt, data, confirms_reject, created_at, expires_at, request_event_id)
  SELECT $1, lpad(n::text, 26, '0'), n, CASE WHEN n > 100 THEN 'approved' ELSE ($2::text[])[n % 5 + 1] END, 0, '', 'null', 0, 1, 2, ''
  FROM generate_series(1, 10000) AS n`;

test("postgres: a list of approvals by status reads no others", { skip: whyNoPostgres() ?? false }, async (t) => {
  const url = await migratedDatabase(t);
  const first = await openPatientStore({ url, rules: SAMPLE_RULES });
  const { environment } = await makeScene(first);
  await first.stop();
  await inDatabase(url, async (client) => {
    await client.query(APPROVALS, [environment.id, APPROVAL_STATUSES]);
    await client.query("ANALYZE approvals");
  });
  await explainEverything(url);
  for (const status of APPROVAL_STATUSES) {
    const seen = await plansWhile(async () => {
      const store = await openPatientStore({ url, rules: SAMPLE_RULES });
      const { approvals } = await store
        .approvalList({ environmentId: environment.id, now: 1, limit: 5, status })
        .finally(() => store.stop());
      assert.equal(approvals.length, 5);
    });
    const reads = seen.flatMap(({ nodes }) => nodes.filter((node) => node["Relation Name"] === "approvals"));
    assert.ok(reads.length > 0);
    const rows = reads.map((node) => (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0));
    assert.ok(Math.max(...rows) <= 100, `${status}: ${Math.max(...rows)} rows were read`);
  }
});
