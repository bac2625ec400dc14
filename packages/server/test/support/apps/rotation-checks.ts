/**
 * A signing key is rotated as docs/how-to/keys-and-rotation.md says: the new key is created, the app gets it when it is next deployed, the old key
 * is revoked. No run fails on the way, whichever of the keys an app has; afterwards the old key opens nothing.
 */

import assert from "node:assert/strict";
import { endedRun } from "../runs.ts";
import { call, type TestService } from "../service.ts";
import { syncApp } from "./app-server.ts";

export interface RotatingApp {
  /** The key that the service was started with. */
  signingKey: string;
  /** Serves the app with these keys, and returns its address. */
  serve(keys: { signingKey: string; signingKeyFallback?: string }): Promise<string>;
  /** Starts its function, which may not be tried twice. */
  event: { name: string; data: object };
  output: unknown;
}

export async function checkRotation(service: TestService, { signingKey: oldKey, serve, event, output }: RotatingApp): Promise<void> {
  const works = async (url: string, when: string) => {
    await syncApp(service, url);
    const { body } = await service.send(event);
    const run = await endedRun(service, body.ids[0]);
    assert.deepEqual([run.status, run.output], ["completed", output], `${when}: ${JSON.stringify(run).slice(0, 2_000)}`);
  };
  const opens = async (key: string) =>
    (await call(`${service.url}/v0/runs/none/actions`, { headers: { authorization: `Bearer ${key}` } })).status !== 401;

  const before = await serve({ signingKey: oldKey });
  await works(before, "with the old key");
  const { body } = await service.rest("POST", "/keys", { body: { kind: "signing", name: "next" } });
  const { id, key: newKey } = body.data;
  await works(before, "before the app has the new key");
  await works(await serve({ signingKey: oldKey, signingKeyFallback: newKey }), "with the new key for its fallback");
  const after = await serve({ signingKey: newKey, signingKeyFallback: oldKey });
  await works(after, "with the old key for its fallback");
  assert.deepEqual([await opens(oldKey), await opens(newKey)], [true, true]);

  const { body: keys } = await service.rest("GET", "/keys?kind=signing");
  for (const key of keys.data as { id: string }[]) {
    if (key.id !== id) assert.equal((await service.rest("DELETE", `/keys/${key.id}`)).status, 200);
  }
  await works(after, "after the old key was revoked");
  assert.deepEqual([await opens(oldKey), await opens(newKey)], [false, true]);
  const refused = await service.rest("POST", "/apps", { body: { url: before } });
  assert.deepEqual([refused.status, refused.body.code], [502, "app_unreachable"], "an app that has only the old key");
}
