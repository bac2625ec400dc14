/** Signals, as the published SDKs send them and wait for them. */

import assert from "node:assert/strict";
import { isEnded, runsOfEvent, until } from "../runs.ts";
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
  async "of two runs that wait for one signal the second fails, or takes the place of the first"({ send, run, service }) {
    const name = `of ${Math.random()}`;
    const first = await send("signal-rival", { name, timeout: "6s", onConflict: "fail" });
    await until("waiting", async () => ((await runsOfEvent(service, first.eventId))[0]?.status === "waiting" ? true : undefined));
    const { run: refused } = await run("signal-rival", { name, timeout: "1m", onConflict: "fail" });
    assert.deepEqual([refused.status, refused.error?.name], ["failed", "SignalConflict"]);
    const third = await send("signal-rival", { name, timeout: "1m", onConflict: "replace" });
    await until("waiting", async () => ((await runsOfEvent(service, third.eventId))[0]?.status === "waiting" ? true : undefined));
    assert.ok(!isEnded((await runsOfEvent(service, first.eventId))[0] as never) || (await first.ended()).output === null);
    const { status } = await service.rest("POST", "/signals", { body: { signal: `one ${name}`, data: "go" } });
    assert.equal(status, 200);
    assert.equal((await third.ended()).output.data, "go");
    assert.equal((await first.ended()).output, null, "its wait ended with its time");
  },
};
