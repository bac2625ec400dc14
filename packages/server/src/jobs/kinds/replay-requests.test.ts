import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "@inlet/protocol";
import type { Job } from "../../store/contract/index.ts";
import { InTheWay } from "../job-kind.ts";
import { type ReplayRequestsParts, replayRequests } from "./replay-requests.ts";

test("a request that the service cannot take now is replayed again; one that is refused has failed", async () => {
  const job = { id: "01JOB", environmentId: 1, filter: '{"webhook":"w"}', createdAt: 0 } as unknown as Job;
  let refusal = new Refusal("disk_full", "The disk is full.");
  const parts = {
    store: { webhookRequestGet: async () => ({ body: "{}" }) },
    webhooks: () => [{ id: "w", environmentId: 1, deletedAt: null }],
    replay: async () => refusal,
    isOverSoon: () => false,
  } as unknown as ReplayRequestsParts;
  const { work } = replayRequests(parts);
  await assert.rejects(work(job, ["r"]), (error: Error) => error instanceof InTheWay && error.message === "The disk is full.");
  refusal = new Refusal("transform_failed", "It threw.");
  assert.deepEqual((await work(job, ["r"])).failures, [{ item: "r", message: "It threw." }]);
});
