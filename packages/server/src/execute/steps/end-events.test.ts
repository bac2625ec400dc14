import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventId } from "@inlet/protocol";
import { NOW, SAMPLE_EVENT, sampleState } from "../../../test/support/sample-state.ts";
import type { HeaderSet, NewEvent, RunEnd, RunState } from "../../store/contract/index.ts";
import { createEndEvents } from "./end-events.ts";

const COMPLETED: RunEnd = { status: "completed", endedAt: NOW, output: '{"ok":1}', error: null };
const FAILED: RunEnd = { status: "failed", endedAt: NOW, output: null, error: { name: "E", message: "m", stack: "s" } };
const CANCELLED: RunEnd = { status: "cancelled", endedAt: NOW, output: null, error: { name: "RunCancelled", message: "why" } };

function endEvents(state: RunState, end: RunEnd, { isSubscribed = false, headers = "inngest" as HeaderSet } = {}): NewEvent[] {
  let next = 0;
  const events = createEndEvents({
    functionId: (no) => `app-fn-${no}`,
    headersOf: () => headers,
    isSubscribed: (environmentId, name) =>
      isSubscribed && environmentId === state.run.environmentId && name === "inngest/function.finished",
    plan: (environmentId, event, now) => ({ ...event, starts: [{ environmentId, now }] as never }),
    eventIds: { next: (at: number) => `id-${at}-${next++}` as EventId } as never,
  });
  const batches = events(state, end);
  for (const batch of batches) {
    assert.deepEqual([batch.environmentId, batch.receivedAt, batch.idsFromSender, batch.duplicateSince], [1, NOW, false, 0]);
    assert.deepEqual(batch.source, { kind: "internal", id: "executor" });
  }
  return batches.flatMap(({ events: all }) => [...all]);
}

test("failures and cancellations leave an event, completions one only where a function subscribes", () => {
  const names = (end: RunEnd, isSubscribed: boolean) => endEvents(sampleState(), end, { isSubscribed }).map(({ name }) => name);
  assert.deepEqual(names(COMPLETED, false), []);
  assert.deepEqual(names(COMPLETED, true), ["inngest/function.finished"]);
  assert.deepEqual(names(FAILED, false), ["inngest/function.failed"]);
  assert.deepEqual(names(FAILED, true), ["inngest/function.failed", "inngest/function.finished"]);
  assert.deepEqual(names(CANCELLED, false), ["inngest/function.cancelled"]);
  const ofOurs = endEvents(sampleState(), FAILED, { headers: "service" });
  assert.deepEqual(
    ofOurs.map(({ name }) => name),
    ["inlet/function.failed"],
  );
});

test("each event has an id of its own, the time of the end and what it starts; none has one that a sender may use", () => {
  const events = endEvents(sampleState(), FAILED, { isSubscribed: true });
  assert.deepEqual(
    events.map(({ id, ts, dedupId, extras, starts }) => [id, ts, dedupId, extras, starts]),
    [
      [`id-${NOW}-0`, NOW, null, null, [{ environmentId: 1, now: NOW }]],
      [`id-${NOW}-1`, NOW, null, null, [{ environmentId: 1, now: NOW }]],
    ],
  );
});

test("a function that handles ends does not receive its own", () => {
  for (const name of ["inngest/function.finished", "inngest/function.failed", "inlet/function.failed"]) {
    const state: RunState = {
      ...sampleState(),
      events: () => [
        { ...SAMPLE_EVENT, name: "other" },
        { ...SAMPLE_EVENT, name },
      ],
    };
    assert.deepEqual(endEvents(state, FAILED, { isSubscribed: true }), [], name);
  }
  const cancelled: RunState = { ...sampleState(), events: () => [{ ...SAMPLE_EVENT, name: "inngest/function.cancelled" }] };
  assert.equal(endEvents(cancelled, FAILED).length, 1);
  assert.deepEqual(endEvents(cancelled, CANCELLED, { isSubscribed: true }), [], "its own cancellation");
  const completed = endEvents(cancelled, COMPLETED, { isSubscribed: true });
  assert.deepEqual(
    completed.map(({ name }) => name),
    ["inngest/function.finished"],
  );
});

test("the data names the function, the run, what started it and how it ended", () => {
  const data = (end: RunEnd, state = sampleState()) => JSON.parse(endEvents(state, end, { isSubscribed: true })[0]?.data ?? "");
  const failed = data(FAILED);
  assert.deepEqual([failed.function_id, failed.run_id, failed._inngest.status], ["app-fn-1", "01RUN", "Failed"]);
  assert.deepEqual([failed.event.name, failed.events.length, failed.event.data], ["shop/order.created", 1, { order: 1 }]);
  assert.deepEqual([failed.error.name, failed.error.message, failed.error.stack, failed.error.error], ["E", "m", "s", "m"]);
  assert.deepEqual(data({ ...FAILED, output: '{"said":1}' }).result, { said: 1 });
  assert.equal(data({ ...FAILED, error: { name: "E", message: "m" } }).error.stack, "");
  const completed = data(COMPLETED);
  assert.deepEqual([completed.result, completed.error, completed._inngest.status], [{ ok: 1 }, undefined, "Completed"]);
  assert.deepEqual([data(CANCELLED)._inngest.status, data(CANCELLED).error.message], ["Cancelled", "why"]);
  const many: RunState = { ...sampleState(), events: () => [SAMPLE_EVENT, { ...SAMPLE_EVENT, name: "second" }] };
  assert.deepEqual(
    data(FAILED, many).events.map(({ name }: { name: string }) => name),
    ["shop/order.created", "second"],
  );
  assert.equal(data(FAILED, { ...sampleState(), events: () => [] }).event, null, "one that a cron started");
});
