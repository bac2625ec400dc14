/** The main case of each feature, which holds in every mode and on every store. */

import assert from "node:assert/strict";
import { endedRun, isEnded, runDetails, runsOfEvent, until } from "../runs.ts";
import { GATEWAY_CHECKS } from "./gateway-checks.ts";
import type { Checks } from "./running-sdk.ts";
import { SIGNAL_MAIN_CHECKS } from "./signal-checks.ts";

export const MAIN_CHECKS: Checks = {
  ...SIGNAL_MAIN_CHECKS,
  ...GATEWAY_CHECKS,
  async "an event comes as it was sent, and the result is kept"({ run }) {
    const { run: ended, eventId, key } = await run("plain", { nested: { list: [1, "zwei", null, 1.5] } });
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    assert.equal(ended.output.event.name, "app/plain");
    assert.deepEqual(ended.output.event.data, { key, nested: { list: [1, "zwei", null, 1.5] } });
    assert.equal(ended.output.event.id, eventId);
    assert.equal(ended.output.runId, ended.id);
    assert.deepEqual([ended.output.attempt, ended.output.maxAttempts], [0, 4 + 1]);
  },
  async "an event starts every function that subscribes, and those whose condition holds"({ client, service }) {
    const { ids } = await client.send([
      { name: "app/fan", data: { amount: 11 } },
      { name: "app/fan", data: { amount: 1 } },
      { name: "app/fan.more", data: {} },
    ]);
    const outputs = async (id: string | undefined, expected: number) => {
      const runs = await until("runs", async () => {
        const found = await runsOfEvent(service, id as string);
        return found.length >= expected && found.every(isEnded) ? found : undefined;
      });
      return (await Promise.all(runs.map((run) => runDetails(service, run.id)))).map(({ output }) => output).sort();
    };
    assert.deepEqual(await outputs(ids[0], 3), ["one", "some", "two"]);
    assert.deepEqual(await outputs(ids[1], 2), ["one", "two"]);
    assert.deepEqual(await outputs(ids[2], 1), ["two"]);
  },
  async "steps run once each, in order, and their results come back"({ run, journal }) {
    const { run: ended, key } = await run("steps");
    const first = { text: "ünïcode ✓ \u2028 </script>", number: 0.1, big: 1e21 };
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    assert.deepEqual(ended.output, { first, second: [first.text, key, null], nothing: null });
    assert.deepEqual(journal.of(key), ["first", "second"]);
    const steps = ended.steps ?? [];
    assert.deepEqual(
      steps.map(({ name, kind, status }) => [name, kind, status]),
      [
        ["first", "run", "completed"],
        ["second", "run", "completed"],
        ["nothing", "run", "completed"],
      ],
    );
    assert.deepEqual(steps[0].output, first);
  },
  async "step.sendEvent sends, and what it sends starts functions"({ run, service }) {
    const { run: ended } = await run("sender");
    assert.equal(ended.output?.length, 2, JSON.stringify(ended));
    const heard = await Promise.all(ended.output.map((id: string) => endedRun(service, id)));
    assert.deepEqual(
      heard.map(({ output }) => output),
      [1, 2],
    );
  },
  async "sleeps last as long as they should"({ run }) {
    const { run: ended } = await run("sleeper", { until: Date.now() + 2_000 });
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    assert.ok(ended.output.napMs >= 1_000, `slept ${ended.output.napMs} ms`);
    assert.ok(ended.output.lateMs >= 0, `woke ${-ended.output.lateMs} ms early`);
    assert.deepEqual(
      ended.steps?.map(({ kind }) => kind),
      ["run", "sleep", "run", "sleep"],
    );
  },
  async "a wait ends with the event that matches, and with no other"({ send, client, service }) {
    const [plain, picky] = [await send("waiter"), await send("picky-waiter")];
    for (const { eventId } of [plain, picky]) {
      await until("waiting", async () => ((await runsOfEvent(service, eventId))[0]?.status === "waiting" ? true : undefined));
    }
    await client.send({ name: "app/answer", data: { key: "someone else", amount: 99 } });
    await client.send({ name: "app/answer", data: { key: picky.key, amount: 9 } });
    await client.send({ name: "app/answer", data: { key: plain.key, amount: 1 } });
    await client.send({ name: "app/answer", data: { key: picky.key, amount: 10 } });
    assert.deepEqual((await endedRun(service, plain.eventId)).output, { key: plain.key, amount: 1 });
    assert.deepEqual((await endedRun(service, picky.eventId)).output, { key: picky.key, amount: 10 });
  },
  async "a wait that times out gives null"({ run }) {
    const { run: ended } = await run("vain-waiter");
    assert.deepEqual([ended.status, ended.output], ["completed", { answer: null }]);
  },
  async "an invoked function's result, failure and delay reach its invoker"({ run, service }) {
    const [good, bad, late] = await Promise.all([run("invoker", { number: 21 }), run("invoker-of-failing"), run("invoker-of-sleepy")]);
    assert.deepEqual(good.run.output, { doubled: 42, name: "inngest/function.invoked" }, JSON.stringify(good.run));
    assert.equal(bad.run.status, "completed", JSON.stringify(bad.run));
    assert.match(bad.run.output.message, /the child is ill/);
    assert.match(late.run.output.message, /did not end in time|timed? ?out/i);
    const [step] = good.run.steps ?? [];
    const child = await runDetails(service, step.childRunId);
    assert.deepEqual([child.status, child.function.id], ["completed", "app-child"]);
  },
  async "parallel steps run once each, chains go on by themselves"({ run, journal }) {
    const { run: ended, key } = await run("parallel");
    assert.equal(ended.output, "aa-bb", JSON.stringify(ended));
    const lines = journal.of(key);
    assert.deepEqual([...lines].sort(), ["a1", "a2", "after", "b1", "b2"]);
    assert.equal(lines.at(-1), "after");
    assert.ok(lines.indexOf("a1") < lines.indexOf("a2") && lines.indexOf("b1") < lines.indexOf("b2"));
  },
  async "a function that fails is tried again, and told which attempt it is"({ run, journal }) {
    const { run: ended, key } = await run("flaky");
    assert.deepEqual([ended.status, ended.output], ["completed", { attempt: 2 }], JSON.stringify(ended));
    assert.deepEqual(journal.of(key), ["attempt 0", "attempt 1", "attempt 2"]);
    assert.deepEqual(
      ended.attempts?.map(({ attempt, error, stepId }) => [attempt, error.message, stepId]),
      [
        [0, "failure 0", null],
        [1, "failure 1", null],
      ],
    );
  },
  async "after the last attempt the run has failed, and onFailure is told"({ run, journal, service }) {
    const { run: ended, key } = await run("exhausted");
    assert.equal(ended.status, "failed");
    assert.deepEqual([ended.error?.name, ended.error?.message], ["TypeError", "always"]);
    assert.equal(ended.attempts?.length, 3);
    await until("onFailure", () => (journal.of(key).length === 4 ? true : undefined));
    assert.deepEqual(journal.of(key), ["attempt 0", "attempt 1", "attempt 2", "failed: always of app-exhausted"]);
    const { body } = await service.rest("GET", `/events?name=inngest/function.failed&q=${key}`);
    assert.deepEqual(
      body.data.map(({ source }: { source: { kind: string } }) => source.kind),
      ["internal"],
    );
    const { data } = body.data[0];
    const { name, message, error, stack } = data.error;
    assert.deepEqual([name, message, error, stack.includes("always")], ["TypeError", "always", "always", true]);
    assert.deepEqual([data.result.name, data.result.message], ["TypeError", "always"], "what the SDK said");
    assert.equal(data.event.data.key, key);
    const handled = await endedRun(service, body.data[0].id);
    assert.deepEqual([handled.status, handled.output], ["completed", ended.id]);
  },
  async "a NonRetriableError ends at once, in the function and in a step"({ run, journal }) {
    const [outside, inside] = await Promise.all([run("non-retriable"), run("non-retriable-step")]);
    assert.deepEqual([outside.run.status, outside.run.error?.message], ["failed", "give up"]);
    assert.deepEqual([inside.run.status, inside.run.error?.message], ["failed", "give up"], JSON.stringify(inside.run));
    await until("onFailure", () => (journal.of(outside.key).length === 2 ? true : undefined));
    assert.deepEqual(journal.of(outside.key), ["attempt 0", "failed: give up of app-non-retriable"]);
    assert.deepEqual(journal.of(inside.key), ["attempt 0"]);
  },
  async "an event cancels the run it is meant for"({ send, client, service }) {
    const [doomed, spared] = [await send("cancellable"), await send("cancellable")];
    await until("sleeping", async () => ((await runsOfEvent(service, doomed.eventId))[0]?.status === "sleeping" ? true : undefined));
    await client.send({ name: "app/cancel", data: { key: doomed.key } });
    assert.equal((await endedRun(service, doomed.eventId)).status, "cancelled");
    const [other] = await runsOfEvent(service, spared.eventId);
    assert.ok(other && !isEnded(other));
  },
};
