/** GET /v1/events/stream: every event once, in the order of its commit, also across a disconnect and a restart. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { onOneService } from "./support/one-service.ts";
import { API_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

interface TailedEvent {
  id: string;
  event: { name: string; data: { n: number } };
}

/** Reads a stream until `until` says stop. Resolves `connected` once the server has fixed where the stream begins. */
async function openTail(t: TestContext, service: TestService, query = "", headers: Record<string, string> = {}) {
  const controller = new AbortController();
  onEnd(t, () => controller.abort());
  const response = await fetch(`${service.url}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${API_KEY}`, ...headers },
    signal: controller.signal,
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";

  async function nextMessage(): Promise<string | null> {
    while (!buffer.includes("\n\n")) {
      const { done, value } = await reader.read();
      if (done) return null;
      buffer += value;
    }
    const end = buffer.indexOf("\n\n");
    const message = buffer.slice(0, end);
    buffer = buffer.slice(end + 2);
    return message;
  }
  async function take(count: number): Promise<TailedEvent[]> {
    const events: TailedEvent[] = [];
    while (events.length < count) {
      const message = await nextMessage();
      if (message === null) break;
      if (!message.startsWith(":")) events.push(parseMessage(message));
    }
    return events;
  }
  const [, place = ""] = /^: connected\nid: (\d+)$/.exec((await nextMessage()) ?? "") ?? [];
  assert.notEqual(place, "");
  return { take, place, close: () => controller.abort() };
}

function parseMessage(message: string): TailedEvent {
  const lines = message.split("\n");
  const id = lines.find((line) => line.startsWith("id: "))?.slice(4) ?? "";
  const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  return { id, event: JSON.parse(data.join("\n")) };
}

const event = (n: number, name = "tail/event") => ({ name, data: { n } });
const numbers = (tailed: TailedEvent[]) => tailed.map((one) => one.event.data.n);

test(
  "streams of one service",
  onOneService({
    "events arrive as they are accepted, those before the start do not": async (service, t) => {
      await service.send(event(0));
      const tail = await openTail(t, service);
      for (let n = 1; n <= 5; n++) await service.send(event(n));
      assert.deepEqual(numbers(await tail.take(5)), [1, 2, 3, 4, 5]);
    },

    "many concurrent senders: every event exactly once": async (service, t) => {
      const tail = await openTail(t, service);
      await Promise.all(
        Array.from({ length: 40 }, (_, sender) => service.send(Array.from({ length: 25 }, (_, i) => event(sender * 25 + i)))),
      );
      const seen = numbers(await tail.take(1_000));
      assert.equal(new Set(seen).size, 1_000);
    },

    "a stream goes on where an earlier one was cut, by header or parameter": async (service, t) => {
      const first = await openTail(t, service);
      await service.send([event(1), event(2), event(3)]);
      const [, second] = await first.take(2);
      first.close();
      await service.send([event(4), event(5)]);
      const byHeader = await openTail(t, service, "", { "last-event-id": second?.id ?? "" });
      assert.deepEqual(numbers(await byHeader.take(3)), [3, 4, 5]);
      const byParameter = await openTail(t, service, `?after=${second?.id}`);
      assert.deepEqual(numbers(await byParameter.take(3)), [3, 4, 5]);
    },

    "a tail that was cut off before the first event goes on from where it began": async (service, t) => {
      await service.send(event(0));
      const tail = await openTail(t, service);
      tail.close();
      await service.send([event(1), event(2)]);
      const again = await openTail(t, service, `?after=${tail.place}`);
      assert.deepEqual(numbers(await again.take(2)), [1, 2]);
    },

    "a tail with a cursor of another store, such as before an older copy was restored, shows what comes": async (service, t) => {
      const tail = await openTail(t, service, "", { "last-event-id": "1000000000" });
      await service.send(event(1));
      assert.deepEqual(numbers(await tail.take(1)), [1]);
    },

    "only the environment and the names asked for": async (service, t) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const staging = await openTail(t, service, "", { "x-service-env": "staging" });
      const named = await openTail(t, service, "?name=shop/*");
      const key = (await service.rest("POST", "/keys", { body: { kind: "event", name: "s" }, headers: { "x-service-env": "staging" } }))
        .body.data.key;
      await service.send([event(1), event(2, "shop/a"), event(3, "blog/b")]);
      await service.send(event(4), { key });
      await service.send(event(5, "shop/c"));
      assert.deepEqual(numbers(await staging.take(1)), [4]);
      assert.deepEqual(numbers(await named.take(2)), [2, 5]);
    },

    "line breaks between the tokens of a payload do not break the stream": async (service, t) => {
      const tail = await openTail(t, service);
      await service.send('{"name":"a/b","data":{\r\n "n": \n 7\r}}');
      assert.deepEqual(numbers(await tail.take(1)), [7]);
    },

    "a request for the headers alone is answered at once": async (service) => {
      for (const path of ["/v1/events/stream", "/v1/runs/stream"]) {
        const headers = { authorization: `Bearer ${API_KEY}` };
        const response = await fetch(`${service.url}${path}`, { method: "HEAD", headers, signal: AbortSignal.timeout(30_000) });
        assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream"], path);
      }
    },

    "what is not understood is refused": async (service) => {
      for (const query of ["?after=x", "?colour=red"]) {
        const { status, body } = await service.rest("GET", `/events/stream${query}`);
        assert.deepEqual([status, body.code], [400, "request_invalid"], query);
      }
    },

    "a stream of runs reports each run, or says that there is a gap": async (service, t) => {
      await startApp(t, service, (inlet) => [inlet.createFunction({ id: "tailed" }, { event: "tail/event" }, () => "done")]);
      // The runs of a paused function do not change after their start.
      const [{ id }] = (await service.rest("GET", "/functions")).body.data;
      await service.rest("POST", `/functions/${id}/pause`);
      const response = await fetch(`${service.url}/v1/runs/stream`, { headers: { authorization: `Bearer ${API_KEY}` } });
      const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      onEnd(t, () => reader.cancel());
      const sent = 250;
      await service.send(Array.from({ length: sent }, (_, n) => event(n)));
      let text = "";
      const isComplete = () => text.split("event: run\n").length > sent || text.includes('event: gap\ndata: {"kind":"gap"}\n\n');
      while (!isComplete()) text += (await reader.read()).value ?? assert.fail("the stream ended");
    },
  }),
);

test("a stream goes on after a restart of the service, which ends open streams", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestService(t, { dataDir });
  const tail = await openTail(t, before);
  await before.send([event(1), event(2)]);
  const [first] = await tail.take(1);
  await before.stop();
  assert.deepEqual(numbers(await tail.take(5)), [2], "the open stream came to its end");
  const after = await startTestService(t, { dataDir });
  await after.send(event(3));
  const again = await openTail(t, after, "", { "last-event-id": first?.id ?? "" });
  assert.deepEqual(numbers(await again.take(2)), [2, 3]);
});

test("a tail may begin in the past, by time", async (t) => {
  let time = Date.now();
  const service = await startTestService(t, { now: () => time });
  await service.send(event(1));
  await service.send(event(2));
  time += 1_000;
  const since = time;
  await service.send([event(3), event(4)]);
  const tail = await openTail(t, service, `?from=${new Date(since).toISOString()}`);
  await service.send(event(5));
  assert.deepEqual(numbers(await tail.take(3)), [3, 4, 5]);
  const { status } = await service.rest("GET", "/events/stream?from=yesterday");
  assert.equal(status, 400);
});
