/**
 * A failed run that was rerun is superseded: its failure does not count it, `rerun=false` leaves it out, so no job repeats it again, and it
 * names its rerun. Failures are resolved until they happen again, or ignored.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { NonRetriableError } from "@inlet/sdk";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startTestService, type TestService } from "./support/service.ts";

const FUNCTION = "shop-charge";

interface Scene {
  service: TestService;
  /** Cards that are accepted. */
  accepted: Set<string>;
  charge(card: string): Promise<string>;
  failures(query?: string): Promise<Failure[]>;
}

interface Failure {
  function: { id: string };
  error: { pattern: string };
  count: number;
  rerun: number;
  trend: number[];
  state: string;
  decided: { state: string; by: string } | null;
}

async function open(t: TestContext): Promise<Scene> {
  const service = await startTestService(t);
  const accepted = new Set<string>();
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "charge" }, { event: "shop/payment.due" }, ({ event }) => {
      if (!accepted.has(event.data.card as string)) throw new NonRetriableError("The card was declined");
    }),
  ]);
  return {
    service,
    accepted,
    async charge(card) {
      const { body } = await service.send({ name: "shop/payment.due", data: { card } });
      const [run] = await runsOf(service, body.ids[0]);
      return run.id;
    },
    failures: async (query = "") => (await service.rest("GET", `/failures?${query}`)).body.data,
  };
}

test("a rerun supersedes the failed run, in counts, filters and jobs", async (t) => {
  const { service, accepted, charge, failures } = await open(t);
  const [a, b, c] = [await charge("a"), await charge("b"), await charge("c")];
  const [before] = await failures();
  assert.ok(before);
  assert.deepEqual([before.count, before.rerun, before.state], [3, 0, "open"]);
  assert.deepEqual([before.trend.length, before.trend.at(-1)], [24, 3]);

  accepted.add("a").add("b");
  const filter = { errorPattern: before.error.pattern, function: FUNCTION, rerun: false };
  const job = (await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter } })).body.data;
  const ended = await poll(async () => {
    const { body } = await service.rest("GET", `/jobs/${job.id}`);
    return body.data.endedAt !== null && body.data.runs.unfinished === 0 ? body.data : null;
  }, "the runs of the job");
  assert.deepEqual([ended.total, ended.runs], [3, { completed: 2, failed: 1, cancelled: 0, unfinished: 0 }]);

  const [left] = await failures();
  assert.ok(left);
  assert.deepEqual([left.count, left.rerun, left.state], [1, 3, "open"]);
  const query = `errorPattern=${encodeURIComponent(left.error.pattern)}`;
  const listed = async (rerun: boolean) =>
    (await service.rest("GET", `/runs?${query}&rerun=${rerun}`)).body.data.map(({ id }: { id: string }) => id);
  assert.deepEqual(new Set(await listed(true)), new Set([a, b, c]));
  const [again, ...others] = await listed(false);
  assert.deepEqual([others, [a, b, c].includes(again)], [[], false], "the one that failed again");
  for (const rest of [`status=failed&rerun=false`, `function=${FUNCTION}&status=failed&rerun=false`])
    assert.deepEqual((await service.rest("GET", `/runs?${rest}`)).body.data.length, 1, rest);
  const dry = await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter, dryRun: true } });
  assert.equal(dry.body.data.total, 1, "nobody is charged twice");

  const runOf = async (id: string) => (await service.rest("GET", `/runs/${id}`)).body.data;
  assert.equal((await runOf(a)).rerun.status, "completed");
  assert.deepEqual((await runOf(c)).rerun, { id: again, status: "failed" });
  assert.equal((await runOf(again)).rerun, null);

  accepted.add("c");
  const last = (await service.rest("POST", `/runs/${again}/rerun`, { body: {} })).body.data;
  await poll(async () => (await runOf(last.id)).status === "completed" || null, "the last rerun");
  assert.deepEqual((await runOf(c)).rerun, { id: last.id, status: "completed" }, "a rerun of a rerun repeats the first run, too");
  const [repaired] = await failures();
  assert.deepEqual([repaired?.count, repaired?.rerun, repaired?.state], [0, 4, "resolved"]);
  assert.deepEqual(await failures("state=open"), []);
});

test("a failure is resolved until it happens again, or ignored", async (t) => {
  const { service, charge, failures } = await open(t);
  await charge("a");
  const pattern = (await failures())[0]?.error.pattern as string;
  const decide = (state: string, fn = FUNCTION) => service.rest("PUT", "/failures", { body: { function: fn, pattern, state } });
  const stateNow = async () => (await failures())[0]?.state;

  assert.deepEqual((await decide("resolved")).body.data, { function: FUNCTION, pattern, state: "resolved" });
  const [resolved] = await failures("state=resolved");
  assert.deepEqual([resolved?.state, resolved?.decided?.state], ["resolved", "resolved"]);
  assert.deepEqual(await failures("state=open"), []);
  await charge("b");
  assert.equal(await stateNow(), "open", "it happened again");
  await decide("ignored");
  await charge("c");
  assert.equal(await stateNow(), "ignored");
  await decide("open");
  assert.deepEqual([await stateNow(), (await failures())[0]?.decided], ["open", null]);

  assert.equal((await failures("q=CARD%20WAS")).length, 1);
  assert.equal((await failures(`q=charge&function=${FUNCTION}`)).length, 1);
  assert.equal((await failures("q=elsewhere")).length, 0);
  assert.equal((await decide("resolved", "shop-other")).body.code, "function_not_found");
  assert.equal((await decide("gone")).status, 400);
  const viewer = (await service.rest("POST", "/keys", { body: { kind: "api", name: "v", role: "viewer" } })).body.data.key;
  const refused = await service.rest("PUT", "/failures", {
    body: { function: FUNCTION, pattern, state: "ignored" },
    headers: { authorization: `Bearer ${viewer}` },
  });
  assert.equal(refused.status, 403);
  const { body } = await service.rest("GET", "/audit-log?limit=10");
  const noted = body.data.map(({ action }: { action: string }) => action).filter((action: string) => action.startsWith("failure."));
  assert.deepEqual(noted, ["failure.open", "failure.ignored", "failure.resolved"]);
});
