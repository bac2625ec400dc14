/** A step of a job that takes longer than the job's lease is taken once, by one node, and the job ends. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "pg";
import { startNode } from "./support/nodes.ts";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";

const skip = whyNoPostgres() ?? false;
/** So many times the node has to renew its lease while the step takes its time: more than one lease. */
const RENEWALS = 5;

test("an erasure on two nodes ends, although what follows its last item takes longer than a lease", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const flags = ["--database-url", databaseUrl];
  const nodes = await Promise.all([startNode(t, flags), startNode(t, flags)]);
  const [node] = nodes;
  assert.equal((await node.send([1, 2, 3].map((n) => ({ name: "app/personal", data: { n } })))).status, 200);

  const client = new Client(databaseUrl);
  await client.connect();
  onEnd(t, () => client.end());
  const jobRow = async () => (await client.query("SELECT leased_by, leased_until, done::integer, ended_at FROM jobs")).rows[0];
  await client.query("BEGIN");
  // VACUUM and ANALYZE wait for this lock; reading and writing do not.
  await client.query("LOCK TABLE waits IN SHARE UPDATE EXCLUSIVE MODE");
  const job = await node.rest("POST", "/jobs", { body: { kind: "events.erase", filter: { name: "app/personal" } } });
  assert.equal(job.status, 202, job.text);
  await until("all items are done", async () => ((await jobRow())?.done === 3 ? true : undefined));

  const holders = new Set<string>();
  const leases = new Set<string>();
  await until("renewals of the lease", async () => {
    const { leased_by, leased_until, ended_at } = await jobRow();
    assert.equal(ended_at, null);
    holders.add(leased_by);
    leases.add(leased_until);
    return leases.size > RENEWALS ? true : undefined;
  });
  assert.equal(holders.size, 1, "one node has it all the time");
  await client.query("COMMIT");
  await until("the end of the job", async () => {
    const { body } = await node.rest("GET", `/jobs/${job.body.data.id}`);
    return body.data.status === "completed" ? true : undefined;
  });
  assert.doesNotMatch(nodes.map(({ stderr }) => stderr()).join(""), /cannot be reached|cannot be written/);
});
