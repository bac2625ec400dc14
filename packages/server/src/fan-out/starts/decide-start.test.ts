import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId, EventId, FunctionNo, RunId, RunNo, StepId } from "@inlet/protocol";
import type { FunctionStartChange, StoredEvent } from "../../store/contract/index.ts";
import { type FunctionConfig, readFunctionConfig } from "../function-config.ts";
import { eventValue } from "../waits.ts";
import {
  decideGathered,
  decideLostGathering,
  decideStart,
  eventsGathered,
  eventsToStart,
  firstGathered,
  gatheringNamed,
  marksOf,
  type StartFacts,
  subjectOf,
} from "./decide-start.ts";

const NOW = 1_000_000;
const hash = (key: string) => `#${key}`;

function configOf(settings: object): FunctionConfig {
  const step = { id: "step", name: "step", runtime: { type: "http", url: "http://127.0.0.1/x" } };
  const read = readFunctionConfig({ id: "app-fn", name: "fn", triggers: [{ event: "x/y" }], steps: { step }, ...settings });
  assert.ok("config" in read, JSON.stringify(read));
  return read.config;
}

function eventOf(sequence: number, data: object = {}, ts = NOW): StoredEvent {
  return {
    id: `01E${sequence}` as EventId,
    sequence,
    environmentId: 1 as EnvironmentId,
    receivedAt: NOW,
    ts,
    duplicates: 0,
    isMatched: false,
    name: "x/y",
    dedupId: null,
    data: JSON.stringify(data),
    extras: null,
    source: { kind: "key", id: "k" },
  };
}

/** A function's marks, as the store would keep them: each decision is made on what those before it left. */
class Marks {
  #config: FunctionConfig;
  readonly #values = new Map<string, string>();
  readonly #events = new Map<number, StoredEvent>();
  active: RunNo | null = null;
  invoker: StartFacts["invoker"] = null;

  constructor(settings: object) {
    this.#config = configOf(settings);
  }

  deploy(settings: object): void {
    this.#config = configOf(settings);
  }

  ask(event: StoredEvent, now = NOW): FunctionStartChange {
    this.#events.set(event.sequence, event);
    const keys = marksOf(this.#config, eventValue(event), hash);
    const facts = this.#facts(event, now);
    const state = this.#state(keys.map(subjectOf), (marks) => eventsToStart(marks, facts));
    return this.#keep(decideStart(keys, state, facts));
  }

  due(subject: string, first: StoredEvent, now: number): FunctionStartChange {
    const mark = gatheringNamed(subject);
    const keys = marksOf(this.#config, eventValue(first), hash).map((key) => (key.kind === mark.kind ? mark : key));
    const state = this.#state(keys.map(subjectOf), () => eventsGathered(this.#values.get(subject)));
    return this.#keep(decideGathered(mark.kind, keys, state, this.#facts(first, now)));
  }

  lost(subject: string): FunctionStartChange {
    const state = this.#state([subject], ([mark]) => eventsGathered(mark).slice(0, 1));
    return this.#keep(decideLostGathering(gatheringNamed(subject), state));
  }

  forgetEvents(): void {
    this.#events.clear();
  }

  hold(change: FunctionStartChange, runNo: number): void {
    assert.ok(change.holdMark);
    this.#values.set(subjectOf(change.holdMark), String(runNo));
    this.active = runNo as RunNo;
  }

  /** A decision asks for just the events that were read for it. */
  #state(subjects: string[], eventsRead: (marks: (string | null)[]) => readonly number[]) {
    const marks = subjects.map((subject) => this.#values.get(subject) ?? null);
    const read = eventsRead(marks);
    return {
      marks,
      events: (sequences: readonly number[]) => {
        assert.deepEqual(sequences, read);
        return sequences.flatMap((sequence) => this.#events.get(sequence) ?? []);
      },
      isActive: (runNo: RunNo) => runNo === this.active,
    };
  }

  #facts(event: StoredEvent, now: number): StartFacts {
    const newRun: StartFacts["newRun"] = (_event, dueAt) => ({
      id: "01RUN" as RunId,
      functionNo: 1 as FunctionNo,
      lane: "app:1",
      dueAt,
      rank: dueAt,
    });
    return { config: this.#config, event, value: eventValue(event), now, invoker: this.invoker, newRun };
  }

  #keep(change: FunctionStartChange): FunctionStartChange {
    for (const mark of change.marks ?? []) {
      if (mark.value === null) this.#values.delete(subjectOf(mark));
      else this.#values.set(subjectOf(mark), mark.value);
    }
    return change;
  }
}

const startsAt = ({ run }: FunctionStartChange) => run?.run.dueAt ?? null;
const eventsOf = ({ run }: FunctionStartChange) => run?.run.eventSequences ?? (run ? [run.event.sequence] : []);

test("rate limit: of a key, one an hour; a key that is false has no limit", () => {
  const marks = new Marks({ rateLimit: { limit: 1, period: "1h", key: "event.data.key" } });
  assert.equal(startsAt(marks.ask(eventOf(1, { key: "a" }))), NOW);
  assert.equal(startsAt(marks.ask(eventOf(2, { key: "a" }))), null);
  assert.equal(startsAt(marks.ask(eventOf(3, { key: "b" }))), NOW);
  assert.equal(startsAt(marks.ask(eventOf(4, { key: "a" }), NOW + 3_599_999)), null);
  assert.equal(startsAt(marks.ask(eventOf(5, { key: "a" }), NOW + 3_600_000)), NOW + 3_600_000);
  for (const sequence of [6, 7]) assert.notEqual(startsAt(marks.ask(eventOf(sequence, { key: false }))), null);
});

test("rate limit: one that a deploy raised holds at once", () => {
  const marks = new Marks({ rateLimit: { limit: 1, period: "1h" } });
  assert.equal(startsAt(marks.ask(eventOf(1))), NOW);
  assert.equal(startsAt(marks.ask(eventOf(2), NOW + 10)), null);
  marks.deploy({ rateLimit: { limit: 100, period: "1s", burst: 0 } });
  assert.equal(startsAt(marks.ask(eventOf(3), NOW + 9)), null);
  assert.equal(startsAt(marks.ask(eventOf(4), NOW + 10)), NOW + 10);
});

test("rate limit beside batches: events that are gathered are not counted, since many of them are one run", () => {
  const marks = new Marks({ rateLimit: { limit: 1, period: "1h" }, batchEvents: { maxSize: 3, timeout: "10s" } });
  const changes = [1, 2, 3, 4, 5, 6].map((sequence) => marks.ask(eventOf(sequence), NOW + sequence));
  assert.deepEqual(changes.map(eventsOf), [[], [], [1, 2, 3], [], [], [4, 5, 6]]);
  for (const change of changes) assert.equal(change.marks?.some(({ kind }) => kind === "rate") ?? false, false, "no rate is remembered");
});

test("rate limit beside batches: an event that runs alone is not counted either", () => {
  const batchEvents = { maxSize: 3, timeout: "10s", if: "event.data.together" };
  const marks = new Marks({ rateLimit: { limit: 1, period: "1h" }, batchEvents });
  for (const sequence of [1, 2]) assert.equal(startsAt(marks.ask(eventOf(sequence, { together: false }))), NOW);
});

test("rate limit beside a debounce: each event that puts the start off is counted", () => {
  const marks = new Marks({ rateLimit: { limit: 1, period: "1h" }, debounce: { period: "10s" } });
  assert.equal(marks.ask(eventOf(1)).gather?.dueAt, NOW + 10_000);
  assert.equal(marks.ask(eventOf(2), NOW + 1).gather, undefined);
});

test("idempotency is one run a day for each value", () => {
  const marks = new Marks({ idempotency: "event.data.order", rateLimit: { limit: 100, period: "1s" } });
  assert.notEqual(startsAt(marks.ask(eventOf(1, { order: 1 }))), null);
  assert.equal(startsAt(marks.ask(eventOf(2, { order: 1 }), NOW + 86_399_000)), null);
  assert.notEqual(startsAt(marks.ask(eventOf(3, { order: "1" }))), null, "a text is another value than a number");
});

test("debounce: each event puts the start off, the newest is run", () => {
  const marks = new Marks({ debounce: { period: "10s", key: "event.data.key" } });
  const first = marks.ask(eventOf(1, { key: "a" }, NOW));
  assert.deepEqual([first.run, first.gather], [undefined, { key: 'debounce:#"a"', dueAt: NOW + 10_000, since: 1 }]);
  const second = marks.ask(eventOf(2, { key: "a" }, NOW + 5), NOW + 4_000);
  assert.equal(second.gather?.dueAt, NOW + 14_000);
  marks.ask(eventOf(3, { key: "a" }, NOW - 99), NOW + 5_000);
  const due = marks.due('debounce:#"a"', eventOf(2, { key: "a" }), NOW + 15_000);
  assert.deepEqual(eventsOf(due), [2], "an event dated earlier does not replace a later one");
  assert.equal(marks.ask(eventOf(4, { key: "a" }), NOW + 20_000).gather?.dueAt, NOW + 30_000, "the next gathering begins anew");
});

test("debounce: never longer than its timeout", () => {
  const marks = new Marks({ debounce: { period: "10s", timeout: "15s" } });
  marks.ask(eventOf(1));
  assert.equal(marks.ask(eventOf(2), NOW + 9_000).gather?.dueAt, NOW + 15_000);
  assert.equal(marks.ask(eventOf(3), NOW + 14_000).gather?.dueAt, NOW + 15_000);
});

test("a gathering that was moved, or replaced, while it was being started comes again", () => {
  const marks = new Marks({ debounce: { period: "10s" } });
  marks.ask(eventOf(1));
  marks.ask(eventOf(2), NOW + 9_999);
  const early = marks.due("debounce:", eventOf(2), NOW + 10_000);
  assert.deepEqual([early.run, early.gather], [undefined, { key: "debounce:", dueAt: NOW + 19_999, since: 2 }]);
  const other = marks.due("debounce:", eventOf(1), NOW + 20_000);
  assert.deepEqual([other.run, other.gather?.key], [undefined, "debounce:"]);
  assert.deepEqual(eventsOf(marks.due("debounce:", eventOf(2), NOW + 20_000)), [2]);
  assert.deepEqual(marks.due("debounce:", eventOf(2), NOW + 20_000), {}, "it was started");
});

test("a gathering that was gone when it was looked up is left, unless a new one has begun; without events it is forgotten", () => {
  const marks = new Marks({ batchEvents: { maxSize: 10, timeout: "5s" } });
  assert.deepEqual(marks.lost("batch:"), {});
  marks.ask(eventOf(1));
  assert.deepEqual(marks.lost("batch:"), { gather: { key: "batch:", dueAt: NOW + 5_000, since: 1 } });
  marks.forgetEvents();
  assert.deepEqual(
    marks.lost("batch:").marks?.map(({ value }) => value),
    [null],
  );
  assert.deepEqual(marks.lost("batch:"), {});
});

test("batch: full, or over its time, by key", () => {
  const marks = new Marks({ batchEvents: { maxSize: 3, timeout: "5s", key: "event.data.key" } });
  assert.equal(marks.ask(eventOf(1, { key: "a:b" })).gather?.dueAt, NOW + 5_000);
  marks.ask(eventOf(2, { key: "c" }));
  assert.equal(marks.ask(eventOf(3, { key: "a:b" }), NOW + 1_000).gather, undefined, "the first event sets the time");
  assert.deepEqual(eventsOf(marks.ask(eventOf(4, { key: "a:b" }))), [1, 3, 4]);
  assert.deepEqual(eventsOf(marks.due('batch:#"c"', eventOf(2, { key: "c" }), NOW + 5_000)), [2]);
  assert.equal(marks.ask(eventOf(5, { key: "a:b" }), NOW + 9_000).gather?.dueAt, NOW + 14_000);
});

test("nodes may decide about events in any order: a batch has them in theirs, and its entry names the first", () => {
  const marks = new Marks({ batchEvents: { maxSize: 4, timeout: "5s" } });
  assert.equal(marks.ask(eventOf(3)).gather?.since, 3);
  assert.deepEqual(marks.ask(eventOf(1), NOW + 1_000).gather, { key: "batch:", dueAt: NOW + 5_000, since: 1 });
  assert.equal(marks.ask(eventOf(2), NOW + 2_000).gather, undefined);
  assert.deepEqual(eventsOf(marks.ask(eventOf(0), NOW + 3_000)), [0, 1, 2, 3]);
});

test("nodes may decide about events in any order: of several with one time, a debounce runs the last", () => {
  const marks = new Marks({ debounce: { period: "10s" } });
  marks.ask(eventOf(1));
  marks.ask(eventOf(3));
  marks.ask(eventOf(2));
  assert.deepEqual(eventsOf(marks.due("debounce:", eventOf(3), NOW + 10_000)), [3]);
});

test("batch: what may not be gathered runs alone, and 10 MiB are enough", () => {
  const marks = new Marks({ batchEvents: { maxSize: 100, timeout: "5s", if: "event.data.small == true" } });
  assert.deepEqual(eventsOf(marks.ask(eventOf(1, { small: false }))), [1]);
  marks.ask(eventOf(2, { small: true, text: "x".repeat(6_000_000) }));
  assert.deepEqual(eventsOf(marks.ask(eventOf(3, { small: true, text: "x".repeat(6_000_000) }))), [2, 3]);
});

test("singleton: while a run of the key is active a new one is dropped, or takes its place", () => {
  const skip = new Marks({ singleton: { mode: "skip" } });
  skip.hold(skip.ask(eventOf(1)), 7);
  assert.deepEqual(skip.ask(eventOf(2)).run, undefined);
  skip.active = null;
  assert.deepEqual(eventsOf(skip.ask(eventOf(3))), [3]);
  const cancel = new Marks({ singleton: { mode: "cancel" } });
  cancel.hold(cancel.ask(eventOf(1)), 7);
  const second = cancel.ask(eventOf(2));
  assert.deepEqual([eventsOf(second), second.cancels], [[2], [7]]);
  cancel.active = null;
  assert.equal(cancel.ask(eventOf(3)).cancels, undefined);
});

test("an invocation is started by itself; one that is not started tells its invoker", () => {
  const invoker = { runNo: 5 as RunNo, stepId: "s" as StepId };
  for (const settings of [{ debounce: { period: "10s" } }, { batchEvents: { maxSize: 10, timeout: "5s" } }]) {
    const marks = new Marks(settings);
    marks.invoker = invoker;
    assert.deepEqual(marks.ask(eventOf(1)).run?.run.invoker, invoker);
  }
  const limited = new Marks({ rateLimit: { limit: 1, period: "1h" } });
  limited.ask(eventOf(1));
  limited.invoker = invoker;
  const { refused } = limited.ask(eventOf(2));
  assert.deepEqual(refused?.invoker, invoker);
  assert.match(refused?.error.message ?? "", /as often as its rate limit allows/);
  const single = new Marks({ singleton: { mode: "skip" } });
  single.hold(single.ask(eventOf(1)), 7);
  single.invoker = invoker;
  assert.match(single.ask(eventOf(2)).refused?.error.message ?? "", /another run of it is active/);
});

test("what rules remember is named by their kind and the hash of their key's value", () => {
  const key = "event.data.key";
  const all = { rateLimit: { limit: 1, period: "1h", key } };
  const kinds = (settings: object) => marksOf(configOf(settings), eventValue(eventOf(1, { key: "a" })), hash);
  assert.deepEqual(kinds(all), [
    { kind: "rate", key: '#"a"' },
    { kind: "debounce", key: "" },
    { kind: "batch", key: "" },
    { kind: "singleton", key: "" },
  ]);
  assert.deepEqual(kinds({ singleton: { mode: "skip", key } })[3], { kind: "singleton", key: '#"a"' });
  assert.deepEqual(kinds({ debounce: { period: "10s", key } })[1], { kind: "debounce", key: '#"a"' });
  assert.deepEqual(kinds({ batchEvents: { maxSize: 2, timeout: "10s", key } })[2], { kind: "batch", key: '#"a"' });
});

test("a start is remembered by the rules that ask for it, and one that is dropped by none", () => {
  const limited = new Marks({ rateLimit: { limit: 1, period: "1h" } });
  assert.deepEqual(
    limited.ask(eventOf(1)).marks?.map(({ kind, key }) => [kind, key]),
    [["rate", ""]],
  );
  assert.deepEqual(limited.ask(eventOf(2)), {});
  const only = new Marks({ singleton: { mode: "skip" } });
  const first = only.ask(eventOf(1));
  assert.deepEqual(first.marks, []);
  only.hold(first, 5);
  assert.deepEqual(only.ask(eventOf(2)).run, undefined);
});

test("what is gathered is remembered for a month, and its first event is found by it", () => {
  const marks = new Marks({ batchEvents: { maxSize: 3, timeout: "10s" } });
  const [mark] = marks.ask(eventOf(7)).marks ?? [];
  assert.equal(mark?.expiresAt, NOW + 30 * 86_400_000);
  assert.equal(firstGathered(mark?.value ?? null), 7);
  assert.equal(firstGathered(null), null);
});

test("a batch begins with its last event, and is full with exactly 10 MiB", () => {
  const one = new Marks({ batchEvents: { maxSize: 3, timeout: "10s" } });
  const data = (bytes: number) => ({ text: "x".repeat(bytes - '{"text":""}'.length) });
  const half = 5 * 1024 * 1024;
  assert.equal(one.ask(eventOf(1, data(half))).run, undefined);
  assert.deepEqual(eventsOf(one.ask(eventOf(2, data(half)))), [1, 2]);
  assert.equal(one.ask(eventOf(3, data(half))).run, undefined);
  assert.equal(one.ask(eventOf(4, data(half - 1))).run, undefined, "a byte less is not");
});

test("a run for one event says nothing of a batch", () => {
  const marks = new Marks({ batchEvents: { maxSize: 2, timeout: "10s" } });
  marks.ask(eventOf(1));
  const due = marks.due("batch:", eventOf(1), NOW + 10_000);
  assert.deepEqual([due.run?.event.sequence, due.run && "eventSequences" in due.run.run], [1, false]);
});

test("a key that is null, false or without a value limits nothing", () => {
  for (const [index, data] of [{}, { user: null }, { user: false }].entries()) {
    const event = (sequence: number) => eventOf(10 * index + sequence, data);
    const limited = new Marks({ rateLimit: { limit: 1, period: "1h", key: "event.data.user" } });
    for (const sequence of [1, 2, 3]) assert.ok(limited.ask(event(sequence)).run, `rate limit, ${JSON.stringify(data)}`);
    const single = new Marks({ singleton: { key: "event.data.user", mode: "skip" } });
    const first = single.ask(event(5));
    assert.deepEqual([first.holdMark, single.ask(event(6)).run !== undefined], [undefined, true]);
  }
});

test("debounce: events whose key is null, false or without a value share one", () => {
  const marks = new Marks({ debounce: { period: "10s", key: "event.data.user" } });
  for (const [index, data] of [{}, { user: null }, { user: false }].entries()) {
    const { run, gather } = marks.ask(eventOf(index + 1, data));
    assert.deepEqual([run, gather?.key], [undefined, "debounce:"], JSON.stringify(data));
  }
  assert.deepEqual(eventsOf(marks.due("debounce:", eventOf(3), NOW + 10_000)), [3]);
});

test("events are read for a batch that is complete, and for nothing else", () => {
  const factsOf = (settings: object) => ({ config: configOf(settings), event: eventOf(7) }) as StartFacts;
  const gathered = JSON.stringify({ sequences: [5, 6], bytes: 4, ts: NOW, dueAt: NOW, deadline: null });
  const inBatch = (maxSize: number) => eventsToStart([null, null, gathered, null], factsOf({ batchEvents: { maxSize, timeout: "5s" } }));
  assert.deepEqual(inBatch(3), [5, 6, 7]);
  assert.deepEqual(inBatch(4), []);
  assert.deepEqual(eventsToStart([gathered, gathered, gathered, gathered], factsOf({})), []);
  assert.deepEqual(eventsGathered(gathered), [5, 6]);
  assert.deepEqual([null, undefined].map(eventsGathered), [[], []]);
});
