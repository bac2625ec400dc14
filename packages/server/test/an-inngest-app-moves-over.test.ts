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
    ["feature", "Inngest", "Inlet", "difference", "tested by"],
  );
  assert.ok(rows.length >= 20);
  for (const row of rows) {
    const named = [...(row[4] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
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
