/** The keys of a first start are shown by the first start that succeeds: one that cannot listen creates none. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { TestContext } from "node:test";
import { poll } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { runInlet, startInlet } from "./support/process.ts";
import { call, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => void server.close());
  return (server.address() as AddressInfo).port;
}

test("a start whose port, or whose port for metrics, is taken leaves the keys to the next", async (t) => {
  const taken = await takenPort(t);
  const store = await storeFlags(t, { dataDir: temporaryFolder(t) });
  const common = ["start", "--host", "127.0.0.1", ...store.flags];
  for (const flags of [
    ["--port", String(taken)],
    ["--port", "0", "--metrics-listen", `127.0.0.1:${taken}`],
  ]) {
    const failed = await runInlet(t, [...common, ...flags]);
    assert.equal(failed.code, 1, failed.stderr);
    assert.match(failed.stderr, new RegExp(String(taken)));
    assert.doesNotMatch(failed.stdout, /API key/);
  }
  const inlet = await startInlet(t, [...common, "--port", "0"]);
  const shown = (pattern: RegExp) => poll(async () => pattern.exec(inlet.stdout())?.[1] ?? null, `${pattern} in the output`);
  const apiKey = await shown(/API key \(admin\) +(\S+)\n/);
  await shown(/signing key \(production\) +(signkey-production-[0-9a-f]{64})\n/);
  await shown(/signing key \(all branches\) +(signkey-branch-[0-9a-f]{64})\n/);
  const eventKey = await shown(/event key \(production\) +(\S+)\n/);
  assert.equal((await call(`${inlet.url}/v1/keys`, { headers: { authorization: `Bearer ${apiKey}` } })).body.data.length, 3);
  assert.equal((await call(`${inlet.url}/e/${eventKey}`, { method: "POST", body: '{"name":"a","data":{}}' })).status, 200);
});
