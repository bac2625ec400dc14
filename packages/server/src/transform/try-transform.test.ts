import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransformRunner } from "./threads/transform-runner.ts";
import type { TransformRequest } from "./transform-outcome.ts";
import { type TrialRequest, tryTransform } from "./try-transform.ts";

test("all that is run for a trial takes its time from the one who tries", async () => {
  const owner = { webhook: "trials of 1", environment: "1" };
  const owners: unknown[] = [];
  const runner = {
    async run(request: TransformRequest) {
      owners.push(request.owner);
      return { ok: true, eventJson: request.entry === "handshake" ? "null" : '{"name":"a","data":{}}', logs: [], durationMs: 0 };
    },
  } as unknown as TransformRunner;
  const request: TrialRequest = { owner, transform: "(evt) => evt", bytes: Buffer.from("{}"), headers: {}, queryParams: {} };
  const secrets = { verify: [], handshake: null, isHandedOver: false };
  const rules = { verify: null, handshake: { source: "function handshake() {}" }, secrets };
  const authentication = { rules, method: "POST", query: "", urls: [], receipt: { at: 0, wasVerified: null }, signs: false };
  for (const more of [{}, { bodyJson: "{}" }, { authentication }]) await tryTransform(runner, { ...request, ...more }, { bytesMax: 1_000 });
  assert.deepEqual(owners, [owner, owner, owner, owner]);
});
