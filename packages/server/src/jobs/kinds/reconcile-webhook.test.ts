import assert from "node:assert/strict";
import { test } from "node:test";
import type { Environment, Job } from "../../store/contract/index.ts";
import { type ReconcileWebhookParts, reconcileWebhook } from "./reconcile-webhook.ts";

test("a pass asks and takes nothing any more once its webhook is disabled", async () => {
  const webhook = { id: "w", environmentId: 1, enabled: true };
  const happened: string[] = [];
  const parts = {
    webhooks: () => [webhook],
    async listPage() {
      happened.push("asked");
      return { items: [], seen: 0, next: "2" };
    },
    async take() {
      happened.push("taken");
      return { kind: "recovered" };
    },
  } as unknown as ReconcileWebhookParts;
  const { find, work } = reconcileWebhook(parts);
  const job = { id: "01JOB", environmentId: 1, filter: '{"webhook":"w"}', total: 1, done: 0, createdAt: 0 } as unknown as Job;
  const list = () => find({ id: 1 } as Environment, { webhook: "w" }, null, new AbortController().signal);
  assert.equal((await list()).next, "2");
  assert.deepEqual((await work(job, ['{"body":"{}"}'])).failures, []);
  webhook.enabled = false;
  assert.deepEqual(await list(), { found: [], next: null, error: "The webhook has been deleted or disabled." });
  assert.equal((await work(job, ['{"body":"{}"}'])).failures.length, 1);
  assert.deepEqual(happened, ["asked", "taken"]);
});
