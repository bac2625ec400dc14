import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionNo } from "@inlet/protocol";
import { temporaryFolder } from "../../test/support/service.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../store/conformance/samples.ts";
import { type ActivityStore, type ActivitySubject, type AlertRule, PARTS_PER_HOUR } from "../store/contract/index.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { makeWebhook, sampleRequest } from "../store/webhooks/conformance.ts";
import { Silences } from "./silence.ts";

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
const START = Date.UTC(2026, 0, 5);
const RULE = {
  id: "alr_1",
  name: "quiet",
  kind: "silence",
  functionId: null,
  webhookId: null,
  eventName: null,
  threshold: null,
  quietHours: null,
  isEnabled: true,
  createdAt: START,
  updatedAt: START,
  raisedAt: null,
  lastRaisedAt: null,
  value: null,
  changes: 0,
} as const;

/** Notes activity, and writes it when it is asked to. */
function noted(store: ActivityStore, now: () => number) {
  const hours: Parameters<ActivityStore["activityAdd"]>[0]["hours"][number][] = [];
  return {
    note(subject: ActivitySubject, lastAt = now()) {
      const at = lastAt - (lastAt % HOUR_MS);
      hours.push({ ...subject, at, parts: 1 << Math.floor(((lastAt - at) / HOUR_MS) * PARTS_PER_HOUR), lastAt });
    },
    flush: () => store.activityAdd({ hours: hours.splice(0) }),
  };
}

test("a silence is measured from the last activity, and from the rule's creation without any", async (t) => {
  const store = openSqliteStore({ folder: temporaryFolder(t), onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const environment = await makeEnvironment(store);
  let at = START;
  const now = () => at;
  const activity = noted(store, now);
  const silences = new Silences({ store, activity, functionNos: () => [] as FunctionNo[], now });
  const rule: AlertRule = { ...RULE, environmentId: environment.id, eventName: "shop/*", windowMs: 60_000 };
  const subject = { environmentId: environment.id, kind: "event", subject: "shop/paid" } as const;

  at = START + 59_000;
  assert.deepEqual(await silences.measure(rule), { value: 59, isOver: false });
  at = START + 60_000;
  assert.deepEqual(await silences.measure(rule), { value: 60, isOver: true });
  activity.note(subject);
  at += 60_000;
  assert.deepEqual(await silences.measure(rule), { value: 60, isOver: true });

  // A node that was killed stored an event and noted nothing.
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "shop/lost" })], { receivedAt: at - 5_000 }));
  assert.deepEqual(await silences.measure(rule), { value: 5, isOver: false });
  at += 55_000;
  assert.deepEqual(await silences.measure(rule), { value: 60, isOver: true });

  const raised = { ...rule, raisedAt: at, value: 60 };
  at += HOUR_MS;
  assert.equal((await silences.measure(raised)).isOver, true);
  activity.note({ ...subject, subject: "bank/paid" });
  assert.equal((await silences.measure(raised)).isOver, true, "another name");
  activity.note(subject);
  assert.deepEqual(await silences.measure(raised), { value: 0, isOver: false });
});

test("activity before the rule was created counts", async (t) => {
  const store = openSqliteStore({ folder: temporaryFolder(t), onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const environment = await makeEnvironment(store);
  let at = START;
  const now = () => at;
  const activity = noted(store, now);
  const silences = new Silences({ store, activity, functionNos: () => [] as FunctionNo[], now });
  const rule: AlertRule = { ...RULE, environmentId: environment.id, eventName: "shop/paid", windowMs: 8 * WEEK_MS };
  activity.note({ environmentId: environment.id, kind: "event", subject: "shop/paid" }, START - 8 * WEEK_MS + 1_000);
  assert.deepEqual(await silences.measure(rule), { value: (8 * WEEK_MS) / 1_000 - 1, isOver: false });
  at += 1_000;
  assert.deepEqual(await silences.measure(rule), { value: (8 * WEEK_MS) / 1_000, isOver: true }, "the longest window");

  const raised = { ...rule, raisedAt: at, value: (8 * WEEK_MS) / 1_000 };
  at += 2 * WEEK_MS;
  await store.activityExpireMany({ until: START, limit: 10 });
  assert.equal((await silences.measure(raised)).isOver, true, "no activity is known any more");
  activity.note({ environmentId: environment.id, kind: "event", subject: "shop/paid" });
  assert.deepEqual(await silences.measure(raised), { value: 0, isOver: false });
});

test("events of the service itself do not end the silence of names that match them", async (t) => {
  const store = openSqliteStore({ folder: temporaryFolder(t), onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const environment = await makeEnvironment(store);
  const now = () => START + 60_000;
  const silences = new Silences({ store, activity: noted(store, now), functionNos: () => [] as FunctionNo[], now });
  const rule: AlertRule = { ...RULE, environmentId: environment.id, eventName: "*", windowMs: 60_000 };
  const internal = { receivedAt: now(), source: { kind: "internal", id: "service" } } as const;
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "inlet/approval.requested" })], internal));
  assert.deepEqual(await silences.measure(rule), { value: 60, isOver: true });
  await store.eventAppend(sampleBatch(environment, [sampleEvent({ name: "shop/lost" })], { receivedAt: now() }));
  assert.deepEqual(await silences.measure(rule), { value: 0, isOver: false });
});

test("without a window the rhythm of the last weeks decides", async (t) => {
  const store = openSqliteStore({ folder: temporaryFolder(t), onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const environment = await makeEnvironment(store);
  let at = START;
  const now = () => at;
  const activity = noted(store, now);
  const silences = new Silences({ store, activity, functionNos: () => [] as FunctionNo[], now });
  const subject = { environmentId: environment.id, kind: "webhook", subject: "whk_1" } as const;
  const rule: AlertRule = { ...RULE, environmentId: environment.id, webhookId: "whk_1", windowMs: null };
  // From 8:00 to 12:00 every day, every ten minutes.
  for (let day = 0; day < 21; day++) {
    for (let n = 0; n < 24; n++) activity.note(subject, START + day * 24 * HOUR_MS + 8 * HOUR_MS + n * 600_000);
  }
  at = START + WEEK_MS;
  assert.deepEqual(await silences.rhythm(subject), { rhythm: null, knownFrom: START + 8 * HOUR_MS + 2 * WEEK_MS });
  assert.equal((await silences.measure(rule)).isOver, false, "too early to tell");
  at = START + 3 * WEEK_MS + 7 * HOUR_MS;
  assert.equal((await silences.measure(rule)).isOver, false, "nights are quiet");
  at += 5 * HOUR_MS;
  assert.equal((await silences.measure(rule)).isOver, true, "a morning is not");
});

test("requests that reconciliation recovered do not end the silence of a webhook", async (t) => {
  const store = openSqliteStore({ folder: temporaryFolder(t), onFault: () => undefined, onRecovery: () => undefined });
  t.after(() => store.stop());
  const environment = await makeEnvironment(store);
  const webhook = await makeWebhook(store, environment);
  let at = START;
  const now = () => at;
  const silences = new Silences({ store, activity: noted(store, now), functionNos: () => [] as FunctionNo[], now });
  const rule: AlertRule = { ...RULE, environmentId: environment.id, webhookId: webhook.id, windowMs: 60_000 };
  const accept = (n: number, isReconciled: boolean) => {
    const webhookRequest = sampleRequest(webhook, n, { outcome: "accepted", receivedAt: at, isReconciled });
    return store.eventAppend(sampleBatch(environment, [sampleEvent()], { receivedAt: at, webhookRequest }));
  };
  at += 60_000;
  await accept(1, true);
  assert.deepEqual(await silences.measure(rule), { value: 60, isOver: true });
  await accept(2, false);
  await accept(3, true);
  assert.deepEqual(await silences.measure(rule), { value: 0, isOver: false }, "one was received, and a killed node noted nothing");
});
