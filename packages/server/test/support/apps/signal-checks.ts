/** Signals, as the published SDKs send them and wait for them. */

import assert from "node:assert/strict";
import { isEnded, runsOfEvent, type ShownRun, until } from "../runs.ts";
import type { Checks } from "./running-sdk.ts";

export const SIGNAL_MAIN_CHECKS: Checks = {
  async "a signal resumes the run that waits for it, with what was sent"({ send, run, service }) {
    const waiting = await send("signal-waiter");
    await until("waiting", async () => ((await runsOfEvent(service, waiting.eventId))[0]?.status === "waiting" ? true : undefined));
    const { run: sender } = await run("signal-sender", { to: waiting.key });
    const resumed = await waiting.ended();
    assert.deepEqual(resumed.output, { signal: `approve ${waiting.key}`, data: { by: "Ada", n: 0.1 } });
    assert.deepEqual([resumed.steps?.[0].kind, resumed.steps?.[0].signal], ["signal", `approve ${waiting.key}`]);
    assert.deepEqual([sender.output.sent.runId, sender.output.vain.runId ?? null], [resumed.id, null]);
  },
};

export const SIGNAL_CHECKS: Checks = {
  async "a signal that does not come in time is null"({ run }) {
    assert.deepEqual((await run("vain-signal-waiter")).run.output, { approval: null });
  },
  async "of two runs that wait for one signal the second fails, or takes the place of the first"(running) {
    // On a slow machine the time of the first may be over too early: then it gets more of it.
    const isDone = (await checkRivals(running, "6s")) || (await checkRivals(running, "60s"));
    assert.ok(isDone, "the first waits while the others come");
  },
};

/** False if the time of the first was over before the third had taken its place. */
async function checkRivals({ send, run, service }: Parameters<Checks[string]>[0], timeout: string): Promise<boolean> {
  const name = `of ${Math.random()}`;
  const isAt = async ({ eventId }: { eventId: string }, isReached: (run: ShownRun) => boolean) =>
    (await runsOfEvent(service, eventId)).some(isReached) || undefined;
  const first = await send("signal-rival", { name, timeout, onConflict: "fail" });
  await until("waiting", () => isAt(first, (shown) => isEnded(shown) || shown.status === "waiting"));
  const { run: refused } = await run("signal-rival", { name, timeout: "1s", onConflict: "fail" });
  const third = await send("signal-rival", { name, timeout: "1h", onConflict: "replace" });
  await until("waiting", () => isAt(third, ({ status }) => status === "waiting"));
  const wasLate = await isAt(first, isEnded);
  const { status } = await service.rest("POST", "/signals", { body: { signal: `one ${name}`, data: "go" } });
  assert.equal(status, 200);
  assert.equal((await third.ended()).output.data, "go");
  assert.equal((await first.ended()).output, null, "its wait ended with its time");
  if (wasLate) return false;
  assert.deepEqual([refused.status, refused.error?.name], ["failed", "SignalConflict"]);
  return true;
}
