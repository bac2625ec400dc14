/**
 * Among correct nodes, one whose clock is an hour ahead and one whose clock is an hour behind: leases are shorter than
 * that, so either would steal work or sleep through it if it went by its own clock. All are real processes.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { poll, startApp } from "./support/app.ts";
import { everyNodeKnows, type Node, startNode } from "./support/nodes.ts";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "./support/postgres.ts";
import { call, temporaryFolder } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const SKEWS_MS = [0, HOUR_MS, -HOUR_MS];
/** What a busy machine may add to a time; far less than the clocks are wrong by. */
const REASON_MS = 120_000;
/** A node knows the time of PostgreSQL to half of a round trip, which a busy machine prolongs. */
const CLOCKS_APART_MS = 2_000;
const DEDUP_MS = 5_000;
/** A busy machine renews it in time. */
const LEASE = "60s";
const PRELOAD = new URL("./support/skewed-clock.ts", import.meta.url).href;

interface SkewedNode extends Node {
  skewMs: number;
}

async function startSkewed(t: TestContext, skewMs: number, store: readonly string[]): Promise<SkewedNode> {
  const env = { SKEW_MS: String(skewMs), NODE_OPTIONS: `--import ${PRELOAD}` };
  return { ...(await startNode(t, ["--dedup-window", `${DEDUP_MS}ms`, "--lease", LEASE, ...store], env)), skewMs };
}

function startNodes(t: TestContext, databaseUrl: string): Promise<SkewedNode[]> {
  return Promise.all(SKEWS_MS.map((skewMs) => startSkewed(t, skewMs, ["--database-url", databaseUrl])));
}

test("the clock of a process really is wrong, and a node on PostgreSQL does not go by it", { skip }, async (t) => {
  const receivedBy = async (flags: Parameters<typeof startSkewed>[2]) => {
    const node = await startSkewed(t, HOUR_MS, flags);
    const { body } = await node.send({ name: "shop/x", data: {} });
    return Date.parse((await node.rest("GET", `/events/${body.ids[0]}`)).body.data.receivedAt) - Date.now();
  };
  const alone = await receivedBy(["--data-dir", temporaryFolder(t)]);
  assert.ok(Math.abs(alone - HOUR_MS) < REASON_MS, `with a store of its own it is an hour ahead: ${alone} ms`);
  const shared = await receivedBy(["--database-url", await migratedDatabase(t)]);
  assert.ok(Math.abs(shared) < REASON_MS, `${shared} ms`);
});

test("a clock that is set while a node runs changes nothing for it", { skip }, async (t) => {
  const store = await openPatientStore({ url: await migratedDatabase(t) });
  t.after(() => store.stop());
  const right = Date.now;
  t.after(() => {
    Date.now = right;
  });
  for (const setByMs of [3_600_000, -3_600_000]) {
    Date.now = () => right() + setByMs;
    const apart = store.storeNow() - right();
    assert.ok(Math.abs(apart) < REASON_MS, `${apart} ms`);
  }
});

test("nodes with wrong clocks share a database", { skip }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const nodes = await startNodes(t, databaseUrl);
  for (const [name, check] of Object.entries(CHECKS)) await t.test(name, (each) => check(each, nodes, databaseUrl));
});

/** All with the same nodes: to start them costs more than a check. */
const CHECKS = {
  async "events are received at the right time, ids are forgotten after their window, and not before"(
    _t: TestContext,
    nodes: readonly SkewedNode[],
  ) {
    const sent: { id: string; at: number }[] = [];
    for (let n = 0; n < 12; n++) {
      const { ids } = (await (nodes[n % 3] as SkewedNode).send({ name: "shop/order", data: { n } })).body;
      sent.push({ id: ids[0], at: Date.now() });
    }
    const listed = (await (nodes[1] as SkewedNode).rest("GET", "/events?name=shop/order")).body.data as {
      id: string;
      receivedAt: string;
    }[];
    // Each node knows PostgreSQL's time but for the delay of asking for it, so events that different nodes receive within moments of
    // each other may be listed either way round. What a wrong clock would do to them is far more than that.
    assert.deepEqual(listed.map(({ id }) => id).sort(), sent.map(({ id }) => id).sort());
    for (const { id, receivedAt } of listed) {
      const apart = Date.parse(receivedAt) - (sent.find((event) => event.id === id)?.at ?? 0);
      assert.ok(Math.abs(apart) < REASON_MS, `${id} was received ${apart} ms off`);
    }
    const times = listed.map(({ receivedAt }) => Date.parse(receivedAt));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
      "newest first",
    );
    for (const [index] of nodes.entries()) {
      const own = sent.filter((_, n) => n % 3 === index).map(({ id }) => id);
      assert.deepEqual(own, own.toSorted(), "ids of one node sort as they were received");
    }

    for (const first of nodes) {
      const event = { name: "shop/once", id: `by-${first.skewMs}`, data: {} };
      const begun = Date.now();
      const { ids } = (await first.send(event)).body;
      for (const other of nodes) {
        const again = (await other.send(event)).body.ids;
        if (Date.now() - begun < DEDUP_MS - 1_000) assert.deepEqual(again, ids, `sent to ${first.skewMs}, again to ${other.skewMs}`);
      }
    }
    const count = async () => (await (nodes[0] as SkewedNode).rest("GET", "/events?name=shop/once&id=by-0")).body.data.length;
    await poll(
      async () => {
        await (nodes[2] as SkewedNode).send({ name: "shop/once", id: "by-0", data: {} });
        return (await count()) >= 2 ? true : null;
      },
      "the end of the window",
      DEDUP_MS + REASON_MS,
    );
  },

  async "sleeps, delays and cancellations keep their time, and no lease is stolen"(
    t: TestContext,
    nodes: readonly SkewedNode[],
    databaseUrl: string,
  ) {
    const [first] = nodes as readonly [SkewedNode];
    const begun = new Map<string, number>();
    const ended = new Map<string, number>();
    const calls = new Map<string, number>();
    const release = Promise.withResolvers<void>();
    t.after(() => release.resolve());
    await startApp(t, first, (inlet) => [
      inlet.createFunction({ id: "nap" }, { event: "shop/nap" }, async ({ event, step }) => {
        const label = String(event.data.label);
        await step.run("begin", () => void begun.set(label, Date.now()));
        await step.sleep("nap", "3s");
        await step.run("end", () => void ended.set(label, Date.now()));
      }),
      // It takes until all others have ended: longer than it takes another node to poll, several times over.
      inlet.createFunction({ id: "long" }, { event: "shop/long" }, async ({ event }) => {
        const label = String(event.data.label);
        calls.set(label, (calls.get(label) ?? 0) + 1);
        await release.promise;
        return label;
      }),
      inlet.createFunction(
        { id: "cancelled", cancelOn: [{ event: "shop/stop", if: "async.data.label == event.data.label" }] },
        { event: "shop/begin" },
        async ({ step }) => void (await step.sleep("for long", "1h")),
      ),
      inlet.createFunction({ id: "late" }, { event: "shop/late" }, ({ event }) => void begun.set(String(event.data.label), Date.now())),
    ]);
    await everyNodeKnows(nodes, 4);

    const held = await Promise.all(nodes.map((node) => node.send({ name: "shop/long", data: { label: `long-${node.skewMs}` } })));
    const sentAt = Date.now();
    for (const node of nodes) {
      assert.equal((await node.send({ name: "shop/nap", data: { label: `nap-${node.skewMs}` } })).status, 200);
      assert.equal((await node.send({ name: "shop/late", ts: sentAt + 4_000, data: { label: `late-${node.skewMs}` } })).status, 200);
    }
    const stopped = await Promise.all(nodes.map((node) => node.send({ name: "shop/begin", data: { label: node.skewMs } })));
    for (const { body } of stopped) {
      await poll(
        async () => ((await first.rest("GET", `/events/${body.ids[0]}/runs`)).body.data[0]?.status === "sleeping" ? true : null),
        "sleep",
      );
    }
    // Each is cancelled by an event another node receives.
    for (const [n, node] of nodes.entries())
      await (nodes[(n + 1) % 3] as SkewedNode).send({ name: "shop/stop", data: { label: node.skewMs } });
    for (const { body } of stopped) {
      await poll(
        async () => ((await first.rest("GET", `/events/${body.ids[0]}/runs`)).body.data[0]?.status === "cancelled" ? true : null),
        "the end",
      );
    }
    for (const { skewMs } of nodes) {
      const nap = `nap-${skewMs}`;
      await poll(async () => (ended.has(nap) ? true : null), `the end of ${nap}`, 3_000 + REASON_MS);
      const slept = (ended.get(nap) as number) - (begun.get(nap) as number);
      assert.ok(slept >= 3_000 - CLOCKS_APART_MS && slept < 3_000 + REASON_MS, `${nap}: ${slept} ms`);
      const late = `late-${skewMs}`;
      await poll(async () => (begun.has(late) ? true : null), `the start of ${late}`, 4_000 + REASON_MS);
      const after = (begun.get(late) as number) - sentAt;
      assert.ok(after >= 4_000 - CLOCKS_APART_MS && after < 4_000 + REASON_MS, `${late}: ${after} ms`);
    }

    const holders = await inDatabase(databaseUrl, (client) =>
      client.query("SELECT DISTINCT leased_by FROM queue WHERE leased_by IS NOT NULL"),
    );
    const names = (await call(`${first.url}/ready`)).body.nodes.map(({ name }: { name: string }) => name);
    assert.ok(holders.rows.length > 0, "something is held");
    for (const { leased_by } of holders.rows) assert.ok(names.includes(leased_by), `a lease carries the name of a node: ${leased_by}`);
    release.resolve();
    for (const { body } of held) {
      await poll(
        async () => ((await first.rest("GET", `/events/${body.ids[0]}/runs`)).body.data[0]?.status === "completed" ? true : null),
        "it",
      );
    }
    assert.deepEqual([...calls.values()], [1, 1, 1], "each was called once, by the node that held it");
  },

  async "a schedule is due at the next full minute, and ticks once"(t: TestContext, nodes: readonly SkewedNode[], databaseUrl: string) {
    let ticks = 0;
    const known = 1 + (await (nodes[1] as SkewedNode).rest("GET", "/functions?limit=100")).body.data.length;
    const begun = Date.now();
    await startApp(
      t,
      nodes[1] as SkewedNode,
      (inlet) => [inlet.createFunction({ id: "tick" }, { cron: "* * * * *" }, () => void ticks++)],
      { id: "clock" },
    );
    await everyNodeKnows(nodes, known);
    const due = await inDatabase(databaseUrl, (client) => client.query("SELECT due_at FROM queue WHERE kind = 'cron'"));
    const minuteOf = (time: number) => Math.floor(time / MINUTE_MS) + 1;
    const [first, last] = [minuteOf(begun), minuteOf(Date.now())];
    const [planned = 0, ...others] = due.rows.map(({ due_at }) => Number(due_at) / MINUTE_MS);
    assert.deepEqual(others, []);
    assert.ok(planned >= first && planned <= last && Number.isInteger(planned), `planned at ${planned}, expected ${first} to ${last}`);
    await inDatabase(databaseUrl, (client) => client.query("UPDATE queue SET due_at = 0, rank = 0 WHERE kind = 'cron'"));
    await poll(async () => (ticks > 0 ? true : null), "the tick");
    await everyNodeKnows(nodes, known);
    const { data } = (await (nodes[0] as SkewedNode).rest("GET", "/runs?function=clock-tick")).body;
    // This tick, and one for each full minute that has passed meanwhile.
    const most = 1 + minuteOf(Date.now()) - first;
    assert.ok(data.length >= 1 && data.length <= most, `${data.length} ticks instead of ${most}`);
  },
};
