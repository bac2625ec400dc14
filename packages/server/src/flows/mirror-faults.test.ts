/** Copies that fail stay pending and hold up none of the others, however many they are. The store and the time are the test's. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { EnvironmentId, EventId, WebhookId } from "@inlet/protocol";
import { type PendingMirror, StoreUnavailable } from "../store/contract/index.ts";
import { EventMirror, type EventMirrorParts } from "./mirror-events.ts";

const HOME = 1 as EnvironmentId;
const [A, B] = [2 as EnvironmentId, 3 as EnvironmentId];
const AWAY = new StoreUnavailable("the database is away");
const POLL_MS = 2_000;

interface Attempt {
  environmentId: EnvironmentId;
  name: string;
}

class Scene {
  pending: PendingMirror[] = [];
  /** Copies that were stored, as `<event> to <branch>`. */
  readonly copied: string[] = [];
  readonly said: { msg: string; environment?: string }[] = [];
  attempts = 0;
  pages = 0;
  fault: (attempt: Attempt) => Error | null = () => null;
  readonly #names = new Map<EventId, string>();
  readonly #stored = new Set<string>();
  readonly #mirror: EventMirror;
  readonly #tick: (ms: number) => void;

  constructor(t: TestContext) {
    t.mock.timers.enable({ apis: ["setInterval"] });
    this.#tick = (ms) => t.mock.timers.tick(ms);
    const log = { warn: (facts: { environment?: string }, msg: string) => void this.said.push({ msg, ...facts }) };
    const taken = { settle() {} };
    this.#mirror = new EventMirror({
      store: this.#store(),
      functions: { plan: (_: unknown, event: unknown) => event, lease: () => undefined, take() {} },
      catalogue: { checkAll: (_: unknown, events: unknown) => events },
      dedupWindow: { duplicateSince: () => 0 },
      quotas: { take: async () => taken },
      isMirroring: () => true,
      environmentName: String,
      log,
      now: () => 0,
    } as unknown as EventMirrorParts);
    t.after(() => this.#mirror.stop());
  }

  #store() {
    const isAfter = ({ eventId }: PendingMirror, after?: PendingMirror | null) => !after || eventId > after.eventId;
    const store = {
      storeNode: "node",
      storeDatabaseOf: () => 0,
      storeDatabases: () => [{ no: 0, name: "directory", isReachable: true, store }],
      leadershipTake: async () => true,
      mirrorList: async ({ limit, after }: { limit: number; after?: PendingMirror | null }) => {
        this.pages++;
        return this.pending.filter((row) => isAfter(row, after)).slice(0, limit);
      },
      mirrorKeep: async ({ eventId, targets }: PendingMirror) => {
        this.pending = this.pending.map((row) => (row.eventId === eventId ? { ...row, targets } : row));
      },
      mirrorRemove: async ({ eventId }: PendingMirror) => {
        this.pending = this.pending.filter((row) => row.eventId !== eventId);
      },
      eventGet: async ({ environmentId, id }: { environmentId: EnvironmentId; id: EventId }) => {
        const name = this.#names.get(id);
        const event = { id, receivedAt: 1, name, ts: 1, dedupId: null, data: "{}", extras: null };
        return name !== undefined || this.#stored.has(`${environmentId} ${id}`) ? event : null;
      },
      eventAppend: async ({ environmentId, events }: { environmentId: EnvironmentId; events: { id: EventId; name: string }[] }) => {
        for (const { id, name } of events) {
          this.attempts++;
          const fault = this.fault({ environmentId, name });
          if (fault) throw fault;
          assert.equal(this.#stored.has(`${environmentId} ${id}`), false, "a copy is stored once");
          this.#stored.add(`${environmentId} ${id}`);
          this.copied.push(`${name} to ${environmentId}`);
        }
        return { ids: [], duplicates: 0, leased: [] };
      },
    };
    return store;
  }

  record(name: string, targets: readonly EnvironmentId[]): void {
    const eventId = `01${String(this.#names.size).padStart(24, "0")}` as EventId;
    this.#names.set(eventId, name);
    this.pending.push({ environmentId: HOME, eventId, webhookId: "whk_1" as WebhookId, targets });
  }

  async start(): Promise<void> {
    this.#mirror.start();
    await this.#settled();
  }

  async wake(): Promise<void> {
    this.#mirror.wake();
    await this.#settled();
  }

  async poll(): Promise<void> {
    this.#tick(POLL_MS);
    await this.#settled();
  }

  /** Nothing here waits for anything but promises. */
  async #settled(): Promise<void> {
    await new Promise(setImmediate);
  }
}

test("a branch that is away holds up no other branch, and gets its copies once and in order when it is back", async (t) => {
  const scene = new Scene(t);
  scene.record("one", [A, B]);
  scene.record("two", [A]);
  scene.record("three", [B]);
  scene.fault = ({ environmentId }) => (environmentId === A ? AWAY : null);
  await scene.start();
  assert.deepEqual(scene.copied, ["one to 3", "three to 3"]);
  assert.deepEqual(
    scene.pending.map(({ targets }) => targets),
    [[A], [A]],
    "only what failed is left",
  );
  scene.fault = () => null;
  await scene.poll();
  assert.deepEqual(scene.copied.slice(2), ["one to 2", "two to 2"]);
  assert.deepEqual(scene.pending, []);
});

test("a copy that always fails holds up no other copy, not even to the same branch", async (t) => {
  const scene = new Scene(t);
  for (const name of ["bad", "good"]) scene.record(name, [A]);
  scene.fault = ({ name }) => (name === "bad" ? new Error("no") : null);
  await scene.start();
  await scene.poll();
  assert.deepEqual(scene.copied, ["good to 2"]);
  assert.equal(scene.pending.length, 1);
});

test("however many copies wait for a branch that is away, the others are reached, and each pass tries it once", async (t) => {
  const scene = new Scene(t);
  for (let n = 0; n < 1_200; n++) scene.record(`stuck ${n}`, [A]);
  scene.record("free", [B]);
  scene.fault = ({ environmentId }) => (environmentId === A ? AWAY : null);
  await scene.start();
  assert.deepEqual(scene.copied, ["free to 3"]);
  assert.equal(scene.attempts, 2);
  const { pages } = scene;
  for (let n = 0; n < 10; n++) await scene.wake();
  assert.equal(scene.pages, pages, "new copies do not repeat the pass before the next poll");
  await scene.poll();
  assert.equal(scene.attempts, 3);
  assert.deepEqual(
    scene.said.map(({ msg, environment }) => [msg, environment]),
    [["an event could not be mirrored; this is tried again", "2"]],
    "the log says it once",
  );
  scene.fault = () => null;
  await scene.poll();
  assert.equal(scene.copied.length, 1_201);
  scene.record("later", [A]);
  await scene.wake();
  assert.equal(scene.copied.length, 1_202);
});
