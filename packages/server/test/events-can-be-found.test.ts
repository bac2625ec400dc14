/** GET /v1/events: every filter, pages without gaps or repeats, and clear errors for what is not understood. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { startTestService, type TestService } from "./support/service.ts";

async function names(service: TestService, query: string): Promise<string[]> {
  const { status, body } = await service.rest("GET", `/events?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.map((event: { name: string }) => event.name);
}

async function withEvents(t: Parameters<typeof startTestService>[0]) {
  let now = 1_800_000_000_000;
  const service = await startTestService(t, { now: () => now });
  const events = [
    { name: "shop/order.created", data: { city: "Lisboa" } },
    { name: "shop/order.paid", data: { note: "CAFÉ" }, id: "paid-1" },
    { name: "shop/user.created", data: { n: 12345678901234567890n } },
    { name: "blog/post.published", data: { text: 'say "hi"', tags: ["a", "b"] }, v: "Needle" },
  ];
  for (const event of events) {
    await service.send(JSON.stringify(event, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
    now += 1_000;
  }
  return { service, start: 1_800_000_000_000 };
}

test("a few events", async (t) => {
  const { service, start } = await withEvents(t);

  await t.test("newest first", async () => {
    assert.deepEqual(await names(service, ""), ["blog/post.published", "shop/user.created", "shop/order.paid", "shop/order.created"]);
  });

  await t.test("by name, exact or with a star", async () => {
    assert.deepEqual(await names(service, "name=shop/order.paid"), ["shop/order.paid"]);
    assert.deepEqual(await names(service, "name=shop/order"), []);
    assert.deepEqual(await names(service, "name=shop/order.*"), ["shop/order.paid", "shop/order.created"]);
    assert.deepEqual(await names(service, "name=shop/*"), ["shop/user.created", "shop/order.paid", "shop/order.created"]);
    assert.equal((await names(service, "name=*")).length, 4);
  });

  await t.test("by time received: from is included, to is not", async () => {
    assert.deepEqual(await names(service, `from=${start + 1_000}&to=${start + 3_000}`), ["shop/user.created", "shop/order.paid"]);
    const iso = (ms: number) => encodeURIComponent(new Date(start + ms).toISOString());
    assert.deepEqual(await names(service, `from=${iso(1_000)}&to=${iso(3_000)}`), ["shop/user.created", "shop/order.paid"]);
    assert.deepEqual(await names(service, `from=${start + 1_000}&name=shop/*`), ["shop/user.created", "shop/order.paid"]);
  });

  await t.test("by dedup id and by source", async () => {
    assert.deepEqual(await names(service, "id=paid-1"), ["shop/order.paid"]);
    assert.deepEqual(await names(service, "id=paid-1&name=shop/order.created"), []);
    assert.equal((await names(service, "source=key")).length, 4);
    assert.equal((await names(service, "source=webhook")).length, 0);
    const { body } = await service.rest("GET", "/events?limit=1");
    assert.equal((await names(service, `source=${body.data[0].source.id}`)).length, 4);
    assert.equal((await names(service, "source=key_other")).length, 0);
  });

  await t.test("by a piece of the payload, in any case, however it was written", async () => {
    await service.send(String.raw`{"name":"odd/spelling","data":{ "drink" : "caf\u00e9" , "n":98765432109876543210}}`);
    assert.deepEqual(await names(service, "q=lisBOA"), ["shop/order.created"]);
    assert.deepEqual(await names(service, `q=${encodeURIComponent("café")}`), ["odd/spelling", "shop/order.paid"]);
    assert.deepEqual(await names(service, `q=${encodeURIComponent('"drink":"café"')}`), ["odd/spelling"]);
    assert.deepEqual(await names(service, "q=98765432109876543210"), ["odd/spelling"]);
    assert.deepEqual(await names(service, "q=needle"), ["blog/post.published"]);
    assert.deepEqual(await names(service, "q=user.created"), ["shop/user.created"]);
    assert.deepEqual(await names(service, "q=PAID-1"), ["shop/order.paid"], "the sender's id is a part of what was sent");
    assert.deepEqual(await names(service, "q=nowhere"), []);
    assert.deepEqual(await names(service, "q=%25"), [], "no character is a wildcard");
  });
});

test("pages hold every event once, also when many were received in the same millisecond", async (t) => {
  const service = await startTestService(t, { now: () => 1_800_000_000_000 });
  const events = Array.from({ length: 57 }, (_, n) => ({ name: n % 2 === 0 ? "a/even" : "a/odd", data: { n } }));
  await service.send(events);
  for (const query of ["", "name=a/*", "name=a/odd", "q=a/", "source=key&name=a/even"]) {
    const seen: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { body }: { body: { data: { data: { n: number } }[]; page: { next: string | null } } } = await service.rest(
        "GET",
        `/events?limit=10&${query}${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...body.data.map((event) => event.data.n));
      cursor = body.page.next;
    }
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => b - a),
      query,
    );
    assert.equal(new Set(seen).size, seen.length, query);
    assert.equal(seen.length, query.includes("odd") ? 28 : query.includes("even") ? 29 : 57, query);
  }
});

test(
  "lists and single events",
  onOneService({
    "a wildcard over very many names still finds them all": async (service) => {
      await service.send(Array.from({ length: 80 }, (_, n) => ({ name: `many/name.${n}`, data: {} })));
      await service.send({ name: "other/x", data: {} });
      assert.equal((await names(service, "name=many/*&limit=100")).length, 80);
    },

    "what is not understood is refused": async (service) => {
      for (const query of [
        "limit=0",
        "limit=101",
        "limit=x",
        "colour=red",
        "from=yesterday",
        "to=2026-13-45",
        "from=2026-02-30",
        "cursor=!!",
        "name=",
      ]) {
        const { status, body } = await service.rest("GET", `/events?${query}`);
        assert.deepEqual([status, body.code], [400, "request_invalid"], query);
        assert.equal(body.details[0].field, query.split("=")[0]);
      }
    },

    "one event by its id": async (service) => {
      const { body } = await service.send({ name: "a/b", data: { n: 1 } });
      const id = body.ids[0] as string;
      assert.equal((await service.rest("GET", `/events/${id}`)).body.data.id, id);
      assert.equal((await service.rest("GET", `/events/${id.toLowerCase()}`)).body.data.id, id, "ULIDs are read in either case");
      for (const missing of ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense"]) {
        const answer = await service.rest("GET", `/events/${missing}`);
        assert.deepEqual([answer.status, answer.body.code], [404, "event_not_found"]);
      }
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const elsewhere = await service.rest("GET", `/events/${id}`, { headers: { "x-service-env": "staging" } });
      assert.equal(elsewhere.status, 404, "an event belongs to its environment");
      const nowhere = await service.rest("GET", "/events", { headers: { "x-service-env": "nowhere" } });
      assert.deepEqual([nowhere.status, nowhere.body.code], [404, "environment_not_found"]);
    },
  }),
);
