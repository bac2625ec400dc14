/** GET /v1/webhooks/:id/requests/stream: every request of a webhook once, in the order of its commit, refused ones too. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { API_KEY, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

/** Reads messages of a stream until `count` requests have come. */
async function follow(t: TestContext, service: TestService, id: string, query = "") {
  const controller = new AbortController();
  onEnd(t, () => controller.abort());
  const response = await fetch(`${service.url}/v1/webhooks/${id}/requests/stream${query}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
    signal: controller.signal,
  });
  assert.equal(response.status, 200);
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (count: number) => {
    for (;;) {
      const whole = text.split("\n\n").slice(0, -1);
      const requests = whole.filter((message) => message.includes("event: request"));
      if (requests.length >= count && whole.length > 0) return { whole, requests };
      text += (await reader.read()).value;
    }
  };
  const [, place = ""] = /id: (\d+)/.exec((await until(0)).whole[0] ?? "") ?? [];
  return {
    place,
    async take(count: number) {
      const { requests } = await until(count);
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return requests.slice(0, count).map((message) => JSON.parse(/^data: (.*)$/m.exec(message)?.[1] ?? "") as any);
    },
  };
}

const TRANSFORM = "function transform(evt) { if (evt.bad) throw new Error('no'); return { name: 'hook/x', data: evt } }";

test("accepted and refused requests of this webhook only, as they come in and after a cut", async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service, TRANSFORM);
  const other = await makeWebhook(service, TRANSFORM);
  await post(webhook.url, { n: 0 });
  const tail = await follow(t, service, webhook.id);
  await post(webhook.url, { n: 1 });
  await post(other.url, { n: 2 });
  await post(webhook.url, { bad: true });
  const seen = await tail.take(2);
  assert.deepEqual(
    seen.map(({ body, outcome }) => [body, outcome]),
    [
      ['{"n":1}', "accepted"],
      ['{"bad":true}', "transform_failed"],
    ],
  );
  const again = await follow(t, service, webhook.id, `?after=${tail.place}`);
  assert.deepEqual(
    (await again.take(2)).map(({ id }) => id),
    seen.map(({ id }) => id),
  );
  const all = await follow(t, service, webhook.id, "?from=0");
  assert.equal((await all.take(3))[0].body, '{"n":0}');
});

test("a webhook that does not exist, a place that is none", async (t) => {
  const service = await startTestService(t);
  assert.equal((await service.rest("GET", "/webhooks/none/requests/stream")).status, 404);
  const webhook = await makeWebhook(service, TRANSFORM);
  for (const query of ["after=x", "from=x", "colour=red"])
    assert.equal((await service.rest("GET", `/webhooks/${webhook.id}/requests/stream?${query}`)).status, 400, query);
});
