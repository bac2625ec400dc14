/** `inlet webhooks drill`: finds that the function of examples/webhook-drill charges more than once, and that the mended webhook is in order. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { test } from "../../server/test/support/both-stores.ts";
import { startDev, workingFolder } from "./support/working-folder.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/webhook-drill/", import.meta.url));
const BRANCH = "feature/drill";

async function startExample(t: TestContext, devUrl: string): Promise<string> {
  const env = { ...process.env, PORT: "0", INLET_BASE_URL: devUrl };
  const app = spawn(process.execPath, ["--env-file=dev.env", "server.ts"], { cwd: EXAMPLE, env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => app.kill());
  for await (const line of createInterface(app.stdout)) {
    const [, url] = /^listening on (http:\S+)$/.exec(line) ?? [];
    if (!url) continue;
    app.stdout.resume();
    return url;
  }
  return assert.fail("the example ended before it was listening");
}

test("a drill exits with 1 and names the function that ran more than once, and with 0 once the transform is mended", async (t) => {
  const url = await startDev(t);
  const app = await startExample(t, url);
  const folder = workingFolder(t, { INLET_BASE_URL: url, STRIPE_SECRET: "whsec_only-for-trying-out" });
  cpSync(join(EXAMPLE, "webhooks"), join(folder.folder, "webhooks"), { recursive: true });
  const done = async (...argv: string[]) => {
    const { code, stdout, stderr } = await folder.inlet(argv);
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  };
  await done("apps", "sync", app);
  await done("webhooks", "apply");

  const found = await folder.inlet(["webhooks", "drill", "stripe", "--env", BRANCH]);
  assert.equal(found.code, 1, found.stdout + found.stderr);
  assert.match(found.stdout, /^ok +samples +200, 1 event +200, 1 event +Stripe: .* drilled-shop-charge once$/m);
  assert.match(found.stdout, /^DIFFERS +duplicates +200, 0 events +200, 1 event +Stripe: .* drilled-shop-charge 2 times$/m);
  assert.match(found.stdout, /^ok +forged +401, 0 events +401, 0 events/m);
  assert.match(found.stdout, /^The function drilled-shop-charge ran 4 times for one event\.$/m);
  assert.match(found.stdout, /^12 requests, 6 not as expected\.$/m);

  const file = "webhooks/stripe/transform.js";
  folder.write(file, folder.read(file).replace("data: evt,", "id: evt.id,\n    data: evt,"));
  await done("webhooks", "apply");
  assert.match(await done("webhooks", "drill", "Stripe", "--env", BRANCH), /^12 requests, all as expected\.$/m);
  const job = JSON.parse(await done("webhooks", "drill", "Stripe", "--env", BRANCH, "--kinds", "samples,forged", "--json"));
  assert.deepEqual(new Set(job.report.map(({ kind }: { kind: string }) => kind)), new Set(["samples", "forged"]));

  for (const [argv, message] of [
    [["Stripe"], /Name the branch environment with --env/],
    [["Stripe", "--env", BRANCH, "--kinds", "samples,odd"], /"odd" is not one of samples, duplicates/],
    [["Stripe", "--env", "dev"], /must be a branch environment/],
    [["Paypal", "--env", BRANCH], /has no webhook "Paypal"/],
  ] as const) {
    const refused = await folder.inlet(["webhooks", "drill", ...argv]);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stderr, message);
  }
});
