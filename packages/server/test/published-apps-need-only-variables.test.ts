/** An app written for Inngest needs no line changed: variables tell it where the service is. Each app is a process of its own. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { syncApp } from "./support/apps/app-server.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { endedRun, isEnded, runDetails, runsOfFunction, until } from "./support/runs.ts";
import { EVENT_KEY, startTestService, type TestService } from "./support/service.ts";

const SIGNING_KEY = `signkey-prod-${"0123456789abcdef".repeat(4)}`;

/** Returns the app's address. */
function startShop(t: TestContext, version: string, env: Record<string, string>): Promise<string> {
  const file = fileURLToPath(new URL(`./support/apps/shop-${version}.js`, import.meta.url));
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH, ...env } });
  onEnd(t, () => child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      const address = /^http:\S+$/m.exec(String(chunk));
      if (address) resolve(address[0]);
    });
    child.once("exit", (code) => reject(new Error(`the app ended with ${code}: ${said}`)));
  });
}

function variables(service: TestService, mode: "dev" | "start"): Record<string, string> {
  if (mode === "dev") return { INNGEST_DEV: service.url };
  return { NODE_ENV: "production", INNGEST_BASE_URL: service.url, INNGEST_EVENT_KEY: EVENT_KEY, INNGEST_SIGNING_KEY: SIGNING_KEY };
}

for (const version of ["v3", "v4"])
  for (const mode of ["dev", "start"] as const)
    test(`SDK ${version}, ${mode}`, async (t) => {
      const service = await startTestService(t, { mode, flags: ["--signing-key", SIGNING_KEY] });
      const url = await startShop(t, version, variables(service, mode));
      const app = await syncApp(service, url);
      assert.deepEqual([app.name, app.functions], ["shop", 2]);
      assert.match(app.sdk, new RegExp(`^inngest-js:${version}`));
      const sent = await service.send({ name: "shop/order.created", data: { order: 7 } });
      const shipped = await endedRun(service, sent.body.ids[0]);
      assert.deepEqual([shipped.status, shipped.output], ["completed", { label: "label for 7" }], JSON.stringify(shipped));
      const thanked = await until("thanks", async () => (await runsOfFunction(service, "shop-thank")).find(isEnded));
      assert.equal((await runDetails(service, thanked.id)).output, "thanks, label for 7");
    });
