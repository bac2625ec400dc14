/** Deferred functions and sessions, as version 4 of the published SDK asks for them. */

import assert from "node:assert/strict";
import { endedRun, until } from "../runs.ts";
import type { Checks, Running } from "./running-sdk.ts";

/** The events by which deferred functions were started. */
async function deferred({ service }: Running, key: string): Promise<{ id: string; data: { n: number } }[]> {
  const { body } = await service.rest("GET", `/events?name=inngest/deferred.schedule&q=${key}`);
  return body.data;
}

export const DEFER_MAIN_CHECKS: Checks = {
  async "a function that was deferred starts when the run has ended, and not if it was dropped"(running) {
    const { run: ended, key } = await running.run("deferrer");
    assert.deepEqual([ended.status, ended.output], ["completed", "done"], JSON.stringify(ended));
    const events = await until("the deferred event", async () =>
      (await deferred(running, key)).length > 0 ? deferred(running, key) : undefined,
    );
    assert.deepEqual(
      events.map(({ data }) => data.n),
      [1],
    );
    const later = await endedRun(running.service, events[0]?.id as string);
    assert.deepEqual(later.output, { data: { key, n: 1 }, parent: ended.id });
  },
  async "sessions of an event reach its function, and the events and functions that it starts"(running) {
    const { client, service } = running;
    const key = `sessions-${Math.random()}`;
    const { ids } = await client.send({ name: "app/hands-sessions-on", data: { key }, meta: { sessions: { a: "1", b: "2" } } });
    const ended = await endedRun(service, ids[0] as string);
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    assert.deepEqual(ended.output.invoked, { meta: { sessions: { a: "1", b: "2" } }, v: "7" });
    const sent = await endedRun(service, ended.output.ids[0]);
    assert.deepEqual(sent.output.meta, { sessions: { a: "1", b: "own" } });
  },
};

export const DEFER_CHECKS: Checks = {
  async "a run that fails is tried again as often as any, and then starts what it deferred"(running) {
    const { run: ended, key } = await running.run("deferrer", { fails: true });
    assert.deepEqual([ended.status, ended.error?.message, ended.attempts?.length], ["failed", "failure 1", 2], JSON.stringify(ended));
    assert.equal((await deferred(running, key)).length, 1);
  },
};
