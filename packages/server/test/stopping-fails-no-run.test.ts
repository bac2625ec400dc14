/**
 * An orderly stop costs no run an attempt: calls under way end while what their apps send is still accepted, and whatever does not
 * end in time is called again after the next start as if it had not been called.
 */

import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { endedRun, until } from "./support/runs.ts";
import { EVENT_KEY, startTestService, temporaryFolder } from "./support/service.ts";

const RUNS = 40;

async function stopInBetween(t: TestContext, retries: number, { withUpload = false } = {}): Promise<void> {
  const dataDir = temporaryFolder(t);
  const options = { dataDir, port: await freePort(), flags: ["--drain-timeout", "60s"] };
  const first = await startTestService(t, options);
  const bodies = new Map<string, number>();
  let asked = 0;
  const release = Promise.withResolvers<void>();
  const app = await startApp(t, first, (inlet) => [
    inlet.createFunction({ id: "teller", retries }, { event: "shop/tell" }, async ({ event, step, attempt }) => {
      const { key } = event.data as { key: string };
      await step.sendEvent("tell", { name: "shop/told", data: { key } });
      // Calls are under way when the service is told to stop, and send when it has been.
      await step.run("work", () => {
        bodies.set(key, (bodies.get(key) ?? 0) + 1);
        return release.promise;
      });
      await step.sendEvent("tell again", { name: "shop/told.again", data: { key } });
      return attempt;
    }),
    inlet.createFunction({ id: "asker", retries }, { event: "shop/ask" }, async ({ event, step }) => {
      // A send in the middle of a step, which fails the step if it is refused.
      return step.run("ask", async () => {
        bodies.set("ask", (bodies.get("ask") ?? 0) + 1);
        await release.promise;
        const sent = await inlet.send({ name: "shop/asked", data: event.data });
        asked++;
        return sent;
      });
    }),
  ]);
  const upload = withUpload ? openUpload(t, first.url) : null;
  const events = Array.from({ length: RUNS }, (_, n) => ({ name: n % 2 === 0 ? "shop/tell" : "shop/ask", data: { key: `run ${n}` } }));
  const { ids } = (await first.send(events)).body as { ids: string[] };
  const inAsk = () => bodies.get("ask") ?? 0;
  await until("calls under way", () => (bodies.size > RUNS / 2 && inAsk() === RUNS / 2 ? true : undefined));
  const stopped = first.stop();
  release.resolve();
  // The service would wait for the upload to the end of its time.
  await until("all sends", () => (asked === RUNS / 2 ? true : undefined));
  upload?.destroy();
  await stopped;

  const second = await startTestService(t, options);
  const runs = await Promise.all(ids.map((id) => endedRun(second, id)));
  for (const run of runs) assert.deepEqual([run.status, run.attempts], ["completed", []], JSON.stringify(run));
  assert.equal(inAsk(), RUNS / 2, "no step ran twice");
  const { body } = await second.rest("GET", "/events?name=shop/asked&limit=100");
  assert.equal(body.data.length, RUNS / 2);
  await app.stop();
}

/** A sender that never gets to the end of its body. */
function openUpload(t: TestContext, url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`POST /e/${EVENT_KEY} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`);
  t.after(() => socket.destroy());
  return socket;
}

test("without retries to spare, every run completes", (t) => stopInBetween(t, 0));
test("with a slow upload open, too", (t) => stopInBetween(t, 2, { withUpload: true }));
