/** An app that has the keys of a custom environment, and no others, syncs and runs there; nothing of it is found elsewhere. */

import assert from "node:assert/strict";
import { endedRun } from "../runs.ts";
import type { TestService } from "../service.ts";
import { makeKeyed } from "../signing-scene.ts";
import { syncApp } from "./app-server.ts";
import type { RotatingApp } from "./rotation-checks.ts";

const ENVIRONMENT = "team";

export async function checkEnvironmentKeys(service: TestService, { serve, event, output }: Omit<RotatingApp, "signingKey">): Promise<void> {
  const { event: eventKey, signing: signingKey } = await makeKeyed(service, ENVIRONMENT);
  const headers = { "x-service-env": ENVIRONMENT };
  const app = await syncApp(service, await serve({ signingKey }), headers);
  assert.equal(app.signingKey?.environment, ENVIRONMENT);
  const sent = await service.send(event, { key: eventKey });
  const run = await endedRun(service, sent.body.ids[0], undefined, headers);
  assert.deepEqual([run.status, run.output], ["completed", output], JSON.stringify(run).slice(0, 2_000));
  assert.equal((await service.rest("GET", `/runs/${run.id}`)).status, 404, "it is no run of production");
}
