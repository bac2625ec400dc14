/**
 * The connection to PostgreSQL may break at any point of any transaction: before a statement arrives, after it was executed, on
 * either side of a COMMIT. Nothing that was acknowledged is lost, no event is stored twice, no step runs twice, and the node goes on
 * by itself. Each point is named, and the test fails if its connection was not cut there.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { poll, runsOf, startApp, type TestApp } from "./support/app.ts";
import {
  CUTS_OF_ACCEPTING,
  type Cut,
  type CuttingProxy,
  cutsAt,
  cutsAtCommitAfter,
  cuttingProxy,
  EVENT_WRITTEN,
} from "./support/cutting-proxy.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type Answer, startTestService, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
/** A claim whose response was lost is made good when its lease is over. */
const LEASE_IS_OVER_MS = 60_000;
const WRITTEN_AGAIN_MS = 120_000;

const RUN_ENDED = /UPDATE runs SET status = r\.status[\s\S]*completed/;

interface World {
  proxy: CuttingProxy;
  node: TestService;
  app: TestApp;
  /** How often the step of each label ran. */
  ran: Map<string, number>;
}

async function startWorld(t: TestContext): Promise<World> {
  const proxy = await cuttingProxy(t, await migratedDatabase(t));
  const node = await startTestService(t, { hasDefaultConnections: true, databaseUrl: proxy.url, flags: ["--retry-interval", "1s"] });
  const ran = new Map<string, number>();
  const note = (label: unknown) => void ran.set(String(label), (ran.get(String(label)) ?? 0) + 1);
  const app = await startApp(t, node, (inlet) => [
    inlet.createFunction({ id: "steps" }, { event: "break/steps.*" }, async ({ event, step }) => {
      await step.run("once", () => note(event.data.label));
      return event.data.label;
    }),
    inlet.createFunction({ id: "naps" }, { event: "break/nap" }, async ({ event, step }) => {
      await step.sleep("nap", "1s");
      await step.run("once", () => note(event.data.label));
      return event.data.label;
    }),
    inlet.createFunction({ id: "narrow", concurrency: { limit: 1 } }, { event: "break/narrow" }, async ({ event, step }) => {
      await step.run("once", () => note(event.data.label));
      return event.data.label;
    }),
  ]);
  return { proxy, node, app, ran };
}

/** Sends as an SDK does: what is refused with 503 is sent again, and only then. */
async function send(node: TestService, event: object): Promise<string> {
  for (;;) {
    const { status, text, body } = await node.send(event);
    if (status === 200) return body.ids[0];
    assert.equal(status, 503, text);
  }
}

/** Reads may be refused, too: no connection is free, or a new one takes too long on a busy machine. */
function read(node: TestService, path: string): Promise<Answer> {
  return poll(async () => {
    const answer = await node.rest("GET", path);
    return answer.status === 200 ? answer : null;
  }, path);
}

async function storedOnce({ node, ran }: World, name: string, label: string, id: string, timeoutMs?: number): Promise<void> {
  const { body } = await read(node, `/events?name=${name}&q=${label}`);
  assert.deepEqual(
    body.data.map((event: { id: string }) => event.id),
    [id],
    "it is stored once, under the id that was answered",
  );
  const runs = await poll(
    async () => {
      const answer = await node.rest("GET", `/events/${id}/runs`);
      return answer.body?.data?.[0]?.status === "completed" ? answer.body.data : null;
    },
    `the run of ${label}`,
    timeoutMs,
  );
  assert.equal(runs.length, 1);
  assert.equal(ran.get(label), 1, "its step ran once");
}

test("accepting an event, and going on with its run", { skip }, async (t) => {
  const world = await startWorld(t);
  const points = [
    ...cutsAt("the look for the event's name", /SELECT name AS text/),
    ...CUTS_OF_ACCEPTING,
    ...cutsAt("the read of the run", /json_agg[\s\S]*FROM runs/),
    ...cutsAt("the lock of the run", /FROM runs[\s\S]*FOR UPDATE/),
    ...cutsAt("the write of the step's result", /INSERT INTO steps/),
    ...cutsAtCommitAfter("the write of the step's result", /INSERT INTO steps/),
    ...cutsAt("the write of the run's end", RUN_ENDED),
    ...cutsAtCommitAfter("the write of the run's end", RUN_ENDED),
  ];
  for (const [n, [point, cut]] of points.entries()) {
    await t.test(point, async () => {
      const made = world.proxy.cut(cut);
      const label = `label-${n}`;
      const name = `break/steps.${n}`;
      const id = await send(world.node, { name, data: { label } });
      await storedOnce(world, name, label, id);
      await made;
    });
  }
});

test("events in a batch, some of them with an id, one of them twice", { skip }, async (t) => {
  const world = await startWorld(t);
  const points: [string, Cut][] = [
    ["before-the-write", { statement: EVENT_WRITTEN, when: "before" }],
    ["after-the-write", { statement: EVENT_WRITTEN, when: "after" }],
    ["before-the-commit", { statement: /^COMMIT/, when: "before", following: EVENT_WRITTEN }],
    ["after-the-commit", { statement: /^COMMIT/, when: "after", following: EVENT_WRITTEN }],
  ];
  for (const [point, cut] of points) {
    await t.test(point, async () => {
      const made = world.proxy.cut(cut);
      const labels = [1, 2, 3].map((n) => `${point}-${n}`);
      const sent = labels.map((label, n) => ({ name: "break/steps.batch", ...(n > 0 && { id: label }), data: { label } }));
      const { status, body, text } = await world.node.send([...sent, sent[1]]);
      assert.equal(status, 200, text);
      await made;
      for (const [n, label] of labels.entries()) await storedOnce(world, "break/steps.batch", label, body.ids[n]);
      const found = await Promise.all(labels.map((_, n) => read(world.node, `/events/${body.ids[n]}`)));
      const duplicates = found.map((answer) => answer.body.data.duplicates);
      assert.deepEqual([body.ids[3], duplicates], [body.ids[1], [0, 1, 0]], "writing it again was no duplicate of the sender's");
    });
  }
});

test("events whose ids the sender gave are no duplicates of themselves", { skip }, async (t) => {
  const { proxy, node } = await startWorld(t);
  const batch = ["one", "two"].map((label) => ({ name: "break/nothing", data: { label } }));
  const seeded = (n: number) => ({ headers: { "x-inngest-event-id-seed": `${Date.now()},${Buffer.alloc(10, n).toString("base64")}` } });
  // On a machine that is too slow to write them again in time they are refused, and others are sent.
  const sent = await poll(
    async () => {
      const made = proxy.cut({ statement: /^COMMIT/, when: "after", following: EVENT_WRITTEN });
      const seed = seeded(Math.floor(Math.random() * 256));
      const { status, body } = await node.send(batch, seed);
      await made;
      return status === 200 ? { seed, ids: body.ids as string[] } : null;
    },
    "a batch that was written again",
    WRITTEN_AGAIN_MS,
  );
  const duplicates = async () => {
    const found = await Promise.all(sent.ids.map((id) => read(node, `/events/${id}`)));
    return found.map(({ body }) => body.data.duplicates);
  };
  const { body } = await read(node, "/usage");
  assert.deepEqual(new Set(body.data.map(({ eventsDuplicate }: { eventsDuplicate: number }) => eventsDuplicate)), new Set([0]));
  assert.deepEqual(await duplicates(), [0, 0]);
  assert.deepEqual((await node.send(batch, sent.seed)).body.ids, sent.ids);
  assert.deepEqual(await duplicates(), [1, 1], "sent again, they are");
});

test("events from which nothing follows", { skip }, async (t) => {
  const { proxy, node } = await startWorld(t);
  await send(node, { name: "break/nothing", data: {} });
  for (const when of ["before", "after"] as const) {
    await t.test(`${when} the write`, async () => {
      const made = proxy.cut({ statement: EVENT_WRITTEN, when });
      const labels = [1, 2, 3].map((n) => `${when}-${n}`);
      const sent = labels.map((label, n) => ({ name: "break/nothing", ...(n > 0 && { id: label }), data: { label } }));
      const { status, body, text } = await node.send(sent);
      assert.equal(status, 200, text);
      await made;
      const { body: found } = await read(node, `/events?name=break/nothing&q=${when}-`);
      const stored = found.data.map(({ id, duplicates }: { id: string; duplicates: number }) => [id, duplicates]);
      assert.deepEqual(
        stored.toSorted(),
        body.ids.map((id: string) => [id, 0]),
        "each is stored once, under the id that was answered, and none counts as a duplicate",
      );
    });
  }
});

test("claiming: a sleep that is over, a run that waited for its turn, a start at a later time", { skip, concurrency: true }, async (t) => {
  const claim = /FROM queue[\s\S]*SKIP LOCKED/;
  const leased = /UPDATE queue SET lane = r\.lane/;
  const slot = /INSERT INTO limit_slots/;
  const points: [string, Cut, (world: World, label: string) => Promise<string>][] = [
    ["before a sleep is claimed", { statement: claim, when: "before" }, nap],
    ["after a sleep was claimed", { statement: claim, when: "after", answer: /wake/ }, nap],
    ["before a sleep is leased", { statement: leased, when: "before" }, nap],
    ["before the commit of a claim", { statement: /^COMMIT/, when: "before", following: leased }, nap],
    ["after the commit of a claim", { statement: /^COMMIT/, when: "after", following: leased }, nap],
    ["after the commit of the claim of a late start", { statement: /^COMMIT/, when: "after", following: leased }, startLater],
    ["before a slot is taken", { statement: slot, when: "before" }, waitForTurn],
    ["after a slot was taken", { statement: slot, when: "after" }, waitForTurn],
    ["after a call was claimed", { statement: claim, when: "after", answer: /call/ }, waitForTurn],
    ["after the commit of the claim of a call", { statement: /^COMMIT/, when: "after", following: slot }, waitForTurn],
  ];
  // Each with a node of its own, side by side: a claim whose response was lost takes its time.
  await Promise.all(
    points.map(([point, cut, begin]) =>
      t.test(point, async (s) => {
        const world = await startWorld(s);
        const made = world.proxy.cut(cut);
        const label = point.replaceAll(" ", "-");
        const id = await begin(world, label);
        await made;
        const { body } = await read(world.node, `/events/${id}`);
        await storedOnce(world, body.data.name, label, id, LEASE_IS_OVER_MS);
      }),
    ),
  );
});

function nap({ node }: World, label: string): Promise<string> {
  return send(node, { name: "break/nap", data: { label } });
}

function startLater({ node }: World, label: string): Promise<string> {
  return send(node, { name: "break/steps.later", ts: Date.now() + 1_500, data: { label } });
}

function waitForTurn({ node }: World, label: string): Promise<string> {
  return send(node, { name: "break/narrow", data: { label } });
}

test("registering an app, and creating something with an Idempotency-Key", { skip }, async (t) => {
  const world = await startWorld(t);
  const { node, app, proxy } = world;
  const inside = /INSERT INTO apps/;
  const points: [string, Cut][] = [
    ["before BEGIN arrives", { statement: /^BEGIN/, when: "before" }],
    ["after BEGIN", { statement: /^BEGIN/, when: "after" }],
    ["before the app is written", { statement: inside, when: "before" }],
    ["after the app was written", { statement: inside, when: "after" }],
    ["before its functions are written", { statement: /INSERT INTO functions/, when: "before" }],
    ["after its functions were written", { statement: /INSERT INTO functions/, when: "after" }],
    ["before the others are told", { statement: /pg_notify/, when: "before", following: inside }],
    ["before COMMIT arrives", { statement: /^COMMIT/, when: "before", following: inside }],
    ["after COMMIT, before its answer", { statement: /^COMMIT/, when: "after", following: inside }],
  ];
  for (const [n, [point, cut]] of points.entries()) {
    await t.test(point, async () => {
      const made = proxy.cut(cut);
      const functions = [0, 1].map((i) => app.client.createFunction({ id: `fn-${n}-${i}` }, { event: `break/registered.${n}` }, () => n));
      // The first attempt may be answered with an error, and is made again, as an app or a person would.
      await poll(
        async () =>
          app.replace(functions).then(
            () => true,
            () => null,
          ),
        "the registration",
      );
      await made;
      const known = await poll(async () => {
        const { status, body } = await node.rest("GET", "/functions");
        return status === 200 ? body.data.map(({ id }: { id: string }) => id).sort() : null;
      }, "the functions");
      assert.deepEqual(known, [`shop-fn-${n}-0`, `shop-fn-${n}-1`]);
      assert.equal((await read(node, "/apps")).body.data.length, 1);
      const id = await send(node, { name: `break/registered.${n}`, data: {} });
      const runs = await runsOf(node, id, { count: 2 });
      assert.deepEqual(
        runs.map(({ status, output }) => `${status} ${output}`),
        [`completed ${n}`, `completed ${n}`],
      );
    });
  }
  const claim = /INTO idempotency_keys/;
  for (const [point, cut] of [...cutsAt("the claim of the key", claim), ...cutsAtCommitAfter("the claim of the key", claim)]) {
    await t.test(point, async () => {
      const made = proxy.cut(cut);
      const headers = { "Idempotency-Key": point.replaceAll(" ", "-") };
      const { status, text } = await node.rest("POST", "/keys", { body: { kind: "event", name: point }, headers });
      assert.equal(status, 201, text);
      await made;
    });
  }
});
