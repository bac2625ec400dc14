/** `inlet webhooks list|requests|replay`: an operator mends a transform and sends through again what it had refused. */

import assert from "node:assert/strict";
import { test } from "../../server/test/support/both-stores.ts";
import { pagesOf, sourceOf, startProvider } from "../../server/test/support/provider.ts";
import { call } from "../../server/test/support/service.ts";
import { startDev, workingFolder } from "./support/working-folder.ts";

const JSON_TYPE = { "content-type": "application/json" };

test("requests that a transform refused are listed, counted and replayed once it is mended", async (t) => {
  const url = await startDev(t);
  const folder = workingFolder(t, { INLET_BASE_URL: url });
  assert.equal((await folder.inlet(["webhooks", "list"])).stdout, "No webhooks.\n");
  const broken = { name: "Payments", transform: "function transform(evt) { throw new Error('not yet') }" };
  const made = await call(`${url}/v1/webhooks`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(broken) });
  const { id, url: webhookUrl } = made.body.data;
  assert.match((await folder.inlet(["webhooks", "list"])).stdout, new RegExp(`^${id} +Payments +yes +\\S* *${webhookUrl}$`, "m"));

  for (const n of [1, 2]) await call(webhookUrl, { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ n }) });
  const refused = await folder.inlet(["webhooks", "requests", id, "--outcome", "transform_failed", "--json"]);
  assert.equal(JSON.parse(refused.stdout).data.length, 2);
  assert.match((await folder.inlet(["webhooks", "requests", "payments"])).stdout, /transform_failed +.*not yet/);

  folder.write("draft.js", "function transform(evt) { return { name: 'pay/paid', data: { n: evt.n } } }");
  const draft = await folder.inlet(["webhooks", "backtest", "payments", "--file", "draft.js"]);
  assert.equal(draft.code, 0, draft.stderr);
  assert.match(draft.stdout, /Against version 1, 2 requests: 0 same, 0 different, 0 now fails, 2 now works, 0 still fails\./);
  const unread = await folder.inlet(["webhooks", "backtest", "payments", "--file", "absent.js"]);
  assert.deepEqual([unread.code, /The draft cannot be read/.test(unread.stderr)], [1, true]);
  assert.match((await folder.inlet(["webhooks", "backtest", "payments"])).stderr, /Name the file of the draft with --file/);

  const mended = { transform: "function transform(evt) { return { name: 'pay/paid', data: evt } }" };
  await call(`${url}/v1/webhooks/${id}`, { method: "PUT", headers: JSON_TYPE, body: JSON.stringify(mended) });
  const unasked = await folder.inlet(["webhooks", "replay", id, "--outcome", "transform_failed"]);
  assert.deepEqual([unasked.code, /2 requests.*--yes/.test(unasked.stderr)], [2, true], unasked.stderr);
  const replayed = await folder.inlet(["webhooks", "replay", "Payments", "--outcome", "transform_failed", "--yes"]);
  assert.equal(replayed.code, 0, replayed.stderr);
  const { body } = await call(`${url}/v1/events?name=pay/paid`);
  assert.deepEqual(body.data.map(({ data }: { data: { n: number } }) => data.n).sort(), [1, 2]);

  // The newest three: those of the replay, and one that the next draft refuses.
  folder.write(
    "draft.js",
    "function transform(evt) { if (evt.n === 2) throw new Error('no twos'); return { name: 'pay/paid', data: evt, v: '2' } }",
  );
  const worse = await folder.inlet(["webhooks", "backtest", id, "--file", "draft.js", "--limit", "2"]);
  assert.equal(worse.code, 1, worse.stdout);
  assert.match(worse.stdout, /now fails\n {2}transform_failed: .*no twos/);
  assert.match(worse.stdout, /different\n {2}v: absent -> "2"/);
  assert.match(worse.stdout, /2 requests: 0 same, 1 different, 1 now fails/);
  assert.equal((await call(`${url}/v1/webhooks/${id}`)).body.data.version, 2, "nothing was stored");

  assert.match((await folder.inlet(["webhooks", "replay", "Refunds"])).stderr, /has no webhook "Refunds".*webhooks list/);
  const nobody = await folder.inlet(["webhooks", "requests", "wh_nobody"]);
  assert.deepEqual([nobody.code, /webhook_not_found/.test(nobody.stderr)], [1, true], nobody.stderr);
});

test("what a provider lists is counted, then taken in, and a webhook file names how it is asked", async (t) => {
  const url = await startDev(t);
  const provider = await startProvider(t, pagesOf([{ id: "one" }, { id: "two" }, { id: "bad", bad: true }], 2));
  const folder = workingFolder(t, { INLET_BASE_URL: url, SHOP_KEY: "a-key-of-the-shop" });
  const reconcile = { source: sourceOf(provider), secrets: ["SHOP_KEY"], every: "1h" };
  folder.write("webhooks/shop/webhook.json", JSON.stringify({ name: "Shop", reconcile }));
  folder.write(
    "webhooks/shop/transform.js",
    "function transform(evt) { if (evt.bad) throw new Error('a bad one'); return { name: 'shop/sale', id: evt.id, data: evt } }",
  );
  const applied = await folder.inlet(["webhooks", "apply"]);
  assert.equal(applied.code, 0, applied.stderr);
  assert.equal((await folder.inlet(["webhooks", "plan"])).code, 0, "the server has what the folder says");
  const dry = await folder.inlet(["webhooks", "reconcile", "Shop", "--since", "1h", "--dry-run"]);
  assert.deepEqual([dry.code, dry.stdout], [1, "3 listed, 0 seen, 2 would be recovered, 1 failed.\nNothing was stored.\n"]);
  const taken = await folder.inlet(["webhooks", "reconcile", "shop"]);
  assert.equal(taken.code, 1, taken.stderr);
  assert.match(taken.stdout, /^3 listed, 0 seen, 2 recovered, 1 failed\.\n {2}\S+: .*a bad one/);
  assert.equal(provider.asked.at(-1)?.headers.authorization, "Bearer a-key-of-the-shop");
  const again = await folder.inlet(["webhooks", "reconcile", "Shop", "--json"]);
  assert.deepEqual([JSON.parse(again.stdout).data?.seen ?? JSON.parse(again.stdout).seen, again.code], [2, 1]);
});
