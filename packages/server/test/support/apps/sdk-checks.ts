/**
 * What an app written with a published SDK must see, whichever the SDK, on a developer's machine and in production, on either store. The
 * rarer cases run once for each SDK, in production on the embedded store: what they depend on is the protocol.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { whyNoPostgres } from "../postgres.ts";
import { endedRun, runDetails, runsOfEvent, until } from "../runs.ts";
import { DEFER_CHECKS, DEFER_MAIN_CHECKS } from "./defer-checks.ts";
import { checkEnvironmentKeys } from "./environment-key-checks.ts";
import { LARGE_STEP_BYTES } from "./feature-app.ts";
import { MAIN_CHECKS } from "./main-checks.ts";
import type { PublishedSdk } from "./published-sdk.ts";
import { checkRotation } from "./rotation-checks.ts";
import { type Checks, ROWS_AT_ONCE, rotatingApp, type SdkSetting, startRunning } from "./running-sdk.ts";
import { SIGNAL_CHECKS } from "./signal-checks.ts";

export { BARE_SIGNING_KEY, PREFIXED_SIGNING_KEY } from "./running-sdk.ts";

const CHECKS: Checks = {
  ...SIGNAL_CHECKS,
  async "a response that comes before its wait is not missed"({ run }) {
    const asked = await Promise.all(Array.from({ length: 10 }, () => run("asker")));
    for (const { run: ended, key } of asked) assert.deepEqual(ended.output, { key }, JSON.stringify(ended));
  },
  async "an event that has ended one wait does not end the next"({ send, client, service }) {
    const { key, eventId } = await send("listener");
    const waitsFor = (name: string) =>
      until(name, async () => {
        const [run] = await runsOfEvent(service, eventId);
        const steps = run ? ((await runDetails(service, run.id)).steps ?? []) : [];
        return steps.find((step) => step.name === name && step.status === "waiting") ? true : undefined;
      });
    for (const n of [0, 1]) {
      await waitsFor(`word ${n}`);
      await client.send({ name: "app/word", data: { key, n } });
    }
    assert.deepEqual((await endedRun(service, eventId)).output, [0, 1]);
  },
  async "Promise.race goes on with the winner"({ send, client, service }) {
    const { key, eventId } = await send("racing");
    await until("the winner", async () => {
      const [run] = await runsOfEvent(service, eventId);
      const steps = run ? ((await runDetails(service, run.id)).steps ?? []) : [];
      return steps.some(({ name, status }) => name === "quick" && status === "completed") || undefined;
    });
    // Some versions go on only when every step of the race has ended.
    await client.send({ name: "app/late", data: { key } });
    const ended = await endedRun(service, eventId);
    assert.deepEqual(ended.output, { winner: "quick", after: "done" }, JSON.stringify(ended));
  },
  async "a step that has won a race need not wait for the others"({ run, journal }) {
    const { run: ended, key } = await run("racing-group");
    assert.equal(ended.output, "quick", JSON.stringify(ended));
    await journal.noted(key, "slow");
    assert.deepEqual(journal.of(key), ["after the race", "slow"], "each once");
  },
  async "of parallel steps one may fail"({ run, journal }) {
    const { run: ended, key } = await run("one-fails");
    assert.deepEqual(ended.output, ["good", "bad luck"], JSON.stringify(ended));
    assert.deepEqual(journal.of(key), ["bad", "bad"]);
  },
  async "a step that fails is tried again by itself, and attempts begin anew after it"({ run, journal }) {
    const { run: ended, key } = await run("flaky-step");
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    assert.deepEqual(journal.of(key), ["steady", "flaky 0", "flaky 1", "flaky 2", "after 0"]);
    assert.equal(ended.output.attempt, 2);
    assert.deepEqual(
      ended.steps?.map(({ name, attempts }) => [name, attempts]),
      [
        ["steady", 1],
        ["flaky", 3],
        ["after", 1],
      ],
    );
  },
  async "a RetryAfterError says when"({ run, journal }) {
    const { run: ended, key } = await run("retry-after");
    assert.equal(ended.output, "done");
    const [first = 0, second = 0] = journal.of(key).map(Number);
    assert.ok(second - first >= 990, `tried again after ${second - first} ms`);
  },
  async "a function may catch the error of a step that has failed for good"({ run, journal }) {
    const { run: ended, key } = await run("catcher");
    assert.deepEqual(ended.output, { saved: "rescued", message: "out of range" }, JSON.stringify(ended));
    assert.deepEqual(journal.of(key), ["bad", "bad"]);
  },
  async "an event of 300 KB arrives whole, and so does a batch of that size"({ run, client, service, setting }) {
    // The node adapter of v3 decodes each chunk by itself, and breaks letters of several bytes that lie across two.
    const letter = setting.sdk.name === "v3" ? "s" : "ß";
    const text = `${letter.repeat(300_000 / Buffer.byteLength(letter))}end`;
    const { run: ended } = await run("large-payload", { text });
    assert.deepEqual(ended.output, { length: text.length, end: "end" }, JSON.stringify(ended).slice(0, 2_000));
    const batch = Array.from({ length: 30 }, (_, i) => ({ name: "app/large-payload", data: { text: `${"x".repeat(10_000)}${100 + i}` } }));
    const { ids } = await client.send(batch);
    const runs = await Promise.all(ids.map((id) => endedRun(service, id)));
    assert.deepEqual(
      runs.map(({ output }) => output.end),
      batch.map(({ data }) => data.text.slice(-3)),
    );
  },
  async "state of more than 4 MiB is fetched by the SDK"({ run }) {
    const { run: ended } = await run("large-state");
    assert.equal(ended.status, "completed", JSON.stringify({ ...ended, steps: [] }));
    assert.deepEqual(ended.output, { lengths: Array(4).fill(LARGE_STEP_BYTES), last: "done" });
  },
};

/** A service and an app for each row of the table. */
export function checkSdk(sdk: PublishedSdk, table: readonly Omit<SdkSetting, "sdk">[]): void {
  test(`SDK ${sdk.name}`, { concurrency: ROWS_AT_ONCE }, async (t) => {
    await Promise.all(table.map((row) => checkRow(t, { sdk, ...row })));
  });
}

/** Runs every check at once against one service and one app; then the signing key is rotated. */
function checkRow(t: TestContext, setting: SdkSetting): Promise<void> {
  const { sdk, mode, store, cases, checkpointing } = setting;
  const how = checkpointing === undefined ? "" : `, checkpointing ${JSON.stringify(checkpointing)}`;
  const skip = (store === "postgres" && whyNoPostgres()) || false;
  return t.test(`${mode}, ${store}${how}`, { concurrency: true, skip }, async (row) => {
    const running = await startRunning(row, setting);
    const checks = {
      ...MAIN_CHECKS,
      ...(sdk.createDefer && DEFER_MAIN_CHECKS),
      ...(cases === "all" && CHECKS),
      ...(cases === "all" && sdk.createDefer && DEFER_CHECKS),
    };
    await Promise.all(Object.entries(checks).map(([name, check]) => row.test(name, () => check(running))));
    if (mode === "dev") return;
    await row.test("with the keys of its environment", () => checkEnvironmentKeys(running.service, rotatingApp(row, running)));
    await row.test("its signing key is rotated", () => checkRotation(running.service, rotatingApp(row, running)));
  });
}
