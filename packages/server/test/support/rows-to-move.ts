/** Rows that no call of REST leaves behind at will: put into a folder, and found in the database to which it was moved. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AlertRule, NewJob, Reconciliation } from "../../src/store/contract/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openPatientStore } from "./postgres.ts";

const hooks = { onFault: () => undefined, onRecovery: () => undefined };
const SESSION = {
  id: "ses_1",
  hash: "0f".repeat(32),
  keyId: null,
  createdAt: 1,
  lastSeenAt: 2,
  expiresAt: 4_000_000_000_000,
  ip: "127.0.0.1",
  userAgent: "back\\slash",
} as never;
const CANCELLATION = {
  id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  environmentId: 1,
  functionId: "shop-ship",
  expression: 'event.data.a == "\\\\"',
  startedAfter: null,
  startedBefore: 3,
  createdAt: 4,
  endedAt: 5,
} as never;
const CALL = {
  owner: "own\\er",
  key: "k".repeat(2_000),
  fingerprint: "f",
  startedAt: 4_000_000_000_000,
  abandonedUntil: 0,
  forgottenUntil: 0,
};

const RESPONSE_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const RESPONSE = `{"a":"\\\\","id":"${RESPONSE_ID}"}`;

/** About a run that never was. */
const JOB = {
  id: "01HZZZZZZZZZZZZZZZZZZZZZZZ",
  environmentId: 1,
  kind: "runs.cancel",
  filter: '{"function":"b\\\\s"}',
  functionId: "back\\slash",
  rate: 1,
  createdAt: 5,
  items: [999_999_999],
  listCursor: "c\\1",
  series: "s\\1",
  isScheduled: true,
  lease: null,
} as never as NewJob;
const PASS = {
  environmentId: 1,
  webhookId: "whk_1",
  jobId: "01HZZZZZZZZZZZZZZZZZZZZZZY",
  at: 4_000_000_000_000,
  startedAt: 3,
  since: 1,
  until: 2,
  isScheduled: true,
  listed: 4,
  seen: 3,
  recovered: 1,
  failed: 0,
  error: "back\\slash",
} as never as Reconciliation;
const MESSAGE = { channel: "orders\\1", topic: "paid", text: '{"data":"\\\\"}', runId: null };

const MIRROR = { environmentId: 1, eventId: "01ARYZ6S41TSV4RRFFQ69G5FAV", webhookId: "whk_1", targets: [2] };

const ALERT_RULE: AlertRule = {
  id: "alr_1",
  environmentId: 1 as AlertRule["environmentId"],
  name: "back\\slash",
  kind: "silence",
  functionId: null,
  webhookId: "whk_1",
  eventName: "shop/*",
  threshold: null,
  windowMs: null,
  quietHours: null,
  isEnabled: false,
  createdAt: 1,
  updatedAt: 2,
  raisedAt: null,
  lastRaisedAt: null,
  value: null,
  changes: 0,
};

export async function addRest(folder: string): Promise<void> {
  const store = openSqliteStore({ folder, ...hooks });
  await store.sessionInsert(SESSION);
  await store.cancellationInsert(CANCELLATION);
  await store.idempotencyClaim(CALL);
  await store.idempotencyResponse({ owner: CALL.owner, key: CALL.key, status: 201, body: RESPONSE });
  await store.jobInsert(JOB);
  await store.reconciliationAdd(PASS);
  await store.realtimePublish({ environmentId: PASS.environmentId, messages: [MESSAGE], now: 1 });
  await store.alertRuleInsert(ALERT_RULE);
  await store.stop();
  const db = new DatabaseSync(join(folder, "inlet.db"));
  db.prepare("INSERT INTO pending_mirrors (environment_id, event_id, webhook_id, targets) VALUES (?, ?, ?, ?)").run(
    MIRROR.environmentId,
    MIRROR.eventId,
    MIRROR.webhookId,
    JSON.stringify(MIRROR.targets),
  );
  db.prepare("INSERT INTO resumptions (environment_id, event_name, event_no, after_wait_no) VALUES (1, 'shop/rest', 999999999, 7)").run();
  db.close();
}

export async function checkRest(url: string): Promise<void> {
  const store = await openPatientStore({ url, ...hooks });
  assert.deepEqual(await store.alertRuleList(), [ALERT_RULE]);
  assert.deepEqual(await store.mirrorList({ limit: 5 }), [MIRROR]);
  assert.deepEqual((await store.reconciliationList({ ...PASS, limit: 5 })).passes, [PASS]);
  const cursors = [{ channel: MESSAGE.channel, after: 0 }];
  const stream = { environmentId: PASS.environmentId, cursors, until: 1, publishedAfter: 0, limit: 5 };
  assert.deepEqual(
    (await store.realtimeRead(stream)).messages.map(({ number, text }) => [number, text]),
    [[1, MESSAGE.text]],
  );
  assert.deepEqual(await store.resumptionList({ limit: 5 }), [{ environmentId: 1, eventName: "shop/rest" }]);
  const job = await store.jobGet(JOB);
  const { items, lease: _lease, ...facts } = JOB;
  assert.deepEqual({ ...job, ...facts, total: 1 }, job);
  assert.deepEqual(await store.jobItems({ ...JOB, before: 1, limit: 5 }), items);
  assert.deepEqual(await store.sessionFind({ hash: "0f".repeat(32) }), SESSION);
  assert.deepEqual(await store.cancellationList({ environmentId: 1 as never }), [CANCELLATION]);
  assert.deepEqual((await store.idempotencyClaim(CALL))?.answer, { status: 201, body: RESPONSE });
  await store.idempotencyForget({ ids: [RESPONSE_ID] });
  assert.equal(await store.idempotencyClaim(CALL), null);
  await store.stop();
}
