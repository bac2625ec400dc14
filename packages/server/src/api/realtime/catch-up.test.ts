import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { onEnd } from "../../../test/support/on-end.ts";
import { makeEnvironment } from "../../store/conformance/samples.ts";
import { CHANNEL_MESSAGES_MAX, type RealtimeStore } from "../../store/contract/index.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { catchUp } from "./catch-up.ts";

const NOW = 1_000;

async function scene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "inlet-catch-up-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  onEnd(t, async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const { id: environmentId } = await makeEnvironment(store);
  const publish = async (count: number, channel = "full") => {
    const messages = Array.from({ length: count }, () => ({ channel, topic: "t", text: "{}", runId: null }));
    await store.realtimePublish({ environmentId, messages, now: NOW });
  };
  /** What a subscriber gets: numbers and gaps. `afterRead` happens after each page was read, before it is looked at. */
  const follow = async (
    after: number,
    afterRead: () => Promise<void> = async () => {},
    channels = ["full"],
    parts: RealtimeStore = store,
  ) => {
    const got: (number | "gap")[] = [];
    let [delivered, isLive] = [await store.realtimeLast({ environmentId }), false];
    await catchUp(
      {
        store: parts,
        views: {
          async realtimeRead(params) {
            const page = await store.realtimeRead(params);
            await afterRead();
            delivered = await store.realtimeLast({ environmentId });
            return page;
          },
        },
        retentionMs: NOW + 1,
        now: () => NOW,
      },
      {
        environmentId,
        channels: () => channels,
        after,
        joinedAt: delivered,
        delivered: () => delivered,
        send: ({ number }) => void got.push(number),
        sendGap: () => void got.push("gap"),
        drained: async () => {},
        isGone: () => false,
        goLive: () => {
          isLive = true;
        },
      },
    );
    assert.ok(isLive);
    return got;
  };
  return { store, publish, follow };
}

/** Times out of the first few reads. */
function times(count: number, work: () => Promise<void>): () => Promise<void> {
  let left = count;
  return async () => {
    if (left-- > 0) await work();
  };
}

test("who names a message that is no longer kept is told of one gap, also while others publish in a full channel", async (t) => {
  const { publish, follow } = await scene(t);
  await publish(CHANNEL_MESSAGES_MAX + 500);
  const got = await follow(
    5,
    times(3, () => publish(1_000)),
  );
  assert.deepEqual(got.slice(0, 2), ["gap", 3_501]);
  assert.equal(got.filter((one) => one === "gap").length, 1);
  assert.deepEqual([got.at(-1), got.length], [CHANNEL_MESSAGES_MAX + 3_500, CHANNEL_MESSAGES_MAX + 1]);
});

test("who read up to where a full channel begins is told of no gap", async (t) => {
  const { publish, follow } = await scene(t);
  await publish(CHANNEL_MESSAGES_MAX + 1_000);
  const got = await follow(1_000);
  assert.equal(got.length, CHANNEL_MESSAGES_MAX);
  assert.equal(got[0], 1_001);
});

test("who missed only the newest of a full channel is told of no gap while others publish", async (t) => {
  const { publish, follow } = await scene(t);
  await publish(CHANNEL_MESSAGES_MAX + 500);
  const after = CHANNEL_MESSAGES_MAX + 450;
  const got = await follow(
    after,
    times(1, () => publish(1_000)),
  );
  assert.deepEqual(
    got,
    Array.from({ length: 1_050 }, (_, n) => after + 1 + n),
  );
});

test("messages that go between two pages are one gap, after which everything that is kept follows", async (t) => {
  const { publish, follow } = await scene(t);
  await publish(CHANNEL_MESSAGES_MAX);
  let reads = 0;
  const got = await follow(1, async () => {
    if (++reads === 2) await publish(5_000);
  });
  const first = Array.from({ length: 100 }, (_, n) => 2 + n);
  const kept = Array.from({ length: CHANNEL_MESSAGES_MAX }, (_, n) => 5_001 + n);
  assert.deepEqual(got, [...first, "gap", ...kept]);
});

test("a subscriber to many channels asks once per page whether its messages are kept", async (t) => {
  const { store, publish, follow } = await scene(t);
  const channels = Array.from({ length: 50 }, (_, n) => `quiet:${n}`);
  for (const channel of channels) await publish(1, channel);
  await publish(1_000);
  const asked = { kept: 0, floors: 0 };
  const counting: RealtimeStore = {
    ...store,
    realtimeKept(params) {
      asked.kept++;
      return store.realtimeKept(params);
    },
    realtimeFloor(params) {
      asked.floors++;
      return store.realtimeFloor(params);
    },
  };
  const got = await follow(1, undefined, [...channels, "full"], counting);
  assert.equal(got.length, 1_049);
  assert.deepEqual([asked.floors, asked.kept <= 12], [51, true], JSON.stringify(asked));
});
