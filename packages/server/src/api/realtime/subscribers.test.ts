import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeListener, RealtimeStore } from "../../store/contract/index.ts";
import { type Connection, STOPPING, Subscribers, TOO_SLOW } from "./subscribers.ts";

const ENVIRONMENT = 1 as EnvironmentId;
const CLAIMS = { environmentId: ENVIRONMENT, topics: [{ channel: "a", name: "b" }] };

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

function connect(subscribers: Subscribers, waiting = 0) {
  const log: string[] = [];
  const connection: Connection = { send: () => log.push("sent"), waitingBytes: () => waiting, cut: (reason) => log.push(reason) };
  return { log, connection, isAdded: subscribers.add(connection, CLAIMS) };
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
  assert.equal(subscribers.subscribe(first.connection, { environmentId: ENVIRONMENT, topics }), false);
  for (let n = 1; n < 1_000; n++) connect(subscribers);
  assert.equal(connect(subscribers).isAdded, false);
  subscribers.cutAll();
  assert.deepEqual(first.log, [STOPPING]);
  assert.equal(connect(subscribers).isAdded, false);
});
