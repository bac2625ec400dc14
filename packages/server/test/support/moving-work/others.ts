/** What else an environment has open when it moves: lists, keys, jobs, webhooks, subscribers. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { RealtimeMessage } from "@inlet/sdk";
import { onEnd } from "../on-end.ts";
import { until } from "../runs.ts";
import { ECHO, post } from "../webhooks.ts";
import type { Case, Scene } from "./scene.ts";

const LISTED = 7;
const PAGE = 3;
const SECRET = "a secret of a provider";

export const OTHER_CASES: Readonly<Record<string, Case>> = {
  "a list goes on where its last page ended": async ({ send, rest }) => {
    const sent: string[] = [];
    for (let n = 0; n < LISTED; n++) sent.push(await send("shop/listed", { n }));
    const first = await page(rest, "");
    return async () => {
      const ids = [...first.ids];
      for (let cursor = first.next; cursor !== null; ) {
        const next = await page(rest, `&cursor=${encodeURIComponent(cursor)}`);
        ids.push(...next.ids);
        cursor = next.next;
      }
      assert.deepEqual(ids, sent.toReversed());
    };
  },
  "the id of an event, and the key of a request, count once": async ({ send, rest }) => {
    const [event, made] = [{ id: "order-1" }, { body: { name: "k", kind: "failure_count", threshold: 1 }, status: 201 }];
    const headers = { "idempotency-key": "rule-1" };
    const before = await send("shop/deduplicated", {}, event);
    const rule = await rest("POST", "/alert-rules", { ...made, headers });
    return async () => {
      assert.equal(await send("shop/deduplicated", {}, event), before);
      assert.equal((await rest("GET", "/events?name=shop/deduplicated")).body.data.length, 1);
      assert.deepEqual((await rest("POST", "/alert-rules", { ...made, headers })).body, rule.body);
      assert.equal((await rest("GET", "/alert-rules")).body.data.length, 1);
    };
  },
  "a job goes on, and does each of its items once": async ({ send, rest, runs, ran }) => {
    for (const n of [1, 2, 3, 4]) await send("shop/replayed", { n });
    await runs("replayed", 4);
    const body = { kind: "events.replay", filter: { name: "shop/replayed" }, rate: 1 };
    const { id } = (await rest("POST", "/jobs", { body, status: 202 })).body.data;
    return async () => {
      const job = await until("the job", async () => {
        const { data } = (await rest("GET", `/jobs/${id}`)).body;
        return data.endedAt === null ? undefined : data;
      });
      assert.deepEqual([job.status, job.done, job.failed], ["completed", 4, 0], JSON.stringify(job));
      await runs("replayed", 8);
      for (const n of [1, 2, 3, 4]) assert.equal(ran.get(`replayed ${n}`), 2);
    };
  },
  "a webhook keeps its secret, its versions and its requests": async ({ rest }) => {
    const made = { name: "hook", transform: ECHO, verify: { scheme: "github", secrets: [SECRET] } };
    const { id, url } = (await rest("POST", "/webhooks", { body: made, status: 201 })).body.data;
    await rest("PUT", `/webhooks/${id}`, { body: { transform: ECHO.replace("hook/received", "hook/changed") } });
    const body = JSON.stringify({ n: 1 });
    const headers = { "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}` };
    assert.equal((await post(url, body, headers)).status, 200);
    return async () => {
      assert.equal((await post(url, body, headers)).status, 200);
      assert.equal((await post(url, body, { "x-hub-signature-256": "sha256=00" })).status, 401);
      const list = async (path: string) => (await rest("GET", `/webhooks/${id}/${path}`)).body.data;
      assert.deepEqual((await list("versions")).length, 2);
      const requests = await until("the requests", async () => {
        const found = await list("requests");
        return found.length >= 3 ? found : undefined;
      });
      assert.deepEqual(
        requests.map(({ status }: { status: number }) => status),
        [401, 200, 200],
      );
      assert.equal((await rest("GET", "/events?name=hook/changed")).body.data.length, 2);
    };
  },
  "subscribers get what is published before and after, once, in order": async ({ t, client }) => {
    const messages: RealtimeMessage[] = [];
    const subscription = await client.realtime.subscribe({ channel: "user:1", topics: ["status"] }, (message) => messages.push(message));
    onEnd(t, async () => subscription.close());
    const publish = (n: number) => client.realtime.publish({ channel: "user:1", topic: "status" }, { n });
    await publish(1);
    return async () => {
      await publish(2);
      await publish(3);
      await until("the messages", () => (messages.length >= 3 ? true : undefined));
      assert.deepEqual(
        messages.map(({ data }) => data),
        [{ n: 1 }, { n: 2 }, { n: 3 }],
      );
    };
  },
  "declared schemas, saved filters and figures are there": async ({ rest, send }) => {
    const schema = { type: "object", required: ["n"] };
    await rest("PUT", "/event-types/shop%2Fdeclared", { body: { schema, mode: "warn" } });
    await rest("PUT", "/saved-filters", { body: { list: "events", name: "mine", search: { name: "shop/a" } } });
    await send("shop/declared");
    const counted = () =>
      until("the count", async () => {
        const { data } = (await rest("GET", "/event-types?limit=100")).body;
        return data.find(({ name, count }: { name: string; count: number }) => name === "shop/declared" && count > 0)?.count;
      });
    assert.equal(await counted(), 1);
    return async () => {
      const id = await send("shop/declared");
      assert.equal((await rest("GET", `/events/${id}`)).body.data.schema.valid, false);
      assert.equal((await rest("GET", "/saved-filters?list=events")).body.data.length, 1);
      await until("the count", async () => ((await counted()) === 2 ? true : undefined));
    };
  },
};

async function page(rest: Scene["rest"], cursor: string): Promise<{ ids: string[]; next: string | null }> {
  const { data, page: shown } = (await rest("GET", `/events?name=shop/listed&limit=${PAGE}${cursor}`)).body;
  return { ids: data.map(({ id }: { id: string }) => id), next: shown.next };
}
