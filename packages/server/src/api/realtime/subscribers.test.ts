import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeListener, RealtimeStore } from "../../store/contract/index.ts";
import { type Connection, STOPPING, Subscribers, TOO_SLOW } from "./subscribers.ts";

const ENVIRONMENT = 1 as EnvironmentId;
const CLAIMS = { tokenId: "t", environmentId: ENVIRONMENT, topics: [{ channel: "a", name: "b" }] };

function makeStore(): { store: RealtimeStore; publish(topic?: string): void } {
  const listeners = new Set<RealtimeListener>();
  const store: RealtimeStore = {
    realtimePublish: async () => undefined,
    realtimeWatch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const publish = (topic = "b") => {
    for (const listener of listeners) listener({ environmentId: ENVIRONMENT, channel: "a", topic, text: "{}" });
  };
  return { store, publish };
}

let tokens = 0;

function connect(subscribers: Subscribers, waiting = 0, tokenId = `token ${++tokens}`) {
  const log: string[] = [];
  const connection: Connection = { send: () => log.push("sent"), waitingBytes: () => waiting, cut: (reason) => log.push(reason) };
  return { log, connection, isAdded: subscribers.add(connection, { ...CLAIMS, tokenId }) === null };
}

test("a message reaches those subscribed to its topic, until they leave", () => {
  const { store, publish } = makeStore();
  const subscribers = new Subscribers(store);
  const [one, two] = [connect(subscribers), connect(subscribers)];
  publish();
  publish("another");
  subscribers.remove(one.connection);
  subscribers.unsubscribe(two.connection, ENVIRONMENT, CLAIMS.topics);
  publish();
  assert.deepEqual([one.log, two.log], [["sent"], ["sent"]]);
});

test("who has too much waiting is cut, and so is who has some while all together have too much", () => {
  const { store, publish } = makeStore();
  const subscribers = new Subscribers(store);
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

test("there are so many subscribers and topics of one, and none once the service stops", () => {
  const { store } = makeStore();
  const subscribers = new Subscribers(store);
  const first = connect(subscribers);
  const topics = Array.from({ length: 101 }, (_, n) => ({ channel: "a", name: String(n) }));
  assert.match(subscribers.subscribe(first.connection, { environmentId: ENVIRONMENT, topics })?.message ?? "", /at most 100 topics/);
  for (let n = 1; n < 1_000; n++) connect(subscribers);
  assert.equal(connect(subscribers).isAdded, false);
  subscribers.cutAll();
  assert.deepEqual(first.log, [STOPPING]);
  assert.equal(connect(subscribers).isAdded, false);
});

test("a token has twenty connections; one that has closed makes room", () => {
  const subscribers = new Subscribers(makeStore().store);
  const opened = Array.from({ length: 20 }, () => connect(subscribers, 0, "one"));
  assert.ok(opened.every(({ isAdded }) => isAdded));
  assert.equal(connect(subscribers, 0, "one").isAdded, false);
  assert.equal(connect(subscribers, 0, "another").isAdded, true);
  const [first] = opened;
  if (first) for (let n = 0; n < 2; n++) subscribers.remove(first.connection);
  assert.deepEqual([connect(subscribers, 0, "one").isAdded, connect(subscribers, 0, "one").isAdded], [true, false]);
});

test("a subscriber that cannot be written to is cut, and the others get the message", () => {
  const { store, publish } = makeStore();
  const subscribers = new Subscribers(store);
  const reasons: string[] = [];
  const broken: Connection = {
    send: () => assert.fail("broken"),
    waitingBytes: () => 0,
    cut: (reason) => reasons.push(reason),
  };
  subscribers.add(broken, CLAIMS);
  const whole = connect(subscribers);
  publish();
  publish();
  assert.deepEqual([reasons.length, whole.log], [1, ["sent", "sent"]]);
});
