/** Text is any string that JavaScript has: every column that senders, apps or users write comes back as it was written, and is found by it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CancellationId, JobId, KeyId, RunNo, SessionId, WebhookId, WebhookRequestId } from "@inlet/protocol";
import { databaseOf, type Environment, type NewRun, NO_SECRETS, type Store } from "../contract/index.ts";
import type { Engine } from "./engine.ts";
import {
  advance,
  begin,
  beginOne,
  claimAll,
  detailsOf,
  doneStep,
  makeScene,
  NO_ROOM,
  type Scene,
  sampleCall,
  sampleEnd,
  sampleLease,
  sampleRun,
  sampleStep,
  sampleSync,
  stepId,
} from "./run-samples.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "./samples.ts";

/** NUL, lone surrogates of both kinds and a pair, backslashes that look like escapes, and the store's own escape character. */
const ODD = "a\0b \ud800 \udc00 😀 \\ \\u0000 \\\\ud800 \uFDD0 \uFDD00000 \"' \n";
/** Differs only in what a database may not store. */
const OTHER = ODD.replace("\ud800", "\ud801");
const JSON_OF_ODD = JSON.stringify({ [ODD]: ODD });

export function anyTextConformance(engine: Engine): void {
  test(`${engine.name}: any text comes back from keys, sessions, records of requests and settings`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store, ODD);
    const checks = await writeSettings(store, environment);
    const again = await reopen();
    assert.ok((await again.environmentList()).some(({ name }) => name === ODD));
    for (const check of checks) await check(again);
  });

  test(`${engine.name}: any text comes back from events, webhook requests and what is known about names`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    await checkEvents(store, environment);
    await checkWebhooks(store, environment);
    await checkNames(store, environment);
  });

  test(`${engine.name}: any text comes back from apps, runs, steps and calls, and finds what it names`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    await checkApps(store, scene.environment);
    await checkRun(scene);
    await checkLanes(scene);
    await checkWaits(scene);
    await checkOrder(scene);
  });
}

type Check = (store: Store) => Promise<void>;

/** Writes one of each, and returns how each is read. */
async function writeSettings(store: Store, { id: environmentId }: Environment): Promise<Check[]> {
  const list = { mode: "allow" as const, list: [ODD] };
  const names = { name: ODD, prefix: ODD, environments: [ODD], eventNames: list, ips: list };
  const key = {
    id: "key_1" as KeyId,
    kind: "api",
    hash: "h",
    secret: null,
    role: "admin",
    environmentId: null,
    createdAt: 1,
    ...names,
  } as const;
  await store.keyInsert(key);
  const times = { createdAt: 1, lastSeenAt: 1, expiresAt: 9 };
  const person = { issuer: ODD, subject: ODD, name: ODD, claims: { [ODD]: [ODD] } };
  const session = { id: "ses_1" as SessionId, hash: "h", keyId: null, ip: ODD, userAgent: ODD, person, ...times };
  await store.sessionInsert(session);
  const actor = { kind: "api-key", id: ODD, name: ODD } as const;
  const entry = { at: 1, actor, action: ODD, target: { kind: ODD, id: ODD, name: ODD }, environment: ODD, details: JSON_OF_ODD };
  await store.auditAppend(entry);
  const claim = { owner: ODD, key: ODD, fingerprint: "f", startedAt: 1, abandonedUntil: 0, forgottenUntil: 0 };
  assert.equal(await store.idempotencyClaim(claim), null);
  assert.equal(await store.idempotencyClaim({ ...claim, key: OTHER }), null, "another key");
  await store.idempotencyResponse({ owner: ODD, key: ODD, status: 200, body: ODD });
  const figures = { threshold: 1, windowMs: 1, quietHours: null, isEnabled: true, createdAt: 1, updatedAt: 1, changes: 0 };
  const noAlert = { raisedAt: null, lastRaisedAt: null, value: null };
  const rule = {
    id: "alr_1",
    environmentId,
    name: ODD,
    kind: "failure_rate",
    functionId: ODD,
    webhookId: null,
    eventName: ODD,
    ...figures,
    ...noAlert,
  } as const;
  await store.alertRuleInsert(rule);
  const window = { startedAfter: null, startedBefore: 5, createdAt: 1, endedAt: null };
  const cancellation = { id: "0".repeat(26) as CancellationId, environmentId, functionId: ODD, expression: ODD, ...window };
  await store.cancellationInsert(cancellation);
  const failure = { key: ODD, decision: "resolved", decidedAt: 1, decidedBy: ODD } as const;
  await store.failureStateSet({ environmentId, ...failure });
  const filters = { kind: ODD, filter: JSON_OF_ODD, functionId: ODD, listCursor: ODD, series: ODD, isScheduled: false };
  const job = await store.jobInsert({
    id: "0".repeat(26) as JobId,
    environmentId,
    rate: 1,
    createdAt: 1,
    items: [ODD],
    lease: null,
    ...filters,
  });
  assert.partialDeepStrictEqual(job, filters);
  return [
    async (again) => assert.deepEqual(await again.keyList(), [{ ...key, revokedAt: null }]),
    async (again) => assert.deepEqual(await again.sessionList(), [session]),
    async (again) => assert.partialDeepStrictEqual((await again.auditList({ limit: 1, actor: ODD, action: ODD })).entries, [entry]),
    async (again) => assert.deepEqual((await again.idempotencyClaim(claim))?.answer, { status: 200, body: ODD }),
    async (again) => assert.deepEqual(await again.alertRuleList(), [rule]),
    async (again) => assert.deepEqual(await again.cancellationList({ environmentId }), [cancellation]),
    async (again) => assert.deepEqual(await again.failureStateList({ environmentId }), [failure]),
    async (again) => assert.deepEqual(await again.jobGet(job), job),
    async (again) => assert.deepEqual(await again.jobItems({ ...job, before: 1, limit: 9 }), [ODD]),
  ];
}

async function checkEvents(store: Store, environment: Environment): Promise<void> {
  const source = { kind: "key", id: ODD } as const;
  const texts = { name: ODD, dedupId: ODD, data: JSON_OF_ODD, extras: JSON_OF_ODD, schemaErrors: JSON_OF_ODD, trace: ODD };
  const [odd, other] = [sampleEvent(texts), sampleEvent({ ...texts, name: OTHER, dedupId: OTHER })];
  const append = (events: (typeof odd)[]) => store.eventAppend(sampleBatch(environment, events, { source }));
  assert.equal((await append([odd, other])).duplicates, 0);
  assert.deepEqual((await append([sampleEvent(texts)])).ids, [odd.id], "a duplicate");
  assert.partialDeepStrictEqual(await store.eventGet({ environmentId: environment.id, id: odd.id }), { ...odd, source });
  for (const filter of [{ name: ODD }, { dedupId: ODD }]) {
    const { events } = await store.eventList({ environmentId: environment.id, limit: 9, ...filter });
    assert.deepEqual(
      events.map(({ id }) => id),
      [odd.id],
    );
  }
  for (const filter of [{ name: `${ODD.slice(0, 3)}*` }, { text: "a\0b" }, { source: ODD }]) {
    assert.equal((await store.eventList({ environmentId: environment.id, limit: 9, ...filter })).events.length, 2);
  }
}

async function checkWebhooks(store: Store, { id: environmentId }: Environment): Promise<void> {
  const list = { mode: "allow" as const, list: [ODD] };
  const verify = { scheme: "hmac", toleranceSeconds: 9, header: ODD, signed: ODD } as const;
  const settings = { verify, handshake: null, answer: null, mirror: null, reconcile: null, secrets: { ...NO_SECRETS, verify: [ODD] } };
  const texts = { name: ODD, transform: ODD, eventNames: list, ips: list };
  const id = "wh_1" as WebhookId;
  await store.webhookInsert({ id, environmentId, token: "t", enabled: true, createdAt: 1, ...texts, ...settings } as never);
  const changed = { ...texts, transform: OTHER };
  await store.webhookUpdate({ environmentId, id, changes: changed, updatedAt: 2 });
  assert.partialDeepStrictEqual(await store.webhookList(), [{ ...changed, ...settings }]);
  const versions = await store.webhookVersionList({ environmentId, id });
  assert.deepEqual(versions.map(({ transform }) => transform).sort(), [ODD, OTHER].sort());
  const numbers = { receivedAt: 1_000, status: 400, deliveredTo: environmentId, transformVersion: 1, durationMs: 1, verifiedAt: null };
  const body = {
    headers: JSON.stringify([ODD, ODD]),
    query: ODD,
    contentType: ODD,
    body: ODD,
    bodyBase64: null,
    bodyKey: ODD,
    isReconciled: true,
  };
  const request = { ip: ODD, method: ODD, outcome: ODD, error: ODD, logs: JSON_OF_ODD, ...body, ...numbers };
  const key = { environmentId, webhookId: id, id: "req_1" as WebhookRequestId };
  await store.webhookRequestInsert({ ...key, ...request });
  assert.partialDeepStrictEqual(await store.webhookRequestGet(key), request);
}

async function checkNames(store: Store, { id: environmentId }: Environment): Promise<void> {
  await store.eventTypeSettingsPut({ environmentId, name: ODD, retentionMs: 5 });
  assert.partialDeepStrictEqual(await store.eventTypeSettingsList(), [{ name: ODD }]);
  await store.eventSchemaPut({ environmentId, name: ODD, schema: JSON_OF_ODD, mode: "warn", description: ODD, now: 1 });
  assert.partialDeepStrictEqual(await store.eventSchemaList(), [{ name: ODD, schema: JSON_OF_ODD, description: ODD }]);
  const shape = { environmentId, name: ODD, shape: JSON_OF_ODD };
  await databaseOf(store, environmentId).store.eventShapePut({ from: 0, reached: 0, shapes: [shape] });
  assert.deepEqual(await store.eventShapeGetMany({ keys: [shape, { ...shape, name: OTHER }] }), [shape]);
}

async function checkApps(store: Store, environment: Environment): Promise<void> {
  const texts = { name: ODD, url: ODD, sdk: ODD, framework: ODD, checksum: ODD };
  const one = { id: ODD, name: ODD, config: JSON_OF_ODD, crons: [ODD, OTHER].map((cron) => ({ cron, dueAt: 9_000_000 })) };
  const sync = sampleSync(environment, { ...texts, id: "app_2" as never, functions: [one] });
  assert.equal((await store.appSync(sync)).modified, true);
  assert.equal((await store.appSync(sync)).modified, false, "the same checksum");
  await store.appFault({ environmentId: environment.id, url: ODD, error: ODD });
  const found = (await store.appList()).find(({ name }) => name === ODD);
  assert.partialDeepStrictEqual(found, { ...texts, error: ODD });
  assert.ok((await store.functionList()).some(({ id, name, config }) => id === ODD && name === ODD && config === JSON_OF_ODD));
  const ticks = await claimAll({ store } as Scene, 9_000_000, "another", ["timers"]);
  assert.deepEqual(ticks.map(({ subject }) => subject).sort(), [ODD, OTHER].sort());
}

async function checkRun(scene: Scene): Promise<void> {
  const error = { name: ODD, message: ODD, stack: ODD };
  const parent = await beginOne(scene);
  const begun = await beginOne(scene, { cron: ODD, invoker: { runNo: parent.runNo, stepId: stepId(ODD) } });
  const done = { ...doneStep(ODD, JSON_OF_ODD), detail: ODD };
  const attempt = { stepId: stepId(ODD), attempt: 0, startedAt: 1, endedAt: 2, httpStatus: 500, error };
  const call = sampleCall({ stepId: stepId(ODD), path: ODD, answer: ODD, answerLength: ODD.length });
  const entry = { kind: "call", stepId: stepId(OTHER) } as const;
  const opened = await advance(scene, begun, { steps: [done, sampleStep(OTHER)], attempts: [attempt], call, entries: [entry] });
  assert.ok(opened.applied);
  const next = opened.leased.find(({ stepId: id }) => id === OTHER);
  assert.ok(next, "the entry names its step");
  const context = await scene.store.runContext(begun);
  assert.deepEqual(context?.steps, [{ id: ODD, value: JSON_OF_ODD }]);
  const end = sampleEnd({ status: "failed", output: JSON_OF_ODD, error });
  assert.ok((await advance(scene, { ...begun, entry: next }, { settled: [stepId(OTHER)], end })).applied);
  const details = await detailsOf(scene, begun.run.id);
  assert.partialDeepStrictEqual(details, { cron: ODD, output: JSON_OF_ODD, error });
  assert.partialDeepStrictEqual(details.steps, [{ id: ODD, name: ODD, detail: ODD, value: JSON_OF_ODD }, { id: OTHER }]);
  assert.partialDeepStrictEqual(details.attempts, [attempt]);
  assert.partialDeepStrictEqual(details.calls, [{ stepId: ODD, path: ODD, answer: ODD }]);
}

/** Two lanes and two limits that differ only in odd text. */
async function checkLanes(scene: Scene): Promise<void> {
  const runs = [ODD, OTHER].map((lane) => sampleRun(scene.functions[0], { lane }));
  await begin(scene, runs, { lease: NO_ROOM });
  const claim = (lane: string, id: string) =>
    scene.store.queueClaimMany({ lane, limit: 9, now: 2_000, lease: sampleLease(), limits: [{ id, cap: 1 }] });
  const [first] = (await claim(ODD, ODD)).claimed;
  assert.equal(first?.lane, ODD);
  assert.deepEqual((await claim(OTHER, ODD)).claimed, [], "the limit has no free slot");
  assert.equal((await claim(OTHER, OTHER)).claimed.length, 1);
}

async function checkWaits(scene: Scene): Promise<void> {
  const begun = await beginOne(scene, {}, { data: JSON_OF_ODD });
  const key = JSON.stringify(ODD);
  const match = { path: ODD, key };
  const wait = {
    kind: "event",
    eventName: ODD,
    stepId: stepId(ODD),
    match,
    expression: `same ${ODD}`,
    since: 0,
    expiresAt: 9_000,
  } as const;
  const step = sampleStep(ODD, { kind: "wait", status: "waiting", detail: ODD, until: 9_000 });
  const resume = { kind: "resume", stepId: stepId(ODD), dueAt: 9_000 } as const;
  await advance(scene, begun, { status: "waiting", steps: [step], waits: [wait], entries: [resume] });
  const send = (name: string, data: string) =>
    scene.store.eventAppend(sampleBatch(scene.environment, [sampleEvent({ name, data })], { receivedAt: 3_000, lease: sampleLease() }));
  assert.deepEqual((await send(OTHER, JSON_OF_ODD)).leased, [], "another name");
  assert.deepEqual((await send(ODD, JSON.stringify({ [ODD]: OTHER }))).leased, [], "another value");
  assert.deepEqual(
    (await send(ODD, JSON_OF_ODD)).leased.map(({ runNo, stepId: id }) => [runNo, id]),
    [[begun.runNo, ODD]],
  );
}

async function checkOrder(scene: Scene): Promise<void> {
  const gate = { lane: `order:${ODD}`, home: `home:${ODD}` };
  const texts = { lane: gate.lane, order: { key: ODD, text: ODD } };
  const runs: NewRun[] = [sampleRun(scene.functions[0], texts), sampleRun(scene.functions[0], texts)];
  await begin(scene, runs, { lease: NO_ROOM });
  const throttle = { key: ODD, admit: () => ({ count: 1, remember: ODD, expiresAt: 9_000, nextAt: 9_000 }) };
  const admission = { functionNo: scene.functions[0], limit: null, orderKey: ODD, throttle, gates: [gate], now: 1_000 };
  assert.partialDeepStrictEqual(await scene.store.runAdmitMany(admission), { admitted: 1, waiting: [gate.lane] });
  const mark = { environmentId: scene.environment.id, functionNo: scene.functions[0], key: ODD };
  assert.equal(await scene.store.throttleGet(mark), ODD);
  const [entry] = await claimAll(scene, 1_000, "another", [gate.home]);
  const failed = { end: sampleEnd({ status: "failed" }), holdsOrder: true } as const;
  assert.ok((await advance(scene, { runNo: entry?.runNo as RunNo, entry: entry as never }, failed)).applied);
  const { holds } = await scene.store.orderHoldList({ environmentId: scene.environment.id, limit: 9 });
  assert.partialDeepStrictEqual(holds, [{ key: ODD, waiting: 1 }]);
}
