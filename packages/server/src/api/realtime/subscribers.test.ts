import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId, KeyId } from "@inlet/protocol";
import type { RealtimeListener, RealtimeStore } from "../../store/contract/index.ts";
import { type Connection, REVOKED, STOPPING, Subscribers, TOO_SLOW } from "./subscribers.ts";

const ENVIRONMENT = 1 as EnvironmentId;
const [KEY, OTHER_KEY] = ["key_1" as KeyId, "key_2" as KeyId];
const CLAIMS = { tokenId: "t", environmentId: ENVIRONMENT, topics: [{ channel: "a", name: "b" }], keyId: KEY };

function makeStore(): { store: RealtimeStore; publish(topic?: string): void } {
  const listeners = new Set<RealtimeListener>();
  let number = 0;
  const store: RealtimeStore = {
    realtimePublish: async () => [],
    realtimeLast: async () => number,
    realtimeKept: async ({ numbers }) => [...numbers],
    realtimeFloor: async () => 0,
    realtimeRead: async ({ until }) => ({ messages: [], reached: until }),
    realtimeExpireMany: async () => 0,
    realtimeWatch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const publish = (topic = "b") => {
    number++;
    for (const listener of listeners) listener({ environmentId: ENVIRONMENT, number, channel: "a", topic, text: "{}" });
  };
  return { store, publish };
}

const drained = () => Promise.resolve();

/** With a tail that is open: nothing published is missed. */
async function subscribersOf(store: RealtimeStore, revoked: ReadonlySet<KeyId> = new Set()): Promise<Subscribers> {
  const isWorkingKey = (id: KeyId) => !revoked.has(id);
  const subscribers = new Subscribers({ store, views: store, retentionMs: 1_000, isWorkingKey, now: () => 0 });
  await subscribers.prepare(CLAIMS);
  return subscribers;
}

let tokens = 0;

function connect(subscribers: Subscribers, waiting = 0, tokenId = `token ${++tokens}`) {
  const log: string[] = [];
  const connection: Connection = { send: () => log.push("sent"), waitingBytes: () => waiting, drained, cut: (reason) => log.push(reason) };
  return { log, connection, isAdded: subscribers.add(connection, { ...CLAIMS, tokenId }) === null };
}

test("a message reaches those subscribed to its topic, until they leave", async () => {
  const { store, publish } = makeStore();
  const subscribers = await subscribersOf(store);
  const [one, two] = [connect(subscribers), connect(subscribers)];
  publish();
  publish("another");
  subscribers.remove(one.connection);
  subscribers.unsubscribe(two.connection, ENVIRONMENT, CLAIMS.topics);
  publish();
  assert.deepEqual([one.log, two.log], [["sent"], ["sent"]]);
});

test("who has too much waiting is cut, and so is who has some while all together have too much", async () => {
  const { store, publish } = makeStore();
  const subscribers = await subscribersOf(store);
  const slow = connect(subscribers, 600 * 1024);
  const quick = connect(subscribers);
  publish();
  assert.deepEqual([slow.log, quick.log], [[TOO_SLOW], ["sent"]]);
  const many = Array.from({ length: 200 }, () => connect(subscribers, 400 * 1024));
  publish();
  const cut = many.filter(({ log }) => log[0] === TOO_SLOW).length;
  assert.ok(cut >= 30 && cut < 200, `${cut} were cut: enough of them to come below the bound`);
  assert.deepEqual(quick.log, ["sent", "sent"]);
});

test("there are so many subscribers and topics of one, and none once the service stops", async () => {
  const { store } = makeStore();
  const subscribers = await subscribersOf(store);
  const first = connect(subscribers);
  const topics = Array.from({ length: 101 }, (_, n) => ({ channel: "a", name: String(n) }));
  assert.match(subscribers.subscribe(first.connection, { ...CLAIMS, topics })?.message ?? "", /at most 100 topics/);
  for (let n = 1; n < 1_000; n++) connect(subscribers);
  assert.equal(connect(subscribers).isAdded, false);
  subscribers.cutAll();
  assert.deepEqual(first.log, [STOPPING]);
  assert.equal(connect(subscribers).isAdded, false);
});

test("a subscriber is cut when a key of one of its tokens is revoked, and not added with such a token", async () => {
  const revoked = new Set<KeyId>();
  const subscribers = await subscribersOf(makeStore().store, revoked);
  const [one, two] = [connect(subscribers), connect(subscribers)];
  assert.equal(subscribers.subscribe(two.connection, { ...CLAIMS, keyId: OTHER_KEY }), null);
  subscribers.cutRevoked();
  assert.deepEqual([one.log, two.log], [[], []]);
  revoked.add(OTHER_KEY);
  subscribers.cutRevoked();
  assert.deepEqual([one.log, two.log], [[], [REVOKED]]);
  assert.equal(subscribers.subscribe(one.connection, { ...CLAIMS, keyId: OTHER_KEY })?.message, REVOKED);
  revoked.add(KEY);
  assert.equal(connect(subscribers).isAdded, false, "it was revoked after the token was read");
  subscribers.cutRevoked();
  assert.deepEqual(one.log, [REVOKED]);
});

test("a token has twenty connections; one that has closed makes room", async () => {
  const subscribers = await subscribersOf(makeStore().store);
  const opened = Array.from({ length: 20 }, () => connect(subscribers, 0, "one"));
  assert.ok(opened.every(({ isAdded }) => isAdded));
  assert.equal(connect(subscribers, 0, "one").isAdded, false);
  assert.equal(connect(subscribers, 0, "another").isAdded, true);
  const [first] = opened;
  if (first) for (let n = 0; n < 2; n++) subscribers.remove(first.connection);
  assert.deepEqual([connect(subscribers, 0, "one").isAdded, connect(subscribers, 0, "one").isAdded], [true, false]);
});

test("a subscriber that cannot be written to is cut, and the others get the message", async () => {
  const { store, publish } = makeStore();
  const subscribers = await subscribersOf(store);
  const reasons: string[] = [];
  const broken: Connection = {
    send: () => assert.fail("broken"),
    waitingBytes: () => 0,
    drained,
    cut: (reason) => reasons.push(reason),
  };
  subscribers.add(broken, CLAIMS);
  const whole = connect(subscribers);
  publish();
  publish();
  assert.deepEqual([reasons.length, whole.log], [1, ["sent", "sent"]]);
});

test("who subscribes to more topics while it catches up misses no message of these, and gets none from before", async () => {
  const { store, publish } = makeStore();
  const subscribers = await subscribersOf(store);
  const more = { ...CLAIMS, topics: [{ channel: "c", name: "d" }] };
  publish();
  publish();
  const got: (number | null)[] = [];
  const connection: Connection = { send: (_, number) => got.push(number), waitingBytes: () => 0, drained, cut: assert.fail };
  // Message 2 is from before the second subscription; 3 and 4 are published while the first page is read.
  const stored = [1, 2, 3, 4].map((number) => {
    const topic = number === 1 || number === 3 ? { channel: "a", topic: "b" } : { channel: "c", topic: "d" };
    return { environmentId: ENVIRONMENT, number, text: "{}", ...topic };
  });
  let pages = 0;
  store.realtimeRead = async ({ cursors, until }) => {
    if (pages++ === 0) {
      subscribers.subscribe(connection, more);
      publish();
      publish("d");
    }
    const isRead = (channel: string, number: number) => cursors.some((cursor) => cursor.channel === channel && number > cursor.after);
    return { messages: stored.filter(({ channel, number }) => number <= until && isRead(channel, number)), reached: until };
  };
  subscribers.add(connection, CLAIMS, 0);
  await subscribers.resume(connection);
  assert.deepEqual(got, [1, 3, 4]);
});
