import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, type EnvironmentId, type FunctionNo } from "@inlet/protocol";
import type { ClaimedEntry, FunctionStartChange, FunctionStartParams, NewEvent, StoredEvent } from "../../store/contract/index.ts";
import { readFunctionConfig } from "../function-config.ts";
import { subjectOf } from "./decide-start.ts";
import { FunctionStarts, type FunctionStartsParts } from "./function-starts.ts";

const ENVIRONMENT = 1 as EnvironmentId;
const FUNCTION = 1 as FunctionNo;

/** A function with rules about its starts, in a store that keeps its marks and says what each start changed. */
function collecting(settings: object) {
  const step = { id: "step", name: "step", runtime: { type: "http", url: "http://127.0.0.1/x" } };
  const read = readFunctionConfig({ id: "app-fn", name: "fn", triggers: [{ event: "x/y" }], steps: { step }, ...settings });
  assert.ok("config" in read, JSON.stringify(read));
  const app = { headers: "service" };
  const registered = { id: "app-fn", no: FUNCTION, config: read.config, app, isArchived: false };
  const marks = new Map<string, string>();
  const changes: FunctionStartChange[] = [];
  const eventAt = async ({ sequence }: { sequence: number }) =>
    ({ id: `01E${sequence}`, sequence, name: "x/y", data: "{}", ts: sequence, extras: null, dedupId: null }) as StoredEvent;
  const store = {
    storeKeyHash: (key: string) => key,
    eventAt,
    markGet: async (mark: Parameters<typeof subjectOf>[0]) => marks.get(subjectOf(mark)) ?? null,
    async functionStart({ marks: asked, decide }: FunctionStartParams) {
      const values = asked.map((mark) => marks.get(subjectOf(mark)) ?? null);
      const change = decide({ marks: values, events: () => [], isActive: () => false });
      for (const { value, ...mark } of change.marks ?? []) {
        if (value === null) marks.delete(subjectOf(mark));
        else marks.set(subjectOf(mark), value);
      }
      changes.push(change);
      return { applied: true, leased: [], refused: undefined };
    },
  };
  const registry = { livingFunction: async () => (registered.isArchived ? null : registered) };
  const clock = { now: 1_000 };
  const planning = { eventIds: createEventIdGenerator(), traced: (event: NewEvent) => event, isArchived: () => false };
  const parts = { store, registry, ...planning, lease: () => undefined, now: () => clock.now } as unknown as FunctionStartsParts;
  const starts = new FunctionStarts(parts);
  const entry = { environmentId: ENVIRONMENT, functionNo: FUNCTION } as ClaimedEntry;
  return {
    registered,
    clock,
    async receive(sequence: number) {
      await starts.work({ ...entry, kind: "start", eventSequence: sequence });
      return changes.at(-1)?.gather;
    },
    async tick(cron: string) {
      await starts.work({ ...entry, kind: "cron", subject: cron });
      return changes.at(-1)?.events?.[0]?.events[0];
    },
    due: (subject: string) => starts.work({ ...entry, kind: "gather", subject }),
  };
}

for (const [kind, settings] of [
  ["batch", { batchEvents: { maxSize: 10, timeout: "1m" } }],
  ["debounce", { debounce: { period: "1m", timeout: "2m" } }],
] as const) {
  test(`a ${kind} of a function that does not exist when it is due is gone: once the function is back, the next event begins anew`, async () => {
    const { registered, clock, receive, due } = collecting(settings);
    const first = await receive(1);
    assert.ok(first);
    assert.deepEqual([first.since, first.dueAt], [1, 61_000]);
    clock.now = 1_000_000;
    registered.isArchived = true;
    await due(first.key);
    registered.isArchived = false;
    assert.deepEqual(await receive(2), { key: first.key, since: 2, dueAt: 1_060_000 });
  });
}

test("the event of a schedule says for when it is, and when its run is due: later with jitter", async (t) => {
  t.mock.method(Math, "random", () => 0.5);
  const cron = "* * * * *";
  for (const [jitter, delayMs] of [
    [undefined, 0],
    ["10s", 5_000],
  ] as const) {
    const { clock, tick } = collecting({ triggers: [{ cron, jitter }], singleton: { mode: "skip" } });
    clock.now = Date.parse("2026-01-01T00:05:00.004Z");
    const event = await tick(cron);
    const fireAt = new Date(clock.now + delayMs).toISOString();
    assert.deepEqual(JSON.parse(event?.data ?? "{}"), { cron, scheduledAt: "2026-01-01T00:05:00.000Z", fireAt });
    assert.deepEqual(event?.starts, [{ functionNo: FUNCTION, dueAt: clock.now + delayMs }]);
  }
});
