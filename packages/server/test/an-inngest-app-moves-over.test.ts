/** docs/tutorials/from-inngest.md: with the variables it names, and nothing else, an app of the published SDK runs here. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { type TestContext, test as testOnce } from "node:test";
import { fileURLToPath } from "node:url";
import { runsOf } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { curlCommands } from "./support/curl.ts";
import { onEnd } from "./support/on-end.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, startTestService } from "./support/service.ts";

const GUIDE = readFileSync(new URL("../../../docs/tutorials/from-inngest.md", import.meta.url), "utf8");
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The tests, of any package, that check each row of the table of features. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  "SDKs for JavaScript v3 and v4": ["real-sdk-v3-runs-unmodified", "real-sdk-v4-runs-unmodified", "an-inngest-app-moves-over"],
  "SDKs for Python and Go": ["real-python-sdk-runs-unmodified", "real-go-sdk-runs-unmodified"],
  "syncing an app": ["real-sdk-v4-runs-unmodified", "functions-run-to-the-end"],
  "signing keys and their rotation": [
    "real-sdk-v3-runs-unmodified",
    "real-sdk-v4-runs-unmodified",
    "real-python-sdk-runs-unmodified",
    "real-go-sdk-runs-unmodified",
  ],
  "Connect (workers that dial in)": ["doctor-examines-apps"],
  "response to a send": ["accepted-events-survive-a-crash"],
  "two events with the same `id`": ["duplicates-are-kept-out"],
  "a batch with an invalid event": ["event-api-keeps-its-contract"],
  "`data` of an event": ["event-api-keeps-its-contract"],
  "`step.run`, `step.sleep`, `step.sendEvent`, `step.invoke`, `step.waitForEvent`": [
    "real-sdk-v3-runs-unmodified",
    "real-sdk-v4-runs-unmodified",
  ],
  "signals: `step.waitForSignal`, `step.sendSignal`, `POST /v1/signals`": ["signals-reach-the-run-that-waits"],
  "`step.fetch`, `step.ai.infer`, `step.ai.wrap`": ["requests-of-steps-are-made-by-the-service"],
  "`defer`, `createDefer` (v4)": ["real-sdk-v4-runs-unmodified", "against-the-service"],
  "sessions in `meta.sessions`, propagated to events and functions": ["real-sdk-v4-runs-unmodified", "against-the-service"],
  "parallel steps, `race` mode": ["real-sdk-v4-runs-unmodified", "parallel-steps-of-sdk-v3-complete", "parallel-steps-of-sdk-v4-complete"],
  "checkpointing (v4)": ["real-sdk-v4-runs-unmodified"],
  "retries, `NonRetriableError`, `RetryAfterError`, `onFailure`": ["real-sdk-v3-runs-unmodified", "functions-run-to-the-end"],
  concurrency: ["concurrency-is-honoured", "limits-hold-across-nodes"],
  "throttle, rate limit, debounce, batches, priority, singleton": ["flow-control-is-honoured"],
  "`cancelOn`": ["cancel-on-cancels-what-it-names"],
  schedules: ["real-sdk-v4-runs-unmodified", "wrong-clocks-do-no-harm"],
  "`inngest/function.finished`": ["functions-run-to-the-end"],
  "realtime: tokens, `publish`, `subscribe`": ["realtime-reaches-subscribers"],
  "REST: events, runs, jobs, cancelling a run": ["inngest-rest-is-spoken"],
  "REST: bulk cancellation": ["inngest-rest-is-spoken"],
  "REST: apps, functions, invoke (`/v2`)": ["inngest-rest-is-spoken"],
  "sandboxes, durable endpoints, metadata of runs (v4)": ["inngest-rest-is-spoken"],
  "`step.ai.infer` with Bedrock (Go)": ["requests-of-steps-are-made-by-the-service"],
  "branch environments": ["environments-and-keys-route-events"],
  "webhooks and transforms": ["webhooks-become-events"],
  "unfinished runs": ["an-inngest-app-moves-over"],
};

/** A user's app, which knows nothing of Inlet: whatever it needs comes from its variables. */
const APP = `
  import { createServer } from "node:http";
  import { Inngest } from "inngest";
  import { serve } from "inngest/node";
  const client = new Inngest({ id: "moved" });
  const greet = client.createFunction({ id: "greet", triggers: [{ event: "moved/hello" }] }, async ({ event, step }) => {
    await step.sendEvent("tell", { name: "moved/told", data: {} });
    return "hello " + event.data.who;
  });
  const server = createServer(serve({ client, functions: [greet] }));
  server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
`;

async function startMovedApp(t: TestContext, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", APP], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onEnd(t, () => child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const port = /port (\d+)/.exec(String(chunk))?.[1];
      if (port) resolve(`http://127.0.0.1:${port}/api/inngest`);
    });
    child.once("exit", (code) => reject(new Error(`the app ended with code ${code}`)));
  });
}

test("an app of the published SDK moves over by its variables alone", async (t) => {
  const service = await startTestService(t);
  const values: Record<string, string> = {
    INNGEST_BASE_URL: service.url,
    INNGEST_EVENT_KEY: EVENT_KEY,
    INNGEST_SIGNING_KEY: SIGNING_KEY,
  };
  const block = /^```env\n([\s\S]*?)^```$/m.exec(GUIDE)?.[1] ?? "";
  const named = block
    .trim()
    .split("\n")
    .map((line) => line.split("=") as [string, string]);
  const url = await startMovedApp(t, Object.fromEntries(named.map(([name, shown]) => [name, values[name] ?? shown])));
  const [sync] = curlCommands(GUIDE);
  assert.ok(sync);
  const fill = (text: string) => text.replace("$API_KEY", API_KEY).replace("$APP_URL", url);
  const headers = Object.fromEntries(Object.entries(sync.init.headers).map(([name, value]) => [name, fill(value)]));
  const synced = await call(sync.url.replace("http://localhost:8288", service.url), {
    ...sync.init,
    headers,
    body: fill(String(sync.init.body)),
  });
  assert.equal(synced.status, 201, synced.text);

  const sent = await service.send({ name: "moved/hello", data: { who: "you" } });
  const [run] = await runsOf(service, sent.body.ids[0]);
  assert.deepEqual([run.status, run.output], ["completed", "hello you"], JSON.stringify(run));
  assert.equal((await service.rest("GET", "/events?name=moved/told")).body.data.length, 1);
});

testOnce("every row of the guide's table names tests that exist", () => {
  const tests = new Set(globSync("packages/*/test/*.test.ts", { cwd: ROOT }).map((file) => basename(file, ".test.ts")));
  const section = GUIDE.slice(GUIDE.indexOf("## Features"), GUIDE.indexOf("## REST"));
  const [heading = [], , ...rows] = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1));
  assert.deepEqual(
    heading.map((cell) => cell.trim()),
    ["feature", "Inngest", "Inlet", "difference"],
  );
  assert.ok(rows.length >= 20);
  for (const row of rows) {
    const named = TESTED_BY[(row[0] ?? "").trim()] ?? [];
    assert.ok(named.length > 0, `${row[0]}: names no test`);
    assert.deepEqual(
      named.filter((name) => !tests.has(name)),
      [],
      row[0],
    );
  }
});

testOnce("variables in the guide's commands expand", () => {
  for (const [, script = ""] of GUIDE.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)) {
    assert.doesNotMatch(script, /'[^'\n]*\$[A-Z_]+[^'\n]*'/, "a variable in single quotes is not replaced by a shell");
  }
});
