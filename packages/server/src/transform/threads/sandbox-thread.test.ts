/** A thread is judged by the time it had: one that a busy machine gives little time is not stuck. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { it, type TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { SandboxThread } from "./sandbox-thread.ts";
import type { ThreadResponse } from "./thread.ts";
import type { Work } from "./waiting-work.ts";

const LIMITS = {
  timeoutMs: 5_000,
  memoryBytes: 32 * 1_048_576,
  stackBytes: 256 * 1_024,
  resultBytesMax: 100_000,
  logLinesMax: 10,
  logBytesMax: 1_000,
  versionsMax: 4,
};
const COUNTING = "(evt) => { let n = 0; while (n < evt.to) n++; return { n }; }";

it("a transform that gets little time of a busy machine runs to its end", async (t) => {
  const thread = startThread(t);
  await thread.run('{"to":0}');
  await keepBusy(t);
  const answer = await thread.run('{"to":400000}');
  assert.ok("outcome" in answer && answer.outcome.ok, JSON.stringify(answer));
  assert.equal(answer.outcome.eventJson, '{"n":400000}');
  t.diagnostic(`${answer.cpuMs} ms of CPU time in ${answer.outcome.durationMs} ms`);
});

/** As the thread for new versions: others go first. It may use more CPU time than the transform needs, and less than it takes here. */
function startThread(t: TestContext) {
  let answered = Promise.withResolvers<ThreadResponse>();
  let id = 0;
  const thread = new SandboxThread({
    limits: LIMITS,
    niceness: 10,
    hardMs: 300,
    module: null,
    idleMs: 60_000,
    onModule: () => undefined,
    onRoom: () => undefined,
    onIdle: () => undefined,
    onResponse: (_work, answer) => answered.resolve(answer),
    onLost: ({ reason }) => answered.reject(new Error(`the thread was lost: ${reason}`)),
  });
  t.after(() => thread.stop());
  return {
    run(evtJson: string): Promise<ThreadResponse> {
      answered = Promise.withResolvers();
      const run = { versionKey: "v", source: COUNTING, evtJson, headersJson: "{}", queryParamsJson: "{}", raw: "" };
      const owner = { webhook: "w", environment: "e" };
      thread.send({ job: { id: ++id, run }, versionKey: "v", owner, attempts: 0, settle: () => undefined } satisfies Work);
      return answered.promise;
    },
  };
}

/** Two threads for each core that never rest. */
async function keepBusy(t: TestContext): Promise<void> {
  const others = Array.from({ length: 2 * availableParallelism() }, () => new Worker("for (;;);", { eval: true }));
  t.after(() => Promise.all(others.map((other) => other.terminate())));
  await Promise.all(others.map((other) => once(other, "online")));
}
