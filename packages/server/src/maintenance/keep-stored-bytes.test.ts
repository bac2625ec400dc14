import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { pino } from "pino";
import { temporaryFolder } from "../../test/support/service.ts";
import { advance, beginOne, makeScene, SAMPLE_RULES, sampleEnd } from "../store/conformance/run-samples.ts";
import type { Store } from "../store/contract/index.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { keepStoredBytes } from "./keep-stored-bytes.ts";
import { StoredBytesMeter, totalOf } from "./stored-bytes.ts";

const UNFINISHED = 150;
const ENDED = 150;

interface Stored {
  /** Of each event. */
  dataUnits: number;
  /** Of each run that has ended. */
  outputUnits: number;
  /** The quota, as a share of what is stored. */
  quotaShare: number;
}

async function fill(t: TestContext, { dataUnits, outputUnits, quotaShare }: Stored) {
  const store = openSqliteStore({
    folder: temporaryFolder(t),
    rules: SAMPLE_RULES,
    onFault: () => undefined,
    onRecovery: () => undefined,
  });
  t.after(() => store.stop());
  const scene = await makeScene(store);
  const { id } = scene.environment;
  const data = JSON.stringify({ text: "x".repeat(dataUnits) });
  const end = sampleEnd({ output: JSON.stringify("y".repeat(outputUnits)) });
  for (let n = 0; n < UNFINISHED; n++) await beginOne(scene, {}, { data });
  for (let n = 0; n < ENDED; n++) await advance(scene, await beginOne(scene, {}, { data }), { end });
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  const meter = new StoredBytesMeter({ store, now: Date.now });
  const storedBytes = Math.floor(totalOf(await meter.measure(id)) * quotaShare);
  await store.environmentUpdate({ id, quotas: { storedBytes } });

  return { store, id, meter, storedBytes };
}

function sweeperOf(store: Store) {
  return keepStoredBytes({ store, meter: new StoredBytesMeter({ store, now: Date.now }), now: Date.now, log: pino({ level: "silent" }) });
}

async function sweepBeyond(t: TestContext, sizes: Stored): Promise<void> {
  const { store, id, meter, storedBytes } = await fill(t, sizes);
  await sweeperOf(store).sweep();
  const left = totalOf(await meter.measure(id));
  assert.ok(left <= storedBytes, `${left} of ${storedBytes} bytes are left`);
  assert.ok(left >= storedBytes * 0.8, `${left} of ${storedBytes} bytes are left: no more than needed goes`);
  const { runs } = await store.runList({ environmentId: id, limit: 500 });
  assert.equal(runs.filter(({ endedAt }) => endedAt === null).length, UNFINISHED);
}

test("what has ended is removed, however many rows of unfinished runs are older", (t) =>
  sweepBeyond(t, { dataUnits: 500, outputUnits: 4, quotaShare: 0.8 }));

test("no more than needed is removed where older rows of unfinished runs are small", (t) =>
  sweepBeyond(t, { dataUnits: 1, outputUnits: 150, quotaShare: 0.99 }));

for (const held of ["retentionOldestRows", "runExpireMany", "eventExpireMany"] as const) {
  test(`a node that loses the leadership at ${held} removes nothing after what the other one removes`, async (t) => {
    const { store, id, meter, storedBytes } = await fill(t, { dataUnits: 150, outputUnits: 150, quotaShare: 0.6 });
    let isFirst = true;
    let left = await meter.measure(id);
    const untilHeld = async () => {
      if (!isFirst) return;
      isFirst = false;
      await sweeperOf(store).sweep();
      left = await meter.measure(id);
    };
    const interrupted = new Proxy(store, {
      get: (target, name: keyof Store) => {
        const operation = target[name];
        if (name !== held || typeof operation !== "function") return operation;
        return async (params: never) => {
          const answer = await (operation as (given: never) => Promise<unknown>)(params);
          await untilHeld();
          return answer;
        };
      },
    });
    await sweeperOf(interrupted).sweep(() => isFirst);
    assert.ok(totalOf(left) <= storedBytes);
    assert.deepEqual(await meter.measure(id), left);
  });
}
